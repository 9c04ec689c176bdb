import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import { profiles } from "../../contract/profile.ts";
import { machineReading, mebibyte, nodeWorld, type NodeWorldOptions } from "./node-world.fixture.ts";

const statusOf = (node: JsonObject): JsonObject => node["status"] as JsonObject;
const specOf = (node: JsonObject): JsonObject => node["spec"] as JsonObject;

function conditionsOf(node: JsonObject): Record<string, JsonObject> {
  const conditions = statusOf(node)["conditions"] as readonly JsonObject[];
  return Object.fromEntries(conditions.map((condition) => [String(condition["type"]), condition]));
}

const shown = (node: JsonObject): string[] =>
  (statusOf(node)["conditions"] as readonly JsonObject[]).map(
    ({ type, status, reason }) => `${type}=${status} ${reason}`,
  );

function registered(options: NodeWorldOptions = {}, seconds = 1) {
  const world = nodeWorld(options);
  const started = world.start();
  world.run(seconds);
  return { ...world, ...started };
}

describe.each(["svc", "kubernetes"] as const)("registration, %s", (name) => {
  const profile = profiles[name];
  const suffix = profile.dialect.labelSuffix;

  it("makes the node with its labels, its addresses, and what it has", () => {
    const { node } = registered({ profile, node: { labels: { zone: "a", [`${suffix}/hostname`]: "other" } } });
    expect(metadataOf(node()).labels).toEqual({
      [`beta.${suffix}/arch`]: "amd64",
      [`beta.${suffix}/os`]: "linux",
      [`${suffix}/arch`]: "amd64",
      [`${suffix}/hostname`]: "other",
      [`${suffix}/os`]: "linux",
      zone: "a",
    });
    expect(metadataOf(node()).annotations).toMatchObject({
      [`volumes.${suffix}/controller-managed-attach-detach`]: "true",
    });
    expect(statusOf(node())).toMatchObject({
      addresses: [
        { type: "InternalIP", address: "10.0.0.7" },
        { type: "Hostname", address: "n1.example" },
      ],
      capacity: { cpu: "4", memory: "8Gi", "ephemeral-storage": "100Gi", pods: "110" },
      allocatable: { cpu: "4", memory: "8092Mi", "ephemeral-storage": "96636764k", pods: "110" },
      daemonEndpoints: { kubeletEndpoint: { Port: 10_250 } },
      features: { supplementalGroupsPolicy: true },
      nodeInfo: { containerRuntimeVersion: "fake://1.0", kubeletVersion: "v1.33.3", bootID: "boot" },
      runtimeHandlers: [{ name: "", features: { recursiveReadOnlyMounts: true, userNamespaces: false } }],
    });
    expect(shown(node())).toEqual([
      "MemoryPressure=False KubeletHasSufficientMemory",
      "DiskPressure=False KubeletHasNoDiskPressure",
      "PIDPressure=False KubeletHasSufficientPID",
      "Ready=True KubeletReady",
    ]);
  });

  it("says that it is not schedulable, not initialized, and what else it is tainted with", () => {
    const { node } = registered({
      profile,
      node: {
        registerSchedulable: false,
        cloudProvider: "external",
        providerId: "p://1",
        taints: [{ key: "a", effect: "NoExecute" }],
      },
    });
    expect(specOf(node())).toMatchObject({ unschedulable: true, providerID: "p://1" });
    const taints = specOf(node())["taints"] as readonly JsonObject[];
    expect(taints).toEqual(
      expect.arrayContaining([
        { key: "a", effect: "NoExecute" },
        { key: `node.${suffix}/unschedulable`, effect: "NoSchedule" },
        { key: `node.cloudprovider.${suffix}/uninitialized`, value: "true", effect: "NoSchedule" },
      ]),
    );
  });
});

