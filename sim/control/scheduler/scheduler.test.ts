import { describe, expect, it } from "vitest";
import { apps, ClusterBed, core, deploymentOf, type NodeShape } from "../cluster-bed.fixture.ts";
import type { Pod } from "../shared/stored.ts";

const pod = (name: string, spec: object = {}, metadata: object = {}) => ({
  metadata: { name, ...metadata },
  spec: { containers: [{ name: "c", image: "i", resources: { requests: { cpu: "1" } } }], ...spec },
});

function cluster(shapes: readonly NodeShape[]): ClusterBed {
  return new ClusterBed({ nodes: shapes.length, binder: "scheduler", shapeOf: (at) => shapes[at] ?? {} });
}

const nodeOf = (bed: ClusterBed, name: string): string | undefined =>
  (bed.get(`${core}/pods/${name}`) as unknown as Pod).spec.nodeName;
const scheduled = (bed: ClusterBed, name: string) =>
  (bed.get(`${core}/pods/${name}`) as unknown as Pod).status?.conditions?.find(({ type }) => type === "PodScheduled");

describe("the scheduler", () => {
  it("spreads a Deployment evenly, with a binding and an event a pod", () => {
    const bed = new ClusterBed({ nodes: 20, binder: "scheduler" });
    bed.make(`${apps}/deployments`, deploymentOf("shop", 200));
    bed.advance(20);
    const counts = new Map<string, number>();
    for (const { spec } of bed.pods()) counts.set(spec.nodeName ?? "", (counts.get(spec.nodeName ?? "") ?? 0) + 1);
    expect([...counts.values()]).toEqual(new Array(20).fill(10));
    const events = bed
      .list<{ reason: string; note: string }>("/apis/events.k8s.io/v1/events")
      .filter(({ reason }) => reason === "Scheduled");
    expect(events).toHaveLength(200);
    expect(events[0]?.note).toMatch(/^Successfully assigned default\/shop-.* to node-\d+$/);
  });

  it("says for each reason how many nodes have it, and goes on when there is room", () => {
    const bed = cluster([
      { allocatable: { cpu: "500m" } },
      { taints: [{ key: "dedicated", value: "db", effect: "NoSchedule" }] },
      {},
      {},
    ]);
    bed.merge("/api/v1/nodes/node-2", { spec: { unschedulable: true } });
    bed.merge("/api/v1/nodes/node-3", { metadata: { labels: { disk: "slow" } } });
    bed.advance(1);
    bed.make(`${core}/pods`, pod("web", { nodeSelector: { disk: "fast" } }));
    bed.make(
      `${core}/pods`,
      pod("big", {
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchExpressions: [{ key: "disk", operator: "DoesNotExist" }] }],
            },
          },
        },
      }),
    );
    bed.advance(2);
    expect(scheduled(bed, "big")).toMatchObject({
      status: "False",
      reason: "Unschedulable",
      message:
        "0/4 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) had untolerated taint {dedicated: db}, 1 node(s) were unschedulable. preemption: 0/4 nodes are available: 4 Preemption is not helpful for scheduling.",
    });
    bed.merge("/api/v1/nodes/node-3", { metadata: { labels: { disk: "fast" } } });
    bed.advance(2);
    expect(nodeOf(bed, "web")).toBe("node-3");
    bed.merge("/api/v1/nodes/node-2", { spec: { unschedulable: null } });
    bed.advance(12);
    expect(nodeOf(bed, "big")).toBe("node-2");
  });

  it("minds ports, anti-affinity in both directions, affinity, and hard spread", () => {
    const zones = ["a", "a", "b"].map((zone) => ({ labels: { "topology.kubernetes.io/zone": zone } }));
    const bed = cluster(zones);
    const ports = { containers: [{ name: "c", image: "i", ports: [{ containerPort: 80, hostPort: 80 }] }] };
    for (const name of ["p1", "p2", "p3", "p4"]) bed.make(`${core}/pods`, pod(name, ports));
    bed.advance(3);
    expect(new Set(["p1", "p2", "p3"].map((name) => nodeOf(bed, name))).size).toBe(3);
    expect(scheduled(bed, "p4")?.message).toContain("3 node(s) didn't have free ports for the requested pod ports");
    const apart = (key: string) => ({
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { labelSelector: { matchLabels: { app: "db" } }, topologyKey: key },
          ],
        },
      },
    });
    bed.make(`${core}/pods`, pod("db", apart("topology.kubernetes.io/zone"), { labels: { app: "lone" } }));
    bed.advance(2);
    bed.make(`${core}/pods`, pod("other", {}, { labels: { app: "db" } }));
    bed.advance(2);
    const zoneOf = (name: string) => zones[Number(nodeOf(bed, name)?.slice(5))]?.labels["topology.kubernetes.io/zone"];
    expect(zoneOf("other")).not.toBe(zoneOf("db"));
    const near = {
      affinity: {
        podAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { labelSelector: { matchLabels: { app: "lone" } }, topologyKey: "topology.kubernetes.io/zone" },
          ],
        },
      },
    };
    bed.make(`${core}/pods`, pod("friend", near));
    bed.advance(2);
    expect(zoneOf("friend")).toBe(zoneOf("db"));
    const spread = {
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: "topology.kubernetes.io/zone",
          whenUnsatisfiable: "DoNotSchedule",
          labelSelector: { matchLabels: { app: "even" } },
        },
      ],
    };
    for (let at = 0; at < 6; at++) bed.make(`${core}/pods`, pod(`even-${at}`, spread, { labels: { app: "even" } }));
    bed.advance(3);
    const inA = [0, 1, 2, 3, 4, 5].filter((at) => zoneOf(`even-${at}`) === "a").length;
    expect(inA).toBe(3);
  });

  it("counts init containers at their most, sidecars all along, and overhead", () => {
    const bed = cluster([{ allocatable: { cpu: "4" } }]);
    const cpu = (amount: string) => ({ resources: { requests: { cpu: amount } } });
    const spec = {
      initContainers: [
        { name: "side", image: "i", restartPolicy: "Always", ...cpu("1") },
        { name: "start", image: "i", ...cpu("2") },
      ],
      containers: [{ name: "c", image: "i", ...cpu("500m") }],
    };
    bed.make(`${core}/pods`, pod("first", spec)); // 3: a sidecar and the starter
    bed.make(`${core}/pods`, pod("second"));
    bed.make(`${core}/pods`, pod("third", { containers: [{ name: "c", image: "i", ...cpu("1m") }] }));
    bed.advance(2);
    expect(["first", "second", "third"].map((name) => nodeOf(bed, name))).toEqual(["node-0", "node-0", undefined]);
  });

  it("makes room for the more important where fewest budgets break, and keeps the place for it", () => {
    const bed = cluster([{ allocatable: { cpu: "2" } }, { allocatable: { cpu: "2" } }]);
    for (const [name, value] of [
      ["high", 1000],
      ["low", 10],
    ] as const)
      bed.make("/apis/scheduling.k8s.io/v1/priorityclasses", { metadata: { name }, value });
    bed.advance(1);
    for (const name of ["a", "b", "c", "d"]) {
      bed.make(`${core}/pods`, pod(name, { priorityClassName: "low" }));
      bed.advance(1);
    }
    const guarded = ["a", "b", "c", "d"].filter((name) => nodeOf(bed, name) === "node-0");
    for (const name of guarded) bed.merge(`${core}/pods/${name}`, { metadata: { labels: { app: "kept" } } });
    bed.make("/apis/policy/v1/namespaces/default/poddisruptionbudgets", {
      metadata: { name: "kept" },
      spec: { minAvailable: 2, selector: { matchLabels: { app: "kept" } } },
    });
    bed.advance(2);
    bed.make(
      `${core}/pods`,
      pod("vip", {
        priorityClassName: "high",
        containers: [{ name: "c", image: "i", resources: { requests: { cpu: "2" } } }],
      }),
    );
    bed.advance(0.05);
    expect((bed.get(`${core}/pods/vip`) as unknown as Pod).status?.nominatedNodeName).toBe("node-1");
    bed.make(`${core}/pods`, pod("thief"));
    bed.advance(5);
    expect([nodeOf(bed, "vip"), nodeOf(bed, "thief")]).toEqual(["node-1", undefined]);
    expect(guarded.every((name) => nodeOf(bed, name) === "node-0")).toBe(true);
    expect(
      bed
        .list<{ reason: string; note: string }>("/apis/events.k8s.io/v1/events")
        .filter(({ reason }) => reason === "Preempted"),
    ).toHaveLength(2);
  });

  it("places what waited for the first node, and what was gated", () => {
    const bed = cluster([]);
    bed.make(`${core}/pods`, pod("early"));
    bed.make(`${core}/pods`, pod("gated", { schedulingGates: [{ name: "example.com/wait" }] }));
    bed.advance(2);
    expect(scheduled(bed, "early")?.message).toBe("no nodes available to schedule pods");
    bed.addNode();
    bed.advance(3);
    expect([nodeOf(bed, "early"), nodeOf(bed, "gated")]).toEqual(["node-0", undefined]);
    bed.merge(`${core}/pods/gated`, { spec: { schedulingGates: null } });
    bed.advance(1);
    expect(nodeOf(bed, "gated")).toBe("node-0");
  });
});
