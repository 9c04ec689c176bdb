/**
 * Which pods go to make room for a critical one that the node lacks resources for. A pure function.
 * Source: the facts, Admission; the published agent's choice, by distance from what is lacking.
 */
import type { ActivePod, PodRequests, QosClass } from "../ports.ts";
import { podOf } from "./pod-types.ts";

/** What is lacking of one resource, in the unit of the requests. */
export interface Lack {
  readonly resource: string;
  readonly amount: number;
}

export type Preemption = { readonly victims: readonly ActivePod[] } | { readonly error: string };

/** Of the cheapest classes first, and of each class no more than what the others cannot give. */
export function preemptionFor(
  pod: ActivePod,
  others: readonly ActivePod[],
  lacks: readonly Lack[],
  mayGo: typeof isPreemptable = isPreemptable,
): Preemption {
  const candidates = others.filter((other) => mayGo(pod, other));
  const unmet = without(lacks, candidates);
  if (unmet.length > 0) {
    const list = unmet.map(({ resource, amount }) => `(res: ${resource}, q: ${amount}), `).join("");
    const why = `no set of running pods found to reclaim resources: [${list}]`;
    return { error: `preemption: error finding a set of pods to preempt: ${why}` };
  }
  const of = (qos: QosClass): readonly ActivePod[] => candidates.filter((other) => other.qos === qos);
  const [idle, burstable] = [of("BestEffort"), of("Burstable")];
  const dear = nearest(of("Guaranteed"), without(lacks, [...idle, ...burstable]));
  const middle = nearest(burstable, without(lacks, [...idle, ...dear]));
  const cheap = nearest(idle, without(lacks, [...middle, ...dear]));
  return { victims: [...cheap, ...middle, ...dear] };
}

/** Critical ones before all others; between two of a kind their priorities decide, where both have one. */
export function isPreemptable(pod: ActivePod, other: ActivePod): boolean {
  if (pod.isCritical && !other.isCritical) return true;
  const [own, its] = [podOf(pod.object).spec.priority, podOf(other.object).spec.priority];
  return own !== undefined && its !== undefined && own > its;
}

/** One by one, always the pod that leaves the least to be found; of two alike the one that asks for less. */
export function nearest(pods: readonly ActivePod[], lacks: readonly Lack[]): readonly ActivePod[] {
  const left = new Set(pods);
  const chosen: ActivePod[] = [];
  for (let rest = lacks; rest.length > 0 && left.size > 0; ) {
    let best: ActivePod | undefined;
    let least = Infinity;
    for (const pod of left) {
      const distance = distanceOf(pod, rest);
      if (distance > least || (distance === least && best !== undefined && !isSmaller(pod, best))) continue;
      [best, least] = [pod, distance];
    }
    if (best === undefined) break;
    left.delete(best);
    chosen.push(best);
    rest = without(rest, [best]);
  }
  return chosen;
}

/** Squares of the shares that would still be lacking. */
function distanceOf({ requests }: ActivePod, lacks: readonly Lack[]): number {
  return lacks.reduce((sum, { resource, amount }) => {
    const share = Math.max(0, amount - requestOf(requests, resource)) / amount;
    return sum + share * share;
  }, 0);
}

function without(lacks: readonly Lack[], pods: readonly ActivePod[]): readonly Lack[] {
  return lacks
    .map(({ resource, amount }) => ({
      resource,
      amount: pods.reduce((rest, { requests }) => rest - requestOf(requests, resource), amount),
    }))
    .filter(({ amount }) => amount > 0);
}

function isSmaller({ requests: one }: ActivePod, { requests: other }: ActivePod): boolean {
  if (one.memoryBytes !== other.memoryBytes) return one.memoryBytes < other.memoryBytes;
  return one.milliCpu < other.milliCpu;
}

/** Of one resource, in the unit that it is counted in. */
export function requestOf(requests: PodRequests, resource: string): number {
  if (resource === "pods") return requests.pods;
  if (resource === "cpu") return requests.milliCpu;
  if (resource === "memory") return requests.memoryBytes;
  return resource === "ephemeral-storage" ? requests.ephemeralStorageBytes : (requests.others[resource] ?? 0);
}