describe("capacity", () => {
  it("leaves out what is reserved and what thresholds keep free", () => {
    const { node } = registered({
      node: { systemReserved: { cpu: "500m", memory: "1Gi", pid: "100" }, serviceReserved: { cpu: "200m" } },
    });
    const { allocatable } = statusOf(node());
    expect(allocatable).toMatchObject({ cpu: "3300m", memory: "7068Mi" });
    const ignoring = registered({ node: { allocatableIgnoresEviction: true } });
    expect(statusOf(ignoring.node())["allocatable"]).toMatchObject({ memory: "8Gi", "ephemeral-storage": "100Gi" });
  });

  it("is bounded by cores where that is asked for", () => {
    expect(statusOf(registered({ node: { podsPerCore: 10 } }).node())["capacity"]).toMatchObject({ pods: "40" });
    expect(statusOf(registered({ node: { podsPerCore: 100 } }).node())["capacity"]).toMatchObject({ pods: "110" });
  });

  it("refuses to begin when more is reserved than there is", () => {
    const { failures, requests } = registered({ node: { systemReserved: { memory: "9Gi" } } });
    expect(failures[0]).toMatch(/^invalid Node Allocatable configuration\. Resource "memory" has a reservation of /);
    expect(requests).toEqual([]);
  });
});

describe("a machine with swap", () => {
  it("is refused where that is asked for", () => {
    const { failures, requests } = registered({ swapBytes: 1 });
    expect(failures[0]).toContain("--fail-swap-on");
    expect(requests).toEqual([]);
  });
});

describe("images in the status", () => {
  const image = (id: string, size: number, names = 1) => ({
    id,
    repoTags: Array.from({ length: names }, (_, at) => `${id}:${at}`),
    repoDigests: [`${id}@sha256:1`],
    size,
    username: "",
    pinned: false,
  });

  it("are the largest, digests first, five names each", () => {
    const images = [image("small", 1), image("large", 100, 9), image("middle", 50)];
    const { node } = registered({ images, node: { statusImagesMax: 2 } }, 40);
    expect(statusOf(node())["images"]).toEqual([
      { names: ["large@sha256:1", "large:0", "large:1", "large:2", "large:3"], sizeBytes: 100 },
      { names: ["middle@sha256:1", "middle:0"], sizeBytes: 50 },
    ]);
    const all = registered({ images, node: { statusImagesMax: -1 } }, 40);
    expect(statusOf(all.node())["images"]).toHaveLength(3);
  });
});

describe("status", () => {
  it("is sent when it has changed, and else every five minutes", () => {
    const world = registered({}, 1000);
    const patches = world.timesOf("PATCH", "/status");
    expect(patches.filter((at) => at > 5).length).toBe(3); // in 1,000 seconds
    expect(world.timesOf("GET", "/nodes/n1").length).toBeGreaterThan(90);
  });

  it("follows pressure within a look and a report, says so, and keeps the time of the transition", () => {
    const world = registered({}, 60);
    world.read(machineReading({ memoryUsed: 8150 * mebibyte }));
    world.run(85);
    const pressed = conditionsOf(world.node())["MemoryPressure"] as JsonObject;
    expect(pressed).toMatchObject({ status: "True", reason: "KubeletHasInsufficientMemory" });
    expect(world.events).toContain("Normal NodeHasInsufficientMemory Node n1 status is now: NodeHasInsufficientMemory");
    world.run(500);
    const later = conditionsOf(world.node())["MemoryPressure"] as JsonObject;
    expect(later["lastTransitionTime"]).toBe(pressed["lastTransitionTime"]);
    expect(later["lastHeartbeatTime"]).not.toBe(pressed["lastHeartbeatTime"]);
  });

  it("corrects what others wrote", () => {
    const world = registered({}, 60);
    const unknown = { status: { conditions: [{ type: "Ready", status: "Unknown", reason: "NodeStatusUnknown" }] } };
    const headers = { "content-type": "application/strategic-merge-patch+json" };
    world.bed.ask("PATCH /api/v1/nodes/n1/status", { as: "admin", body: unknown, headers });
    expect(shown(world.node())).toContain("Ready=Unknown NodeStatusUnknown");
    world.run(75);
    expect(shown(world.node())).toContain("Ready=True KubeletReady");
    expect(world.events.at(-1)).toBe("Normal NodeReady Node n1 status is now: NodeReady");
  });

  it("does not with status-not-refreshed-after-reconnect", () => {
    const world = registered({ bugs: ["status-not-refreshed-after-reconnect"] }, 60);
    // One report of its own, so that there is something that it remembers.
    world.read(machineReading({ memoryUsed: 8150 * mebibyte }));
    world.run(90);
    const unknown = { status: { conditions: [{ type: "Ready", status: "Unknown", reason: "NodeStatusUnknown" }] } };
    const headers = { "content-type": "application/strategic-merge-patch+json" };
    world.bed.ask("PATCH /api/v1/nodes/n1/status", { as: "admin", body: unknown, headers });
    world.run(150);
    expect(shown(world.node())).toContain("Ready=Unknown NodeStatusUnknown");
  });

  it("is ready at once when the runtime is there", () => {
    const world = registered({ runtimeSeconds: 5.05 }, 5);
    expect(shown(world.node())).toContain("Ready=False KubeletNotReady");
    world.run(5.3);
    expect(shown(world.node())).toContain("Ready=True KubeletReady");
  });
});

