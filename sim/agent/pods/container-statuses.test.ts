import { describe, expect, it } from "vitest";
import { emptyPod, type RuntimeContainer, type RuntimePod } from "../runtime/runtime-pod.ts";
import { containerStatuses, type ContainerView } from "./container-statuses.ts";
import { type ContainerStatus, type Pod, podOf } from "./pod-types.ts";

const running: ContainerStatus = {
  name: "c",
  state: { running: { startedAt: "2030-01-01T00:00:00Z" } },
  lastState: {},
  ready: true,
  restartCount: 2,
  image: "i",
  imageID: "",
};

const viewOf = (pod: Pod, runtimePod: RuntimePod, more: Partial<ContainerView> = {}): ContainerView => ({
  pod,
  runtimePod,
  reasons: undefined,
  runtimeName: "containerd",
  actuated: undefined,
  shows: { resources: true, allocated: false },
  ...more,
});

const of = (deleted: boolean, containers: readonly Partial<RuntimeContainer>[], before: ContainerStatus = running) => {
  const pod = podOf({
    metadata: {
      name: "p",
      namespace: "n",
      uid: "u",
      ...(deleted ? { deletionTimestamp: "2030-01-01T00:00:00Z" } : {}),
    },
    spec: { containers: [{ name: "c", image: "i" }] },
  });
  const runtimePod = { uid: "u", name: "p", namespace: "n", seenMicros: 0, sandboxes: [], containers };
  return containerStatuses(viewOf(pod, runtimePod as never), pod.spec.containers, [before], "regular")[0];
};

describe("a container that ran and is lost", () => {
  const gone = { exitCode: 137, reason: "ContainerStatusUnknown", startedAt: null, finishedAt: null };

  it("has ended once more where its pod goes on, and waits for its next start", () => {
    const message = "The container could not be located when the pod was deleted.  The container used to be Running";
    const lastState = { terminated: { ...gone, message } };
    const state = { waiting: { reason: "ContainerCreating" } };
    expect(of(false, [])).toMatchObject({ state, lastState, restartCount: 3 });
    expect(of(true, [])).toMatchObject({ state, lastState, restartCount: 2 });
  });

  it("keeps the end that was known before", () => {
    const before = { ...running, lastState: { terminated: { exitCode: 4 } } };
    expect(of(false, [], before)).toMatchObject({ lastState: { terminated: { exitCode: 4 } }, restartCount: 2 });
  });

  it("has ended with a status that nobody knows where the runtime cannot tell, and counts as begun anew", () => {
    const message = "The container could not be located when the pod was terminated";
    const unknown = {
      id: "x",
      name: "c",
      state: "CONTAINER_UNKNOWN",
      restartCount: 2,
      image: "i",
      imageRef: "",
    } as const;
    expect(of(false, [unknown])).toMatchObject({ state: { terminated: { ...gone, message } }, restartCount: 3 });
  });
});

describe("what a status says beside the state", () => {
  const resources = { requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: "2" } };
  const pod = podOf({
    metadata: { name: "p", namespace: "n", uid: "u" },
    spec: {
      initContainers: [
        { name: "i", image: "i", resources },
        { name: "s", image: "i", resources, restartPolicy: "Always" },
      ],
      containers: [
        {
          name: "c",
          image: "i",
          resources,
          volumeMounts: [
            { name: "v", mountPath: "/v" },
            { name: "w", mountPath: "/w", readOnly: true },
          ],
        },
        { name: "idle", image: "i" },
      ],
      ephemeralContainers: [{ name: "e", image: "i", resources }],
    },
  });
  const shown = (kind: "initContainers" | "containers" | "ephemeralContainers", more: Partial<ContainerView> = {}) => {
    const view = viewOf(pod, emptyPod("u", "p", "n", 0), more);
    const is = { initContainers: "init", containers: "regular", ephemeralContainers: "ephemeral" } as const;
    return containerStatuses(view, pod.spec[kind] ?? [], [], is[kind]);
  };

  it("is what it has of resources, where that can change while it runs", () => {
    expect(shown("containers").map((each) => each.resources)).toEqual([resources, {}]);
    expect(shown("initContainers").map((each) => each.resources)).toEqual([undefined, resources]);
    expect(shown("ephemeralContainers").map((each) => each.resources)).toEqual([undefined]);
  });

  it("is what it was given, under a gate", () => {
    const allocated = { shows: { resources: true, allocated: true } };
    expect(shown("containers", allocated).map((each) => each.allocatedResources)).toEqual([
      resources.requests,
      undefined,
    ]);
    const neither = shown("containers", { shows: { resources: false, allocated: true } });
    expect(neither.map((each) => [each.resources, each.allocatedResources])).toEqual(
      Array(2).fill([undefined, undefined]),
    );
  });

  it("is what is mounted", () => {
    expect(shown("containers").map((each) => each.volumeMounts)).toEqual([
      [
        { name: "v", mountPath: "/v" },
        { name: "w", mountPath: "/w", readOnly: true, recursiveReadOnly: "Disabled" },
      ],
      undefined,
    ]);
  });
});

it("statuses of many containers look at each of them a few times", () => {
  const count = 2_000;
  let reads = 0;
  const counted = <Item extends { readonly name: string }>(item: Item): Item =>
    Object.defineProperty({ ...item }, "name", { enumerable: true, get: () => (reads++, item.name) });
  const names = Array.from({ length: count }, (_, at) => `c${at}`);
  const pod = podOf({
    metadata: { name: "p", namespace: "n", uid: "u" },
    spec: { containers: names.map((name) => ({ name, image: "i" })) },
  });
  const before = names.map((name) => counted({ ...running, name }));
  const containers = names.map((name) => counted({ id: name, name, state: "CONTAINER_RUNNING", restartCount: 2 }));
  const runtimePod = { ...emptyPod("u", "p", "n", 0), containers: containers as unknown as RuntimeContainer[] };
  expect(containerStatuses(viewOf(pod, runtimePod), pod.spec.containers, before, "regular")).toHaveLength(count);
  expect(reads).toBeLessThan(20 * count);
});
