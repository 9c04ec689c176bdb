/**
 * Finds the node for one pod: of a sample of those that will do the one that suits it best, by chance among equals.
 * Source: the published scheduler, schedule_one.go.
 */
import type { Prng } from "../../kernel/types.ts";
import type { ClusterView } from "./cluster-view.ts";
import { questionOf, refusalOf } from "./filters.ts";
import type { NodeInfo } from "./node-info.ts";
import type { PodNeeds } from "./pod-needs.ts";
import type { Plugin, Refusal } from "./refusal.ts";
import { scoresOf, type Topology } from "./scores.ts";

export type Placing = { readonly node: string } | Unplaced;

export interface Unplaced {
  /** By node; empty when there is none. */
  readonly refusals: ReadonlyMap<string, Refusal>;
  readonly plugins: ReadonlySet<Plugin>;
}

export class Placer {
  private readonly view: ClusterView;
  private readonly prng: Prng;
  private readonly topology: Topology;
  /** Where the next search begins, so that every node has its turn. */
  private next = 0;

  constructor(view: ClusterView, prng: Prng, topology: Topology) {
    this.view = view;
    this.prng = prng;
    this.topology = topology;
  }

  place(pod: PodNeeds): Placing {
    const question = questionOf(pod, this.view);
    const promised = pod.pod.status?.nominatedNodeName ?? "";
    const own = promised === "" ? undefined : this.view.node(promised);
    if (own?.node !== undefined && refusalOf(question, own) === undefined) return { node: own.name };
    const nodes = this.view.nodes();
    const enough = sampleSize(nodes.length);
    const refusals = new Map<string, Refusal>();
    const feasible: NodeInfo[] = [];
    let looked = 0;
    for (; looked < nodes.length && feasible.length < enough; looked++) {
      const info = nodes[(this.next + looked) % nodes.length] as NodeInfo;
      const refusal = refusalOf(question, info);
      if (refusal === undefined) feasible.push(info);
      else refusals.set(info.name, refusal);
    }
    if (nodes.length > 0) this.next = (this.next + looked) % nodes.length;
    const [only] = feasible;
    if (only === undefined) return { refusals, plugins: new Set([...refusals.values()].map(({ plugin }) => plugin)) };
    return {
      node: feasible.length === 1 ? only.name : this.best(feasible, scoresOf(question, feasible, this.topology)),
    };
  }

  private best(nodes: readonly NodeInfo[], scores: readonly number[]): string {
    let high = -Infinity;
    let best: NodeInfo[] = [];
    for (let at = 0; at < nodes.length; at++) {
      const score = scores[at] as number;
      if (score < high) continue;
      if (score > high) best = [];
      high = score;
      best.push(nodes[at] as NodeInfo);
    }
    return (best[this.prng.intInclusive(0, best.length - 1)] as NodeInfo).name;
  }
}

/** Of a large cluster it is enough to look at a part. */
function sampleSize(count: number): number {
  if (count < 100) return count;
  const percent = Math.max(5, 50 - Math.floor(count / 125));
  return Math.max(100, Math.floor((count * percent) / 100));
}

/** `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable.` */
export function messageOf({ refusals }: Unplaced, nodeCount: number): string {
  if (nodeCount === 0) return "no nodes available to schedule pods";
  const counts = new Map<string, number>();
  for (const { reasons } of refusals.values()) {
    for (const reason of reasons) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return availability(nodeCount, counts);
}

export function availability(nodeCount: number, counts: ReadonlyMap<string, number>): string {
  const parts = [...counts].map(([reason, count]) => `${count} ${reason}`).sort();
  return `0/${nodeCount} nodes are available: ${parts.join(", ")}.`;
}
