/**
 * Which processors a container gets that wants so many for itself: the published agent's best fit. Whole NUMA nodes and
 * sockets first, then whole cores, then threads of cores that are broken already; what has least left of it comes first.
 * Pure.
 *
 * Source: the 1.33 agent's static policy and its options, as observed by its published cases.
 */
import { ascending, combinations, type Cpu, type CpuSet, onNodes, type Topology, union, without } from "./topology.ts";

export interface TakeOptions {
  /** Threads are spread over cores: none is taken whole while others are untouched. */
  readonly acrossCores?: boolean;
  /** As few last-level caches as can be. */
  readonly byCache?: boolean;
}

/** Of the static policy. */
export interface CpuPolicyOptions {
  readonly wholeCoresOnly: boolean;
  readonly acrossNuma: boolean;
  readonly acrossCores: boolean;
  readonly bySocket: boolean;
  /** Nobody runs on reserved processors, those who share among them. */
  readonly strictReservation: boolean;
  readonly byCache: boolean;
}

export type Taken = { readonly cpus: CpuSet } | { readonly error: string };

export function takePacked(topology: Topology, available: CpuSet, count: number, options: TakeOptions = {}): Taken {
  if (count < 1) return { cpus: [] };
  if (count > available.length) return { error: notEnough(count, available.length) };
  const draft = new Draft(topology, available, count);
  const isNumaFirst = topology.socketCount >= topology.numaCount;
  for (const part of isNumaFirst ? (["numa", "socket"] as const) : (["socket", "numa"] as const)) {
    draft.takeWhole(part);
  }
  if (options.byCache === true) draft.takeCaches();
  if (options.acrossCores === true) draft.takeAcrossCores();
  else draft.takeWhole("core");
  draft.takeRest();
  return { cpus: draft.taken() };
}

const notEnough = (count: number, available: number): string =>
  `not enough cpus available to satisfy request: requested=${count}, available=${available}`;

type Part = "numa" | "socket" | "core" | "cache";

class Draft {
  private readonly topology: Topology;
  private readonly free: Set<number>;
  private readonly result: number[] = [];
  private missing: number;
  private readonly isNumaFirst: boolean;

  constructor(topology: Topology, available: CpuSet, count: number) {
    this.topology = topology;
    this.free = new Set(available);
    this.missing = count;
    this.isNumaFirst = topology.socketCount >= topology.numaCount;
  }

  taken(): CpuSet {
    return this.result.sort(ascending);
  }

  /** Parts of which nothing is taken yet, as long as so many are missing as one has. */
  takeWhole(part: Part): void {
    const whole = group(this.topology.cpus, part);
    for (const id of this.ordered(part)) {
      const cpus = whole.get(id) ?? [];
      if (this.missing >= cpus.length && cpus.every((cpu) => this.free.has(cpu.id))) this.take(cpus);
    }
  }

  /** Whole caches, then the first that holds what is still missing in whole cores. */
  takeCaches(): void {
    const { threadsPerCore } = this.topology;
    for (const cache of this.ordered("cache")) {
      if (this.missing === 0) return;
      this.takeWhole("cache");
      if (this.missing === 0) return;
      const cores = [...group(this.freeCpus(), "core").entries()].filter(([, [first]]) => first?.cache === cache);
      const wanted = cores
        .toSorted(([one], [other]) => one - other)
        .slice(0, Math.ceil(this.missing / threadsPerCore))
        .flatMap(([, cpus]) => cpus)
        .toSorted((one, other) => one.id - other.id);
      if (this.missing % 2 !== 0 && threadsPerCore > 1 && wanted.length > this.missing) wanted.pop();
      if (wanted.length === this.missing) this.take(wanted);
    }
  }

  /** Within a socket by number, whatever the core: the first threads of all cores come before the second ones. */
  takeAcrossCores(): void {
    for (const socket of this.ordered("socket")) {
      this.take(
        this.freeCpus()
          .filter((cpu) => cpu.socket === socket)
          .slice(0, this.missing),
      );
    }
  }

  takeRest(): void {
    if (this.missing === 0) return;
    const byCore = group(this.freeCpus(), "core");
    for (const core of this.ordered("core")) {
      this.take((byCore.get(core) ?? []).slice(0, this.missing));
      if (this.missing === 0) return;
    }
  }

  /** Parts with something free: those with least of it first; cores within what they lie in. */
  private ordered(part: Part): readonly number[] {
    const free = this.freeCpus();
    const byLeast = (cpus: readonly Cpu[], of: Part): readonly (readonly [number, readonly Cpu[]])[] =>
      [...group(cpus, of)].toSorted(([one, left], [other, right]) => left.length - right.length || one - other);
    const chain: readonly Part[] = this.isNumaFirst ? ["numa", "socket"] : ["socket", "numa"];
    const outer = chain.includes(part) ? chain.slice(0, chain.indexOf(part)) : chain;
    let groups: readonly (readonly [number, readonly Cpu[]])[] = [[0, free]];
    for (const of of [...outer, part]) groups = groups.flatMap(([, cpus]) => byLeast(cpus, of));
    return groups.map(([id]) => id);
  }

  private freeCpus(): readonly Cpu[] {
    return this.topology.cpus.filter(({ id }) => this.free.has(id));
  }

  private take(cpus: readonly Cpu[]): void {
    for (const { id } of cpus) {
      this.free.delete(id);
      this.result.push(id);
    }
    this.missing -= cpus.length;
  }
}

