/**
 * Which NUMA nodes would do for a resource, and what is best for all resources of a container together. Pure.
 *
 * A mask is a set of NUMA nodes as the bits of an integer. Source: the 1.33 agent's topology manager, as observed by its
 * published cases.
 */

export type Mask = number;

export interface Hint {
  /** Undefined: any node will do. */
  readonly nodes: Mask | undefined;
  readonly isPreferred: boolean;
}

/**
 * Of one resource. Undefined: it does not care. Empty: there is no way at all.
 */
export type Hints = readonly Hint[] | undefined;

export type TopologyPolicy = "none" | "best-effort" | "restricted" | "single-numa-node";

export interface TopologyWishes {
  readonly policy: TopologyPolicy;
  /** Nodes that are close to each other, before those with lower numbers. */
  readonly prefersClosest: boolean;
  /** How far two nodes are from each other. */
  readonly distance: (one: number, other: number) => number;
}

export const maskOf = (nodes: readonly number[]): Mask => nodes.reduce((mask, node) => mask | (1 << node), 0);

export function nodesOf(mask: Mask): readonly number[] {
  const nodes: number[] = [];
  for (let node = 0; mask >> node !== 0; node++) if (((mask >> node) & 1) === 1) nodes.push(node);
  return nodes;
}

export function bitCount(mask: Mask): number {
  let count = 0;
  for (let rest = mask; rest !== 0; rest &= rest - 1) count++;
  return count;
}

/** Every set of these nodes with something in it: small ones first, then by their lower nodes. */
export function allMasks(nodes: readonly number[]): readonly Mask[] {
  const whole = maskOf(nodes);
  const masks: Mask[] = [];
  for (let mask = 1; mask <= whole; mask++) if ((mask & ~whole) === 0) masks.push(mask);
  return masks.sort((one, other) => bitCount(one) - bitCount(other) || one - other);
}

/** Fewer nodes; of as many, those with the lower numbers. */
export function isNarrower(one: Mask, other: Mask): boolean {
  const [few, many] = [bitCount(one), bitCount(other)];
  return few === many ? one < other : few < many;
}

/** The best for all of them, and whether a pod may run with it. `whole`: all nodes of the machine. */
export function mergeHints(
  resources: readonly Hints[],
  whole: Mask,
  wishes: TopologyWishes,
): { readonly hint: Hint; readonly isAdmitted: boolean } {
  const { policy } = wishes;
  const single = policy === "single-numa-node";
  const filtered = resources
    .map((hints): readonly Hint[] => {
      if (hints === undefined) return [{ nodes: undefined, isPreferred: true }];
      return hints.length === 0 ? [{ nodes: undefined, isPreferred: false }] : hints;
    })
    .map((hints) => (single ? hints.filter(isSingle) : hints));
  const best = bestOf(filtered, whole, wishes);
  // On a machine of one node this is that node, and any.
  const hint = single && best.nodes === whole ? { ...best, nodes: undefined } : best;
  return { hint, isAdmitted: policy === "none" || policy === "best-effort" || hint.isPreferred };
}

const isSingle = ({ nodes, isPreferred }: Hint): boolean =>
  isPreferred && (nodes === undefined || bitCount(nodes) === 1);

interface Merged {
  readonly nodes: Mask;
  readonly isPreferred: boolean;
}

function bestOf(resources: readonly (readonly Hint[])[], whole: Mask, wishes: TopologyWishes): Merged {
  const isBetter = comparison(resources, wishes);
  // Combinations come to few different sets of nodes, however many there are.
  let partial = new Map<
    string,
    { readonly all: Mask; readonly first: Mask | undefined; readonly isPreferred: boolean }
  >([["", { all: whole, first: undefined, isPreferred: true }]]);
  for (const hints of resources) {
    const next: typeof partial = new Map();
    for (const before of partial.values()) {
      for (const { nodes, isPreferred } of hints) {
        const first = before.first ?? nodes;
        const isSame = nodes === undefined || nodes === first;
        const merged = {
          all: nodes === undefined ? before.all : before.all & nodes,
          first,
          isPreferred: before.isPreferred && isPreferred && isSame,
        };
        next.set(`${merged.all} ${merged.first} ${merged.isPreferred}`, merged);
      }
    }
    partial = next;
  }
  let best: Merged | undefined;
  for (const { all, isPreferred } of partial.values()) {
    if (all === 0) continue;
    const candidate = { nodes: all, isPreferred };
    if (best === undefined || isBetter(candidate, best)) best = candidate;
  }
  return best ?? { nodes: whole, isPreferred: false };
}

/** Preferred ones first. Among the others, those with as many nodes as the most demanding resource needs at least. */
function comparison(
  resources: readonly (readonly Hint[])[],
  { policy, prefersClosest, distance }: TopologyWishes,
): (candidate: Merged, best: Merged) => boolean {
  const wanted = resources.reduce((most, hints) => Math.max(most, leastCount(hints)), 0);
  const isFitter = (candidate: Mask, best: Mask): boolean => {
    if (candidate === best) return false;
    const isByDistance = prefersClosest && policy !== "single-numa-node" && bitCount(candidate) === bitCount(best);
    const [near, far] = isByDistance ? [meanDistance(candidate, distance), meanDistance(best, distance)] : [0, 0];
    return near === far ? isNarrower(candidate, best) : near < far;
  };
  return (candidate, best) => {
    if (candidate.isPreferred !== best.isPreferred) return candidate.isPreferred;
    if (candidate.isPreferred) return isFitter(candidate.nodes, best.nodes);
    const [has, had] = [bitCount(candidate.nodes), bitCount(best.nodes)];
    if (had > wanted) return isFitter(candidate.nodes, best.nodes);
    if (had === wanted) return has === wanted && isFitter(candidate.nodes, best.nodes);
    if (has > wanted) return false;
    if (has !== had) return has > had;
    return isFitter(candidate.nodes, best.nodes);
  };
}

function leastCount(hints: readonly Hint[]): number {
  const counts = hints.flatMap(({ nodes }) => (nodes === undefined ? [] : [bitCount(nodes)]));
  return counts.length === 0 ? 0 : counts.reduce((least, count) => Math.min(least, count));
}

/** Of all pairs, a node with itself among them. */
function meanDistance(mask: Mask, distance: (one: number, other: number) => number): number {
  const nodes = nodesOf(mask);
  let sum = 0;
  for (const one of nodes) for (const other of nodes) sum += distance(one, other);
  return sum / (nodes.length * nodes.length);
}
