import { describe, expect, it } from "vitest";
import { apps, ClusterBed, core, deploymentOf } from "../cluster-bed.fixture.ts";
import type { NodeObject, Taint } from "../shared/stored.ts";

const taints = (bed: ClusterBed, name = "node-0"): readonly string[] =>
  ((bed.get(`/api/v1/nodes/${name}`) as unknown as NodeObject).spec?.taints ?? []).map(
    ({ key, effect }: Taint) => `${key}:${effect}`,
  );
const ready = (bed: ClusterBed, name = "node-0") =>
  (bed.get(`/api/v1/nodes/${name}`) as unknown as NodeObject).status?.conditions?.find(({ type }) => type === "Ready");
const tolerant = (seconds: number) => ({
  spec: {
    template: {
      spec: {
        tolerations: ["not-ready", "unreachable"].map((word) => ({
          key: `node.kubernetes.io/${word}`,
          operator: "Exists",
          effect: "NoExecute",
          tolerationSeconds: seconds,
        })),
      },
    },
  },
});

describe("a node that is not heard of", () => {
  it("is Unknown after its grace period, then tainted, and its pods go when their time is over", () => {
    const bed = new ClusterBed({ nodes: 4 });
    bed.make(`${apps}/deployments`, deploymentOf("shop", 8));
    bed.merge(`${apps}/deployments/shop`, tolerant(5));
    bed.advance(20);
    bed.silent.add("node-0");
    bed.advance(40);
    expect(ready(bed)?.status).toBe("True");
    for (let seconds = 0; seconds < 25 && ready(bed)?.status === "True"; seconds++) bed.advance(1);
    bed.advance(1);
    expect(ready(bed)).toMatchObject({
      status: "Unknown",
      reason: "NodeStatusUnknown",
      message: "Kubelet stopped posting node status.",
    });
    expect(new Set(taints(bed))).toEqual(
      new Set(["node.kubernetes.io/unreachable:NoSchedule", "node.kubernetes.io/unreachable:NoExecute"]),
    );
    const mine = bed.pods().filter(({ spec }) => spec.nodeName === "node-0");
    expect(
      mine.every(({ status }) =>
        status?.conditions?.some(({ type, status: is }) => type === "Ready" && is === "False"),
      ),
    ).toBe(true);
    expect(mine.every(({ metadata }) => metadata.deletionTimestamp === undefined)).toBe(true);
    bed.advance(10);
    const going = bed.pods().filter(({ spec }) => spec.nodeName === "node-0");
    expect(
      going.map(({ status }) => status?.conditions?.find(({ type }) => type === "DisruptionTarget")?.reason),
    ).toContain("DeletionByTaintManager");
    expect(bed.reasons()).toEqual(expect.arrayContaining(["NodeNotReady", "TaintManagerEviction", "RegisteredNode"]));
    bed.silent.delete("node-0");
    bed.advance(20);
    // Nobody has said yet that it is ready: its agent would.
    expect(ready(bed)?.status).toBe("Unknown");
    bed.merge("/api/v1/nodes/node-0/status", {
      status: { conditions: [{ type: "Ready", status: "True", lastHeartbeatTime: "2030-01-01T00:09:00Z" }] },
    });
    bed.advance(20);
    expect(taints(bed)).toEqual([]);
  });

  it("is not alone: one node in ten seconds, and none when all are silent", () => {
    const evicting = (bed: ClusterBed, count: number) =>
      Array.from({ length: count }, (_, at) => taints(bed, `node-${at}`)).filter((list) =>
        list.some((taint) => taint.endsWith("NoExecute")),
      ).length;
    const bed = new ClusterBed({ nodes: 8 });
    for (const at of [0, 1]) bed.silent.add(`node-${at}`);
    bed.advance(58);
    expect(evicting(bed, 8)).toBe(1);
    bed.advance(10);
    expect(evicting(bed, 8)).toBe(2);
    const dark = new ClusterBed({ nodes: 3 });
    for (const at of [0, 1, 2]) dark.silent.add(`node-${at}`);
    dark.advance(120);
    expect(evicting(dark, 3)).toBe(0);
    expect(ready(dark)?.status).toBe("Unknown");
  });
});

describe("a pod that nobody else removes", () => {
  it("goes with a node that is gone, but not before it is missed for long", () => {
    const bed = new ClusterBed();
    bed.make(`${apps}/deployments`, deploymentOf("shop", 3));
    bed.advance(3);
    bed.silent.add("node-1");
    bed.remove("/api/v1/nodes/node-1");
    bed.advance(30);
    expect(bed.pods().some(({ spec }) => spec.nodeName === "node-1")).toBe(true);
    bed.advance(60);
    expect(bed.pods().some(({ spec }) => spec.nodeName === "node-1")).toBe(false);
  });

  it("goes when it was to go and was never on a node, and when too many have ended", () => {
    const bed = new ClusterBed({ nodes: 0, controllers: { podCollector: { terminatedPodsMax: 2 } } });
    const pod = (name: string, more: object = {}) => ({
      metadata: { name, ...more },
      spec: { containers: [{ name: "c", image: "i" }] },
    });
    bed.make(`${core}/pods`, pod("gated", { finalizers: ["example.com/wait"] }));
    bed.remove(`${core}/pods/gated`);
    for (const name of ["a", "b", "c", "d"]) {
      bed.make(`${core}/pods`, pod(name));
      bed.merge(`${core}/pods/${name}/status`, { status: { phase: "Succeeded" } });
      bed.advance(1);
    }
    bed.advance(25);
    expect(bed.pods().map(({ metadata }) => metadata.name)).toEqual(["c", "d", "gated"]);
    expect(bed.pods().at(-1)?.status?.phase).toBe("Failed");
  });
});