describe("an agent that comes back", () => {
  it("keeps taints, labels and conditions of the node, and corrects its own labels", () => {
    const world = registered({ runtimeSeconds: 3 }, 20);
    world.crash(world.process);
    const headers = { "content-type": "application/merge-patch+json" };
    const change = {
      metadata: { labels: { "kubernetes.io/os": "plan9", mine: "x" } },
      spec: { taints: [{ key: "t", effect: "NoSchedule" }] },
    };
    world.bed.ask("PATCH /api/v1/nodes/n1", { as: "admin", body: change, headers });
    const before = conditionsOf(world.node())["Ready"] as JsonObject;
    world.start("agent again");
    world.run(22);
    expect(shown(world.node())).toContain("Ready=True KubeletReady");
    world.run(60);
    expect(metadataOf(world.node()).labels).toMatchObject({ "kubernetes.io/os": "linux", mine: "x" });
    expect(specOf(world.node())["taints"]).toEqual([{ key: "t", effect: "NoSchedule" }]);
    expect((conditionsOf(world.node())["Ready"] as JsonObject)["lastTransitionTime"]).toBe(
      before["lastTransitionTime"],
    );
    expect(world.events.filter((event) => event.includes("NodeNotReady"))).toEqual([]);
  });

  it("blinks with ready-blip-on-restart", () => {
    const world = registered({ runtimeSeconds: 3, bugs: ["ready-blip-on-restart"] }, 20);
    world.crash(world.process);
    world.start("agent again");
    world.run(22);
    expect(shown(world.node())).toContain("Ready=False KubeletNotReady");
  });

  it("tries again until the server hears it, seven seconds apart at most", () => {
    const world = nodeWorld();
    world.cut(true);
    world.start();
    world.run(60);
    const attempts = world.timesOf("POST", "/nodes");
    const gaps = attempts.slice(1).map((at, index) => at - (attempts[index] as number));
    expect(gaps[0]).toBeCloseTo(0.1, 2);
    expect(gaps[1]).toBeCloseTo(0.2, 2);
    expect(gaps.at(-1)).toBeCloseTo(7, 1);
    world.cut(false);
    world.run(70);
    expect(shown(world.node())).toContain("Ready=True KubeletReady");
  });
});

