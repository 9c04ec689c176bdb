/** Laws of a whole cluster over random programs: whatever was done to it, it ends as it should, and breaks nothing on its way. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseQuantity, quantityAt } from "../../wire/quantity.ts";
import { apps, ClusterBed, core, deploymentOf } from "./cluster-bed.fixture.ts";
import type { Deployment, NodeObject, Pod, ReplicaSet } from "./shared/stored.ts";

const cpuOf = (text = "0"): number => {
  const quantity = parseQuantity(text);
  return "error" in quantity ? 0 : Number(quantityAt(quantity, -3));
};

const isAlive = ({ status }: Pod): boolean => status?.phase !== "Succeeded" && status?.phase !== "Failed";

/** What no moment of a run may show; undefined when all is well. */
function broken(
  pods: readonly Pod[],
  nodes: ReadonlyMap<string, NodeObject>,
  wasOn: Map<string, string>,
): string | undefined {
  const used = new Map<string, number>();
  for (const pod of pods) {
    const { nodeName = "" } = pod.spec;
    const { uid, name } = pod.metadata;
    if (nodeName === "") continue;
    const before = wasOn.get(uid);
    if (before !== undefined && before !== nodeName) return `${name} was on ${before} and is on ${nodeName}`;
    const node = nodes.get(nodeName);
    if (before === undefined && node !== undefined) {
      const zone = (pod.spec.nodeSelector ?? {})["zone"];
      if (zone !== undefined && node.metadata.labels?.["zone"] !== zone)
        return `${name} is on ${nodeName}, of another zone`;
      const isTolerant = (pod.spec.tolerations ?? []).some(({ key }) => key === "dedicated");
      if (!isTolerant && (node.spec?.taints ?? []).some(({ key }) => key === "dedicated"))
        return `${name} does not tolerate ${nodeName}`;
    }
    wasOn.set(uid, nodeName);
    if (!isAlive(pod)) continue;
    const cpu = pod.spec.containers.reduce((sum, { resources }) => sum + cpuOf(resources?.requests?.["cpu"]), 0);
    used.set(nodeName, (used.get(nodeName) ?? 0) + cpu);
  }
  for (const [name, cpu] of used) {
    const all = cpuOf(nodes.get(name)?.status?.allocatable?.["cpu"] ?? "1000");
    if (cpu > all) return `${name} has ${cpu}m of ${all}m`;
  }
  return undefined;
}

interface Command {
  readonly kind: "make" | "scale" | "roll" | "strategy" | "kill" | "fail" | "cordon" | "evict" | "crash";
  readonly target: number;
  readonly value: number;
}

const command = fc.record<Command>({
  kind: fc.constantFrom("make", "make", "scale", "roll", "strategy", "kill", "fail", "cordon", "evict", "crash"),
  target: fc.nat(3),
  value: fc.nat(9),
});

const strategies = [
  { type: "Recreate", rollingUpdate: null },
  { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
  { type: "RollingUpdate", rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } },
  { type: "RollingUpdate", rollingUpdate: { maxSurge: "50%", maxUnavailable: "50%" } },
];

const shapes = [
  { allocatable: { cpu: "500m" }, labels: { zone: "a" } },
  {
    allocatable: { cpu: "300m" },
    labels: { zone: "a" },
    taints: [{ key: "dedicated", value: "db", effect: "NoSchedule" }],
  },
  { allocatable: { cpu: "700m" }, labels: { zone: "b" } },
  { allocatable: { cpu: "4" }, labels: { zone: "b" } },
];

const specOf = (target: number): object => ({
  ...(target === 1 ? { nodeSelector: { zone: "b" } } : {}),
  ...(target === 2 ? { tolerations: [{ key: "dedicated", operator: "Exists" }] } : {}),
});

class Program {
  readonly bed = new ClusterBed({ nodes: 4, binder: "scheduler", shapeOf: (at) => shapes[at] ?? {} });
  private readonly wasOn = new Map<string, string>();

  constructor() {
    const budget = { metadata: { name: "d0" }, spec: { maxUnavailable: 1, selector: { matchLabels: { app: "d0" } } } };
    this.bed.make("/apis/policy/v1/namespaces/default/poddisruptionbudgets", budget);
  }

