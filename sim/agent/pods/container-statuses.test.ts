import { describe, expect, it } from "vitest";
import type { RuntimeContainer } from "../runtime/runtime-pod.ts";
import { containerStatuses } from "./container-statuses.ts";
import { type ContainerStatus, podOf } from "./pod-types.ts";

const running: ContainerStatus = {
  name: "c",
  state: { running: { startedAt: "2030-01-01T00:00:00Z" } },
  lastState: {},
  ready: true,
  restartCount: 2,
  image: "i",
  imageID: "",
};

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
  const view = { pod, runtimePod: runtimePod as never, reasons: undefined, runtimeName: "containerd" };
  return containerStatuses(view, pod.spec.containers, [before], false)[0];
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
