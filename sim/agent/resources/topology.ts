/** How a machine's processors are put together, and sets of them. Pure. */

export interface Cpu {
  readonly id: number;
  /** Physical core: its processors are threads of one. */
  readonly core: number;
  readonly numa: number;
  readonly socket: number;
  /** Which last-level cache it has a part of. */
  readonly cache: number;
}

export interface Topology {
  /** By ascending id. */
  readonly cpus: readonly Cpu[];
  readonly byId: ReadonlyMap<number, Cpu>;
  readonly numaCount: number;
  readonly socketCount: number;
  readonly threadsPerCore: number;
  /** Ascending. */
  readonly numaNodes: readonly number[];
}

export function topologyOf(cpus: readonly Cpu[]): Topology {
  const sorted = cpus.toSorted((one, other) => one.id - other.id);
  const cores = new Set(sorted.map(({ core }) => core));
  const numaNodes = [...new Set(sorted.map(({ numa }) => numa))].sort(ascending);
  return {
    cpus: sorted,
    byId: new Map(sorted.map((cpu) => [cpu.id, cpu])),
    numaCount: numaNodes.length,
    socketCount: new Set(sorted.map(({ socket }) => socket)).size,
    threadsPerCore: cores.size === 0 ? 1 : Math.floor(sorted.length / cores.size),
    numaNodes,
  };
}

export interface MachineShape {
  readonly milliCpu: number;
  readonly numaNodes: number;
  readonly threadsPerCore: number;
  /** 0: as many as NUMA nodes. */
  readonly sockets: number;
}

/**
 * Numbered as kernels do: first one thread of each core, then the next of each; cores of one NUMA node lie together, and
 * nodes of one socket. Each node has a last-level cache of its own.
 */
export function machineTopology({ milliCpu, numaNodes, threadsPerCore, sockets }: MachineShape): Topology {
  const cpuCount = Math.max(1, Math.floor(milliCpu / 1000));
  const threads = Math.max(1, Math.min(threadsPerCore, cpuCount));
  const coreCount = Math.ceil(cpuCount / threads);
  const nodes = Math.max(1, Math.min(numaNodes, coreCount));
  const socketCount = Math.max(1, Math.min(sockets === 0 ? nodes : sockets, nodes));
  const cpus: Cpu[] = [];
  for (let id = 0; id < cpuCount; id++) {
    const core = id % coreCount;
    const numa = Math.floor((core * nodes) / coreCount);
    cpus.push({ id, core, numa, socket: Math.floor((numa * socketCount) / nodes), cache: numa });
  }
  return topologyOf(cpus);
}

export const ascending = (one: number, other: number): number => one - other;

/** Sets of processors are ascending lists. */
export type CpuSet = readonly number[];

export const cpusOf = ({ cpus }: Topology): CpuSet => cpus.map(({ id }) => id);

export const union = (set: CpuSet, other: CpuSet): CpuSet => unionOf([set, other]);

export function unionOf(sets: readonly CpuSet[]): CpuSet {
  return [...new Set(sets.flat())].sort(ascending);
}

export function without(set: CpuSet, other: CpuSet): CpuSet {
  const gone = new Set(other);
  return set.filter((cpu) => !gone.has(cpu));
}

export function common(set: CpuSet, other: CpuSet): CpuSet {
  const there = new Set(other);
  return set.filter((cpu) => there.has(cpu));
}

export const equal = (set: CpuSet, other: CpuSet): boolean =>
  set.length === other.length && set.every((cpu, at) => cpu === other[at]);

/** Those of a set that lie on one of these NUMA nodes. */
export function onNodes({ byId }: Topology, set: CpuSet, nodes: readonly number[]): CpuSet {
  const wanted = new Set(nodes);
  return set.filter((cpu) => wanted.has(byId.get(cpu)?.numa ?? -1));
}

/** All combinations of so many of the items, in the order of the items; ends early when `visit` returns true. */
export function combinations<Item>(
  items: readonly Item[],
  size: number,
  visit: (combination: readonly Item[]) => boolean,
): void {
  if (size < 1 || size > items.length) return;
  const at = Array.from({ length: size }, (_, index) => index);
  for (;;) {
    if (visit(at.map((index) => items[index] as Item))) return;
    let turn = size - 1;
    while (turn >= 0 && at[turn] === items.length - size + turn) turn--;
    if (turn < 0) return;
    at[turn] = (at[turn] as number) + 1;
    for (let next = turn + 1; next < size; next++) at[next] = (at[next - 1] as number) + 1;
  }
}