  play({ kind, target, value }: Command): void {
    const { bed } = this;
    const path = `${apps}/deployments/d${target}`;
    const has = bed.bed.ask(`GET ${path}`, { as: "admin" }).status === 200;
    const pods = bed.pods().filter(isAlive);
    const pod = pods[value % Math.max(1, pods.length)];
    const podPath = `${core}/pods/${pod?.metadata.name}`;
    if (kind === "make" && !has) {
      bed.make(`${apps}/deployments`, deploymentOf(`d${target}`, value));
      bed.merge(path, { spec: { template: { spec: specOf(target) } } });
    } else if (kind === "scale" && has) bed.merge(path, { spec: { replicas: value } });
    else if (kind === "roll" && has)
      bed.merge(path, { spec: { template: { metadata: { labels: { version: String(value) } } } } });
    else if (kind === "strategy" && has) bed.merge(path, { spec: { strategy: strategies[value % strategies.length] } });
    else if (kind === "kill" && pod !== undefined) bed.remove(podPath);
    else if (kind === "fail" && pod !== undefined)
      bed.bed.merge(`${podPath}/status`, { status: { phase: "Failed" } }, { as: "admin" });
    else if (kind === "cordon") bed.merge(`/api/v1/nodes/node-${target}`, { spec: { unschedulable: value % 2 === 0 } });
    else if (kind === "evict" && pod !== undefined) this.evict(pod);
    else if (kind === "crash") bed.restart(value % 2 === 0 ? "scheduler" : "controllers");
  }

  /** What was granted leaves as many healthy pods as the budget demands. */
  private evict({ metadata: { name, labels } }: Pod): void {
    const granted = this.bed.bed.ask(`POST ${core}/pods/${name}/eviction`, {
      as: "admin",
      body: { metadata: { name } },
    });
    if (granted.status !== 201 || labels?.["app"] !== "d0") return;
    const { status } = this.bed.get("/apis/policy/v1/namespaces/default/poddisruptionbudgets/d0") as unknown as {
      status: { currentHealthy: number; desiredHealthy: number; disruptedPods?: object };
    };
    const disrupted = Object.keys(status.disruptedPods ?? {}).length;
    if (status.currentHealthy - disrupted < status.desiredHealthy) throw new Error(`evicting ${name} broke the budget`);
  }

  look(): void {
    const nodes = new Map(this.bed.list<NodeObject>("/api/v1/nodes").map((node) => [node.metadata.name, node]));
    const problem = broken(this.bed.pods(), nodes, this.wasOn);
    if (problem !== undefined) throw new Error(problem);
  }

  settle(): void {
    for (const at of [0, 1, 2, 3]) this.bed.merge(`/api/v1/nodes/node-${at}`, { spec: { unschedulable: null } });
    for (let seconds = 0; seconds < 90; seconds += 5) {
      this.bed.advance(5);
      this.look();
    }
  }
}

describe("a living cluster", () => {
  it("converges from whatever was done to it, overcommits no node and moves no pod", () => {
    const programs = fc.array(command, { minLength: 5, maxLength: 30 });
    fc.assert(
      fc.property(programs, (commands) => {
        const program = new Program();
        for (const each of commands) {
          program.play(each);
          program.bed.advance(0.3);
          program.look();
        }
        program.settle();
        const { bed } = program;
        const alive = bed.pods().filter(isAlive);
        for (const { metadata, spec, status } of bed.list<Deployment>(`${apps}/deployments`)) {
          const replicas = spec.replicas ?? 1;
          const sets = bed
            .list<ReplicaSet>(`${apps}/replicasets`)
            .filter((set) => set.metadata.ownerReferences?.[0]?.uid === metadata.uid);
          expect(sets.filter((set) => (set.spec.replicas ?? 0) > 0).length).toBe(replicas === 0 ? 0 : 1);
          expect(alive.filter(({ metadata: { labels } }) => labels?.["app"] === metadata.name)).toHaveLength(replicas);
          expect([status?.updatedReplicas ?? 0, status?.availableReplicas ?? 0]).toEqual([replicas, replicas]);
        }
      }),
      { numRuns: 12, seed: 7 },
    );
  }, 120_000);

  it("is judged by laws that can fail", () => {
    const node = (cpu: string, more: object = {}): NodeObject => ({
      metadata: { name: "n", uid: "n" },
      status: { allocatable: { cpu } },
      ...more,
    });
    const on = (name: string, nodeName = "n", more: object = {}): Pod => ({
      metadata: { name, uid: name },
      spec: { nodeName, containers: [{ name: "c", resources: { requests: { cpu: "1" } } }], ...more },
    });
    const nodes = new Map([["n", node("1")]]);
    expect(broken([on("a")], nodes, new Map())).toBeUndefined();
    expect(broken([on("a"), on("b")], nodes, new Map())).toContain("2000m of 1000m");
    expect(broken([on("a", "m")], nodes, new Map([["a", "n"]]))).toContain("was on n and is on m");
    expect(broken([on("a", "n", { nodeSelector: { zone: "x" } })], nodes, new Map())).toContain("of another zone");
    const tainted = new Map([["n", node("1", { spec: { taints: [{ key: "dedicated", effect: "NoSchedule" }] } })]]);
    expect(broken([on("a")], tainted, new Map())).toContain("does not tolerate");
  });
});
