import { describe, expect, it } from "vitest";
import type { ContainerConfig } from "../../wire/cri-messages.ts";
import type { AgentBugName } from "../planted/agent-bugs.ts";
import { defaultAgentOptions } from "./agent-options.ts";
import { AgentWorld, pods } from "./agent-world.fixture.ts";

const box = (name: string, image: string) => ({ name, image, imagePullPolicy: "IfNotPresent" });

function world(): AgentWorld {
  const made = new AgentWorld();
  made.runtime.images.set("serves:1", { stopsAfterMicros: 500_000 });
  made.runtime.images.set("fails:1", { endsAfterMicros: 1_000_000, exitCode: 1 });
  made.runtime.images.set("done:1", { endsAfterMicros: 3_000_000 });
  made.run(3);
  return made;
}

describe("the agent", () => {
  it("runs a pod in the recorded order of calls, and says so", () => {
    const w = world();
    const before = w.runtime.calls.length;
    w.create("a", { containers: [box("c", "serves:1")] });
    w.run(5);
    const status = w.status("a");
    expect(status).toMatchObject({
      phase: "Running",
      podIP: "10.0.0.2",
      hostIP: "192.168.0.1",
      qosClass: "BestEffort",
    });
    expect(
      (status["conditions"] as { type: string; status: string }[]).map(({ type, status: held }) => `${type}=${held}`),
    ).toEqual([
      "PodReadyToStartContainers=True",
      "Initialized=True",
      "Ready=True",
      "ContainersReady=True",
      "PodScheduled=True",
    ]);
    const made = w.runtime.calls
      .slice(before)
      .map(({ method }) => method)
      .filter((method) => !/^(List|Status|ContainerStatus)/.test(method));
    expect(made.slice(0, 5)).toEqual([
      "RunPodSandbox",
      "PodSandboxStatus",
      "ImageStatus",
      "CreateContainer",
      "StartContainer",
    ]);
    expect(w.events("a")).toEqual([
      'Pulled Container image "serves:1" already present on machine 1',
      "Created Created container: c 1",
      "Started Started container c 1",
    ]);
  });

  it("takes times that no clock counts for as long as it takes", () => {
    const w = new AgentWorld();
    w.runtime.images.set("serves:1", {});
    const probe = { exec: { command: ["true"] }, periodSeconds: 2_147_483_647, timeoutSeconds: 2_147_483_647 };
    const container = { ...box("c", "serves:1"), livenessProbe: probe, readinessProbe: probe };
    for (const [name, seconds] of [
      ["a", "9007199254740991"],
      ["b", "9223372036854775807"],
    ] as const) {
      const spec = { nodeName: "n1", activeDeadlineSeconds: 2_147_483_647, containers: [container] };
      const body = JSON.stringify({ apiVersion: "v1", kind: "Pod", metadata: { name }, spec });
      const longest = body.replace('"nodeName"', `"terminationGracePeriodSeconds":${seconds},"nodeName"`);
      expect(w.bed.ask(`POST ${pods}`, { as: "admin", body: longest }).status).toBe(201);
      w.run(30);
      expect(w.status(name)).toMatchObject({ phase: "Running" });
      w.bed.ask(`DELETE ${pods}/${name}`, { as: "admin" });
      w.run(30);
    }
    expect(w.runtime.calls.filter(({ method }) => method === "StopContainer")).toHaveLength(2);
  });

  it("restarts what fails sooner where it is told shorter waits", () => {
    const startsIn = (more: object): number => {
      const { pods: standard } = defaultAgentOptions("n1");
      const made = new AgentWorld({ pods: { ...standard, ...more } });
      made.runtime.images.set("fails:1", { endsAfterMicros: 1_000_000, exitCode: 1 });
      made.run(3);
      made.create("a", { containers: [box("c", "fails:1")] });
      made.run(600);
      return made.runtime.calls.filter(({ method }) => method === "StartContainer").length;
    };
    const usual = startsIn({});
    expect(usual).toBeLessThan(9);
    expect(startsIn({ restarts: { firstMicros: 1_000_000, mostMicros: 2_000_000 } })).toBeGreaterThan(3 * usual);
  });

  it("restarts what fails, later each time", () => {
    const w = world();
    w.create("a", { containers: [box("c", "fails:1")] });
    const began = w.kernel.nowMicros();
    w.run(120);
    const starts = w.runtime.calls
      .filter(({ method }) => method === "StartContainer")
      .map(({ atMicros }) => Math.round((atMicros - began) / 1e6));
    expect(starts.length).toBeGreaterThanOrEqual(4);
    expect(starts[1]! - starts[0]!).toBeLessThan(4);
    expect(starts[2]! - starts[1]!).toBeGreaterThanOrEqual(11);
    expect(starts[3]! - starts[2]!).toBeGreaterThanOrEqual(21);
    const [container] = w.status("a")["containerStatuses"] as {
      state: { waiting: { reason: string; message: string } };
    }[];
    expect(container?.state.waiting.reason).toBe("CrashLoopBackOff");
    expect(container?.state.waiting.message).toMatch(
      /^back-off (20s|40s|1m20s) restarting failed container=c pod=a_default\(/,
    );
  });

  it("stops a pod gracefully, then deletes it", () => {
    const w = world();
    w.create("a", { containers: [box("c", "serves:1")], terminationGracePeriodSeconds: 5 });
    w.run(5);
    w.bed.ask(`DELETE ${pods}/a`, { as: "admin" });
    w.run(0.4);
    expect(w.get("a")).toMatchObject({ metadata: { deletionGracePeriodSeconds: 5 }, status: { phase: "Running" } });
    w.run(2.5);
    expect(w.bed.ask(`GET ${pods}/a`, { as: "admin" }).status).toBe(404);
    const stop = w.runtime.calls.find(({ method }) => method === "StopContainer");
    expect(stop?.message).toMatchObject({ timeout: 5 });
    w.run(90);
    expect([w.runtime.containers.size, w.runtime.sandboxes.size]).toEqual([0, 0]);
  });

  it("ends a pod that runs once", () => {
    const w = world();
    w.create("a", { containers: [box("c", "done:1")], restartPolicy: "Never" });
    w.run(10);
    expect(w.status("a")).toMatchObject({ phase: "Succeeded" });
    expect(w.runtime.containers.size).toBe(1);
  });

  it("finds its pods again after a crash, and none runs twice", () => {
    const w = world();
    w.create("a", { containers: [box("c", "serves:1")] });
    w.run(5);
    w.restart(3);
    w.run(20);
    expect(w.runtime.calls.filter(({ method }) => method === "StartContainer")).toHaveLength(1);
    expect(w.status("a")).toMatchObject({ phase: "Running" });
    w.create("b", { containers: [box("c", "serves:1")] });
    w.run(0.42);
    w.restart(1);
    w.run(20);
    expect(w.runtime.running("b")).toBe(1);
    expect(w.status("b")).toMatchObject({ phase: "Running" });
  });

  it("rejects what the node has no room for", () => {
    const w = world();
    w.create("a", { containers: [{ ...box("c", "serves:1"), resources: { requests: { cpu: "1000" } } }] });
    w.create("b", { containers: [box("c", "serves:1")], nodeSelector: { no: "such" } });
    w.run(1);
    expect(w.status("a")).toMatchObject({
      phase: "Failed",
      reason: "OutOfcpu",
      message: "Pod was rejected: Node didn't have enough resource: cpu, requested: 1000000, used: 0, capacity: 2000",
    });
    expect(w.status("b")).toMatchObject({ phase: "Failed", reason: "NodeAffinity" });
  });

  it.each([
    ["no such host", "ErrImagePull", "no such host"],
    [
      "RegistryUnavailable: it is being moved",
      "RegistryUnavailable",
      "image pull failed for far:1 because the registry is unavailable: it is being moved",
    ],
    [
      "SignatureValidationFailed",
      "SignatureValidationFailed",
      "image pull failed for far:1 because the signature validation failed",
    ],
  ])("tells why an image was not pulled: %s", (text, reason, message) => {
    const w = new AgentWorld({}, 700_000, {
      around: (inner) => ({
        events: (...args) => inner.events(...args),
        start(request, done, more) {
          if (request.method !== "PullImage") return inner.start(request, done, more);
          done({ ok: false, code: 2, text });
          return () => {};
        },
      }),
    });
    w.run(3);
    w.create("a", { containers: [box("c", "far:1")] });
    w.run(2);
    const waiting = () => (w.status("a")["containerStatuses"] as { state: { waiting: object } }[])[0]?.state.waiting;
    expect(waiting()).toEqual({ reason, message });
    w.run(18);
    expect(waiting()).toEqual({
      reason: "ImagePullBackOff",
      message: `Back-off pulling image "far:1": ${reason}: ${message}`,
    });
    expect(w.events("a").some((event) => event.startsWith(`Failed Error: ${reason} `))).toBe(true);
  });

  describe("that lacks room for a critical pod", () => {
    const asking = (cpu: string, more: object = {}) => ({
      containers: [{ ...box("c", "serves:1"), resources: { requests: { cpu } } }],
      ...more,
    });
    const critical = { priorityClassName: "system-node-critical" };
    const full = (): AgentWorld => {
      const w = world();
      w.runtime.images.set("serves:1", { stopsAfterMicros: 500_000, exitCode: 143 });
      w.create("idle", { containers: [box("c", "serves:1")] });
      w.create("small", asking("500m"));
      w.create("large", asking("1500m"));
      w.run(5);
      return w;
    };

    it("stops another for it, which has ended before it begins", () => {
      const w = full();
      w.create("critical", asking("1", critical));
      for (let tenths = 0; tenths < 100; tenths++) {
        w.run(0.1);
        expect(w.runtime.running("large") + w.runtime.running("critical")).toBeLessThan(2);
      }
      expect(w.status("large")).toMatchObject({
        phase: "Failed",
        reason: "Preempting",
        message: "Preempted in order to admit critical pod",
        conditions: expect.arrayContaining([expect.objectContaining({ type: "DisruptionTarget", status: "True" })]),
      });
      expect(w.events("large")).toContain("Preempting Preempted in order to admit critical pod 1");
      for (const name of ["idle", "small", "critical"]) expect(w.status(name)).toMatchObject({ phase: "Running" });
    });

    it("lets nobody else in until there is room, and then for what is left over", () => {
      const w = full();
      w.create("critical", asking("1", critical));
      w.create("fits", asking("500m"));
      w.create("never", asking("500m"));
      w.create("late", asking("500m"));
      w.run(0.1);
      expect(w.runtime.running("large")).toBe(1);
      w.bed.ask(`DELETE ${pods}/never`, { as: "admin", body: { gracePeriodSeconds: 0 } });
      for (let tenths = 0; tenths < 100; tenths++) {
        w.run(0.1);
        expect(w.runtime.running("large") * w.runtime.running("fits")).toBe(0);
        if (w.runtime.running("large") === 1) expect(w.status("late")).toMatchObject({ phase: "Pending" });
      }
      expect(w.runtime.running("never")).toBe(0);
      expect(w.status("fits")).toMatchObject({ phase: "Running" });
      expect(w.status("late")).toMatchObject({ phase: "Failed", reason: "OutOfcpu" });
    });

    it("refuses it where stopping others would not help, and stops nobody", () => {
      const w = full();
      w.create("elsewhere", asking("1", { ...critical, nodeSelector: { no: "such" } }));
      w.create("huge", asking("10", critical));
      w.run(10);
      expect(w.status("elsewhere")).toMatchObject({ phase: "Failed", reason: "NodeAffinity" });
      expect(w.status("huge")).toMatchObject({
        phase: "Failed",
        reason: "UnexpectedAdmissionError",
        message:
          "Pod was rejected: Unexpected error while attempting to recover from admission failure: preemption: error finding a set of pods to preempt: no set of running pods found to reclaim resources: [(res: cpu, q: 8000), ]",
      });
      for (const name of ["idle", "small", "large"]) expect(w.status(name)).toMatchObject({ phase: "Running" });
    });
  });

  it.each<[name: string, bugs: AgentBugName[], value: string]>([
    ["reads an immutable object that was made again as it is now", [], "new"],
    ["does not with immutable-cache-stale-after-recreate", ["immutable-cache-stale-after-recreate"], "old"],
  ])("%s", (_name, bugs, value) => {
    const w = new AgentWorld({}, 700_000, { bugs });
    w.runtime.images.set("serves:1", {});
    w.run(3);
    const configMaps = "/api/v1/namespaces/default/configmaps";
    const make = (text: string) =>
      w.bed.ask(`POST ${configMaps}`, {
        as: "admin",
        body: { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "k" }, data: { a: text }, immutable: true },
      });
    const envFrom = [{ configMapRef: { name: "k" } }];
    make("old");
    w.create("first", { containers: [{ ...box("c", "serves:1"), envFrom }] });
    w.run(5);
    w.bed.ask(`DELETE ${configMaps}/k`, { as: "admin" });
    make("new");
    w.create("second", { containers: [{ ...box("c", "serves:1"), envFrom }] });
    w.run(5);
    const envs = w.runtime.calls
      .filter(({ method }) => method === "CreateContainer")
      .map(({ message }) => [...((message as { config: ContainerConfig }).config.envs ?? [])]);
    expect(envs.map((each) => each.find(({ key }) => key === "a")?.value)).toEqual(["old", value]);
  });
});