describe("a node that is deleted", () => {
  const deleted = (options: NodeWorldOptions = {}) => {
    const world = registered(options, 60);
    world.bed.ask("DELETE /api/v1/nodes/n1", { as: "admin" });
    const renewals = world.timesOf("PUT", "/leases/n1").length;
    world.run(100);
    return { ...world, renewed: world.timesOf("PUT", "/leases/n1").length - renewals };
  };

  it("is registered again", () => {
    expect(shown(deleted().node())).toContain("Ready=True KubeletReady");
  });

  it("is not with lease-renewed-for-deleted-node, and its lease is renewed", () => {
    const { node, renewed } = deleted({ bugs: ["lease-renewed-for-deleted-node"] });
    expect(node()["code"]).toBe(404);
    expect(renewed).toBeGreaterThan(2);
  });
});

describe("the lease", () => {
  it("is the node's own, lasts 40 seconds and is renewed every ten", () => {
    const world = registered({}, 300);
    const lease = world.lease() as JsonObject;
    expect(lease["spec"]).toMatchObject({ holderIdentity: "n1", leaseDurationSeconds: 40 });
    expect(metadataOf(lease).ownerReferences).toMatchObject([{ kind: "Node", name: "n1" }]);
    const renewals = world.timesOf("PUT", "/leases/n1");
    const gaps = renewals.slice(1).map((at, index) => at - (renewals[index] as number));
    for (const gap of gaps) {
      expect(gap).toBeGreaterThanOrEqual(10);
      expect(gap).toBeLessThanOrEqual(10.5);
    }
    expect(gaps.length).toBeGreaterThan(25);
  });

  it("is renewed four times in its duration, but for lease-period-vs-grace-flap", () => {
    const short = { node: { leaseDurationSeconds: 8 } };
    expect(registered(short, 60).timesOf("PUT", "/leases/n1").length).toBeGreaterThan(25);
    const faulty = registered({ ...short, bugs: ["lease-period-vs-grace-flap"] }, 60);
    expect(faulty.timesOf("PUT", "/leases/n1").length).toBeLessThan(8);
  });

  it("is taken over after somebody else wrote it, and made again when it is gone", () => {
    const world = registered({}, 60);
    const path = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/n1";
    const headers = { "content-type": "application/merge-patch+json" };
    world.bed.ask(`PATCH ${path}`, { as: "admin", body: { metadata: { labels: { a: "b" } } }, headers });
    world.run(80);
    expect(metadataOf(world.lease() as JsonObject).labels).toEqual({ a: "b" });
    world.bed.ask(`DELETE ${path}`, { as: "admin" });
    world.run(100);
    expect(world.lease()?.["spec"]).toMatchObject({ holderIdentity: "n1" });
  });

  it("has no owner with lease-without-owner, when there is no node", () => {
    const world = nodeWorld({ node: { register: false }, bugs: ["lease-without-owner"] });
    world.start();
    world.run(30);
    expect(metadataOf(world.lease() as JsonObject).ownerReferences).toBeUndefined();
    const lawful = nodeWorld({ node: { register: false } });
    lawful.start();
    lawful.run(30);
    expect(lawful.lease()).toBeUndefined();
  });
});

describe("the summary", () => {
  it("tells of the node, its disks and its processes", () => {
    const { agent, bed, process, run } = registered({}, 30);
    let summary: JsonObject | undefined;
    bed.kernel.enter(process, () => agent.summary(false, (told) => (summary = told)));
    run(31);
    expect(summary).toMatchObject({
      node: {
        nodeName: "n1",
        memory: { availableBytes: 7168 * mebibyte, workingSetBytes: 1024 * mebibyte },
        fs: { capacityBytes: 102_400 * mebibyte, inodesFree: 900 },
        runtime: { imageFs: { capacityBytes: 102_400 * mebibyte } },
        rlimit: { maxpid: 1000, curproc: 100 },
      },
      pods: [],
    });
    bed.kernel.enter(process, () => agent.summary(true, (told) => (summary = told)));
    run(32);
    expect(Object.keys(summary?.["node"] as JsonObject)).toEqual(["nodeName", "startTime", "memory"]);
  });
});