function group(cpus: readonly Cpu[], part: Part): ReadonlyMap<number, readonly Cpu[]> {
  const groups = new Map<number, Cpu[]>();
  for (const cpu of cpus) {
    const known = groups.get(cpu[part]);
    if (known === undefined) groups.set(cpu[part], [cpu]);
    else known.push(cpu);
  }
  return groups;
}

/** The same number of each of as few NUMA nodes as can give so many; in groups of `size`, which are whole cores. */
export function takeDistributed(
  topology: Topology,
  available: CpuSet,
  count: number,
  size: number,
  options: TakeOptions = {},
): Taken {
  if (count % size !== 0) return takePacked(topology, available, count, options);
  if (count < 1) return { cpus: [] };
  if (count > available.length) return { error: notEnough(count, available.length) };
  const free = new Map(topology.numaNodes.map((node) => [node, onNodes(topology, available, [node])]));
  const freeOf = (node: number): number => free.get(node)?.length ?? 0;
  const nodes = nodesInOrder(topology, available);
  const groupCount = Math.ceil(count / size);
  const groupsPerNode = Math.ceil(Math.ceil(topology.cpus.length / size) / topology.numaCount);
  const fewest = Math.ceil(groupCount / groupsPerNode);
  for (let k = fewest; k <= Math.min(groupCount, nodes.length); k++) {
    const even = Math.floor(count / k / size) * size;
    let best: Spread | undefined;
    combinations(nodes, k, (combo) => {
      if (best?.balance === 0) return true;
      const total = combo.reduce((sum, node) => sum + freeOf(node), 0);
      const inGroups = combo.reduce((sum, node) => sum + Math.floor(freeOf(node) / size) * size, 0);
      if (total < count || inGroups < count || combo.some((node) => freeOf(node) < even)) return false;
      const spread = spreadOver(combo, nodes, freeOf, { even, size, rest: count - even * k });
      if (spread !== undefined && spread.balance < (best?.balance ?? Infinity)) best = spread;
      return false;
    });
    if (best !== undefined) return { cpus: dealOut(topology, available, best, { even, size, options, count }) };
  }
  return takePacked(topology, available, count, options);
}

interface Spread {
  readonly combo: readonly number[];
  /** Which of them give what is left over. */
  readonly extra: readonly number[];
  /** How unlike the nodes are afterwards. */
  readonly balance: number;
}

function spreadOver(
  combo: readonly number[],
  nodes: readonly number[],
  freeOf: (node: number) => number,
  { even, size, rest }: { readonly even: number; readonly size: number; readonly rest: number },
): Spread | undefined {
  const after = new Map(nodes.map((node) => [node, freeOf(node) - (combo.includes(node) ? even : 0)]));
  if (rest === 0) return { combo, extra: [], balance: deviation([...after.values()]) };
  const able = combo.filter((node) => (after.get(node) ?? 0) >= size);
  let best: Spread | undefined;
  for (let k = able.length; k >= 1; k--) {
    combinations(able, k, (extra) => {
      if (extra.reduce((sum, node) => sum + (after.get(node) ?? 0), 0) < rest) return false;
      const left = new Map(after);
      let missing = rest;
      for (let wasTaken = true; missing > 0 && wasTaken; ) {
        wasTaken = false;
        for (const node of extra) {
          const has = left.get(node) ?? 0;
          if (missing === 0 || has < size) continue;
          left.set(node, has - size);
          missing -= size;
          wasTaken = true;
        }
      }
      if (missing > 0) return false;
      const balance = deviation([...left.values()]);
      if (balance < (best?.balance ?? Infinity)) best = { combo, extra, balance };
      return false;
    });
  }
  return best;
}

function dealOut(
  topology: Topology,
  available: CpuSet,
  { combo, extra }: Spread,
  {
    even,
    size,
    options,
    count,
  }: { readonly even: number; readonly size: number; readonly options: TakeOptions; readonly count: number },
): CpuSet {
  let left = available;
  let result: CpuSet = [];
  const take = (node: number, many: number): void => {
    const taken = takePacked(topology, onNodes(topology, left, [node]), many, options);
    if ("error" in taken) return;
    result = union(result, taken.cpus);
    left = without(left, taken.cpus);
  };
  for (const node of combo) take(node, even);
  for (let before = -1; result.length < count && before !== result.length; ) {
    before = result.length;
    for (const node of extra) {
      if (result.length < count && onNodes(topology, left, [node]).length >= size) take(node, size);
    }
  }
  return result;
}

/** Nodes with something free, in the order in which packing would look at them. */
function nodesInOrder(topology: Topology, available: CpuSet): readonly number[] {
  const free = new Set(available);
  const cpus = topology.cpus.filter(({ id }) => free.has(id));
  const byLeast = (part: Part, among: readonly Cpu[]): readonly (readonly [number, readonly Cpu[]])[] =>
    [...group(among, part)].toSorted(([one, left], [other, right]) => left.length - right.length || one - other);
  if (topology.socketCount >= topology.numaCount) return byLeast("numa", cpus).map(([node]) => node);
  return byLeast("socket", cpus).flatMap(([, among]) => byLeast("numa", among).map(([node]) => node));
}

const thousandth = (value: number): number => Math.round(value * 1000) / 1000;

/** Rounded to thousandths, and its mean as well. */
function deviation(values: readonly number[]): number {
  const mean = thousandth(values.reduce((sum, value) => sum + value, 0) / values.length);
  const squares = values.reduce((sum, value) => sum + (value - mean) * (value - mean), 0);
  return thousandth(Math.sqrt(squares / values.length));
}
