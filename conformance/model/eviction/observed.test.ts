import { describe, expect, it } from "vitest";
import { kubernetesDialect, svcDialect } from "../../../wire/dialect.ts";
import type { ApiObject, JsonObject } from "../../client/types.ts";
import { evictionOf, readingOf, settingsOf, sightingOf, statusOf, traitsOf } from "./observed.ts";

const pod = (parts: JsonObject, annotations: Record<string, string> = {}): ApiObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "a", namespace: "n", annotations },
  ...parts,
});

describe("nodes", () => {
  const conditions = [
    { type: "MemoryPressure", status: "True" },
    { type: "Ready", status: "True" },
  ];
  const taints = [
    { key: "node.kubernetes.io/memory-pressure", effect: "NoSchedule" },
    { key: "node.kubernetes.io/disk-pressure", effect: "NoExecute" },
    { key: "node.svc.io/pid-pressure", effect: "NoSchedule" },
  ];
  const node: ApiObject = { metadata: { name: "one" }, spec: { taints }, status: { conditions } };
  it("show conditions of pressure, and the taints of them in their dialect", () => {
    expect(sightingOf(node, 7, kubernetesDialect)).toEqual({
      atMillis: 7,
      conditions: { MemoryPressure: "True" },
      taints: new Set(["MemoryPressure"]),
    });
    expect(sightingOf(node, 7, svcDialect).taints).toEqual(new Set(["PIDPressure"]));
    expect(sightingOf({ metadata: { name: "one" } }, 7, svcDialect)).toMatchObject({ conditions: {} });
  });
});

describe("pods", () => {
  it("have a priority, a grace period, and the sum of what their containers request", () => {
    const requests = [{ memory: "1Ki", "ephemeral-storage": 5 }, { memory: "24" }, {}];
    const containers = requests.map((each) => ({ resources: { requests: each } }));
    expect(traitsOf(pod({ spec: { priority: 9, terminationGracePeriodSeconds: 4, containers } }), svcDialect)).toEqual({
      name: "n/a",
      priority: 9,
      static: false,
      requests: { memoryBytes: 1048, diskBytes: 5 },
      graceSeconds: 4,
    });
    expect(traitsOf(pod({}), svcDialect)).toMatchObject({ priority: 0, graceSeconds: 30 });
  });
  it.each([
    [{ "svc.io/config.mirror": "x" }, true],
    [{ "svc.io/config.source": "file" }, true],
    [{ "svc.io/config.source": "api" }, false],
    [{ "kubernetes.io/config.mirror": "x" }, false],
  ])("are static by %j: %s", (annotations, isStatic) => {
    expect(traitsOf(pod({}, annotations), svcDialect).static).toBe(isStatic);
  });
  it("are evicted for what the node lacks by their message or by both their reasons", () => {
    const by = (reason: string) => [{ type: "DisruptionTarget", status: "True", reason }];
    const message = "The node was low on resource: memory. ";
    const evicted = (status: JsonObject) => evictionOf(pod({ status }), 5);
    expect(evicted({ phase: "Failed", reason: "Evicted", message })).toEqual({
      phase: "Failed",
      reason: "Evicted",
      message,
      seenMillis: 5,
      disruptionTarget: undefined,
    });
    expect(evicted({ reason: "Evicted", conditions: by("TerminationByKubelet") })?.message).toBe("");
    expect(evicted({ reason: "Evicted", conditions: by("EvictionByEvictionAPI") })).toBeUndefined();
    expect(evicted({ reason: "Evicted", message: "Pod was rejected: The node had condition: [] " })).toBeUndefined();
    expect(evicted({ reason: "Shutdown", conditions: by("TerminationByKubelet") })).toBeUndefined();
    expect(statusOf(pod({}))).toEqual({ phase: "", reason: "" });
  });
});

describe("an agent's documents", () => {
  it("give thresholds, under whatever name the configuration is", () => {
    const config = {
      evictionHard: { "memory.available": "1Gi" },
      evictionPressureTransitionPeriod: "1m",
      evictionMaxPodGracePeriod: -1,
      maxPods: 110,
    };
    expect(settingsOf({ anyconfig: config })).toMatchObject({
      evictionHard: { "memory.available": "1Gi" },
      evictionSoft: undefined,
      evictionPressureTransitionPeriod: "1m",
      evictionMaxPodGracePeriod: -1,
    });
    expect([settingsOf([]), settingsOf({}), settingsOf(undefined)]).toEqual([undefined, undefined, undefined]);
  });
  it("give readings of what they tell, and none of the rest", () => {
    const node = {
      memory: { availableBytes: 5, workingSetBytes: 7 },
      fs: { availableBytes: 1, capacityBytes: 2, inodesFree: 3, inodes: 4 },
      runtime: { imageFs: { availableBytes: 8, capacityBytes: 9 } },
      rlimit: { maxpid: 100, curproc: 40 },
    };
    expect(readingOf({ node }, 7)).toEqual({
      atMillis: 7,
      takenMillis: 7,
      pods: {},
      signals: {
        "memory.available": { available: 5, capacity: 12 },
        "nodefs.available": { available: 1, capacity: 2 },
        "nodefs.inodesFree": { available: 3, capacity: 4 },
        "imagefs.available": { available: 8, capacity: 9 },
        "pid.available": { available: 60, capacity: 100 },
      },
    });
    expect(readingOf(undefined, 7).signals).toEqual({});
  });
});
