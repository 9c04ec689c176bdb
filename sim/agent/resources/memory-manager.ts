/**
 * Memory of NUMA nodes for containers of pods of the class Guaranteed. A node serves either containers that lie on it
 * alone, or groups of nodes together: never both. Policy `Static` alone.
 *
 * Source: document 3, --memory-manager-policy, --reserved-memory; the 1.33 agent's policy and texts, as observed.
 */
import type { ContainerAsk, PodAsk } from "./asks.ts";
import type { CannotAllocate } from "./cpu-manager.ts";
import { allMasks, bitCount, type Hint, type Hints, isNarrower, type Mask, maskOf, nodesOf } from "./hints.ts";

export interface MemoryTable {
  readonly total: number;
  readonly systemReserved: number;
  readonly allocatable: number;
  readonly reserved: number;
  readonly free: number;
}

export interface NodeMemory {
  readonly numberOfAssignments: number;
  readonly memoryMap: Readonly<Record<string, MemoryTable>>;
  /** The nodes that it serves together with; itself alone where it does not. */
  readonly cells: readonly number[];
}

export interface MemoryBlock {
  readonly numaAffinity: readonly number[];
  readonly type: string;
  readonly size: number;
}

export interface MemoryState {
  readonly nodes: ReadonlyMap<number, NodeMemory>;
  readonly entries: ReadonlyMap<string, ReadonlyMap<string, readonly MemoryBlock[]>>;
}

type Amounts = Readonly<Record<string, number>>;

export class MemoryManager {
  private readonly fresh: ReadonlyMap<number, NodeMemory>;
  private nodes: Map<number, NodeMemory>;
  private readonly entries = new Map<string, Map<string, readonly MemoryBlock[]>>();
  /** Of the pod that is let in at the moment: what its init containers leave behind, by mask and resource. */
  private reusable: { readonly uid: string; readonly left: Map<string, number> } = { uid: "", left: new Map() };

  /** Bytes of each node, and what of each is kept for others. */
  constructor(totals: readonly number[], reserved: ReadonlyMap<number, number>) {
    this.fresh = new Map(
      totals.map((total, node) => {
        const systemReserved = reserved.get(node) ?? 0;
        const allocatable = Math.max(0, total - systemReserved);
        const memory = { total, systemReserved, allocatable, reserved: 0, free: allocatable };
        return [node, { numberOfAssignments: 0, memoryMap: { memory }, cells: [node] }];
      }),
    );
    this.nodes = new Map(this.fresh);
  }

  get state(): MemoryState {
    return { nodes: this.nodes, entries: this.entries };
  }

  /** Takes up what an earlier life has written down; a sentence where it does not fit this machine and these settings. */
  restore({ nodes, entries }: MemoryState): string | undefined {
    if (nodes.size === 0) {
      return entries.size === 0
        ? undefined
        : "[memorymanager] machine state can not be empty when it has memory assignments";
    }
    let expected: ReadonlyMap<number, NodeMemory> = this.fresh;
    for (const [pod, containers] of entries) {
      for (const [container, blocks] of containers) {
        for (const { numaAffinity, type, size } of blocks) {
          const where = `[memorymanager] (pod: ${pod}, container: ${container}) the memory assignment uses`;
          if (!numaAffinity.every((node) => expected.has(node))) return `${where} the NUMA that does not exist`;
          if (!numaAffinity.every((node) => expected.get(node)?.memoryMap[type] !== undefined))
            return `${where} memory resource that does not exist`;
          expected = assign(expected, numaAffinity, type, size);
        }
      }
    }
    if (!isSame(nodes, expected)) return "[memorymanager] the expected machine state is different from the real one";
    this.nodes = new Map(nodes);
    for (const [uid, containers] of entries) this.entries.set(uid, new Map(containers));
    return undefined;
  }

  /** Nodes that a container's memory comes from, ascending; none: it may come from any. */
  nodesOf(uid: string, container: string): readonly number[] {
    const blocks = this.entries.get(uid)?.get(container) ?? [];
    return nodesOf(maskOf(blocks.flatMap(({ numaAffinity }) => numaAffinity)));
  }

  hints(pod: PodAsk, container: ContainerAsk): readonly Hints[] {
    if (!pod.isGuaranteed) return [undefined];
    const held = this.entries.get(pod.uid)?.get(container.name);
    return held === undefined ? this.hintsFor(pod.uid, container.memory) : heldHints(held, container.memory);
  }

  podHints(pod: PodAsk): readonly Hints[] {
    if (!pod.isGuaranteed) return [undefined];
    const asked = podAmounts(pod);
    for (const { name } of pod.containers) {
      const held = this.entries.get(pod.uid)?.get(name);
      if (held !== undefined) return heldHints(held, asked);
    }
    return this.hintsFor(pod.uid, asked);
  }

  /** One list for each resource, all the same. Where no node would do, nothing is said at all: allocation tells then. */
  private hintsFor(uid: string, asked: Amounts): readonly Hints[] {
    const hints = this.possible(uid, asked);
    return hints.length === 0 ? [undefined] : Object.keys(asked).map(() => hints);
  }

  private possible(uid: string, asked: Amounts): readonly Hint[] {
    const wanted = Object.entries(asked);
    if (wanted.length === 0) return [];
    let fewest = this.nodes.size;
    const masks: Mask[] = [];
    for (const mask of allMasks([...this.nodes.keys()])) {
      const at = nodesOf(mask);
      const sum = (of: (table: MemoryTable) => number, type: string): number =>
        at.reduce((total, node) => {
          const table = this.nodes.get(node)?.memoryMap[type];
          return total + (table === undefined ? 0 : of(table));
        }, 0);
      if (wanted.some(([type, size]) => sum(({ allocatable }) => allocatable, type) < size)) continue;
      fewest = Math.min(fewest, at.length);
      if (!this.isUsableTogether(at)) continue;
      const isFree = wanted.every(
        ([type, size]) => sum(({ free }) => free, type) + this.leftOf(uid, mask, type) >= size,
      );
      if (isFree) masks.push(mask);
    }
    return masks.map((nodes) => ({ nodes, isPreferred: bitCount(nodes) === fewest }));
  }

  private isUsableTogether(nodes: readonly number[]): boolean {
    const [first = 0] = nodes;
    if (nodes.length === 1) return (this.nodes.get(first)?.cells.length ?? 1) === 1;
    return !this.isMixed(nodes);
  }

  /** One of them serves containers by itself, or with other nodes. */
  private isMixed(nodes: readonly number[]): boolean {
    if (nodes.length === 1) return false;
    return nodes.some((node) => {
      const { numberOfAssignments, cells } = this.nodes.get(node) as NodeMemory;
      return numberOfAssignments > 0 && maskOf(cells) !== maskOf(nodes);
    });
  }

  /** `hint`: what the topology manager has come to. The same again changes nothing. */
  allocate(pod: PodAsk, container: ContainerAsk, hint: Hint): CannotAllocate | undefined {
    if (!pod.isGuaranteed) return undefined;
    const held = this.entries.get(pod.uid)?.get(container.name);
    if (held !== undefined) {
      this.reuse(pod, container, held);
      return undefined;
    }
    const nodes = this.choose(pod.uid, container.memory, hint);
    if (typeof nodes === "string") {
      const message = `Allocate failed due to [memorymanager] ${nodes}, which is unexpected`;
      return { reason: "UnexpectedAdmissionError", message };
    }
    const at = nodesOf(nodes);
    const blocks: MemoryBlock[] = [];
    let after: ReadonlyMap<number, NodeMemory> = this.nodes;
    for (const [type, size] of Object.entries(container.memory)) {
      blocks.push({ numaAffinity: at, type, size });
      after = assign(after, at, type, Math.max(0, size - this.leftOf(pod.uid, nodes, type)));
    }
    this.nodes = new Map(after);
    const containers = this.entries.get(pod.uid) ?? new Map<string, readonly MemoryBlock[]>();
    this.entries.set(pod.uid, containers.set(container.name, blocks));
    this.reuse(pod, container, blocks);
    this.lessenInits(pod, container, blocks);
    return undefined;
  }

  private choose(uid: string, asked: Amounts, hint: Hint): Mask | string {
    if (Object.keys(asked).length === 0) return hint.nodes ?? maskOf([...this.nodes.keys()]);
    let { nodes, isPreferred } = hint;
    if (nodes === undefined) {
      const standard = best(this.possible(uid, asked));
      if (standard === undefined)
        return "failed to get the default NUMA affinity, no NUMA nodes with enough memory is available";
      if (!standard.isPreferred && isPreferred) return "failed to find the default preferred hint";
      ({ nodes, isPreferred } = standard);
    }
    let chosen = nodes as Mask;
    if (!this.suffices(chosen, asked)) {
      const wider = best(this.possible(uid, asked).filter((each) => ((each.nodes as Mask) & chosen) === chosen));
      if (wider === undefined) return "failed to find NUMA nodes to extend the current topology hint";
      if (!wider.isPreferred && isPreferred) return "failed to find the extended preferred hint";
      chosen = wider.nodes as Mask;
    }
    return this.isMixed(nodesOf(chosen)) ? "preferred hint violates NUMA node allocation" : chosen;
  }

  private suffices(mask: Mask, asked: Amounts): boolean {
    return Object.entries(asked).every(([type, size]) => {
      const free = nodesOf(mask).reduce((sum, node) => sum + (this.nodes.get(node)?.memoryMap[type]?.free ?? 0), 0);
      return free >= size;
    });
  }

  private leftOf(uid: string, mask: Mask, type: string): number {
    return this.reusable.uid === uid ? (this.reusable.left.get(`${mask} ${type}`) ?? 0) : 0;
  }

  private reuse({ uid }: PodAsk, { kind }: ContainerAsk, blocks: readonly MemoryBlock[]): void {
    if (this.reusable.uid !== uid) this.reusable = { uid, left: new Map() };
    const { left } = this.reusable;
    for (const { numaAffinity, type, size } of blocks) {
      const key = `${maskOf(numaAffinity)} ${type}`;
      const before = left.get(key) ?? 0;
      left.set(key, kind === "init" ? Math.max(before, size) : Math.max(0, before - size));
    }
  }

  /** What a container has taken over from init containers is no longer theirs: the sum of all is what the pod has. */
  private lessenInits({ uid, containers }: PodAsk, container: ContainerAsk, blocks: readonly MemoryBlock[]): void {
    const held = this.entries.get(uid);
    for (const { type, size, numaAffinity } of blocks) {
      let over = size;
      for (const { name, kind } of containers) {
        if (name === container.name || over === 0) break;
        const theirs = kind === "init" ? held?.get(name) : undefined;
        if (theirs === undefined) continue;
        const lessened = theirs.map((block) => {
          if (block.type !== type || maskOf(block.numaAffinity) !== maskOf(numaAffinity)) return block;
          const less = Math.min(block.size, over);
          over -= less;
          return { ...block, size: block.size - less };
        });
        held?.set(name, lessened);
      }
    }
  }

  /** Gives back what pods have that are not among these; true when anything changed. */
  keepOnly(uids: ReadonlySet<string>): boolean {
    const gone = [...this.entries.keys()].filter((uid) => !uids.has(uid));
    for (const uid of gone) {
      for (const blocks of this.entries.get(uid)?.values() ?? []) for (const block of blocks) this.release(block);
      this.entries.delete(uid);
    }
    return gone.length > 0;
  }

  private release({ numaAffinity, type, size }: MemoryBlock): void {
    let left = size;
    for (const id of numaAffinity) {
      const node = this.nodes.get(id);
      const table = node?.memoryMap[type];
      if (node === undefined || table === undefined) continue;
      const numberOfAssignments = node.numberOfAssignments - 1;
      const back = Math.min(left, table.reserved);
      left -= back;
      this.nodes.set(id, {
        numberOfAssignments,
        cells: numberOfAssignments === 0 ? [id] : node.cells,
        memoryMap: {
          ...node.memoryMap,
          [type]: { ...table, free: table.free + back, reserved: table.reserved - back },
        },
      });
    }
  }
}

/** So much of a resource, of the first nodes first. */
function assign(
  nodes: ReadonlyMap<number, NodeMemory>,
  at: readonly number[],
  type: string,
  size: number,
): ReadonlyMap<number, NodeMemory> {
  const after = new Map(nodes);
  let left = size;
  for (const id of at) {
    const node = after.get(id);
    if (node === undefined) continue;
    const table = node.memoryMap[type];
    const part = Math.min(left, table?.free ?? 0);
    left -= part;
    const changed =
      table === undefined ? {} : { [type]: { ...table, free: table.free - part, reserved: table.reserved + part } };
    const numberOfAssignments = node.numberOfAssignments + 1;
    after.set(id, { numberOfAssignments, cells: at, memoryMap: { ...node.memoryMap, ...changed } });
  }
  return after;
}

function heldHints(blocks: readonly MemoryBlock[], asked: Amounts): readonly Hints[] {
  const isAsWanted =
    blocks.length === Object.keys(asked).length && blocks.every(({ type, size }) => asked[type] === size);
  if (!isAsWanted) return [undefined];
  return blocks.map(({ numaAffinity }) => [{ nodes: maskOf(numaAffinity), isPreferred: true }]);
}

function best(hints: readonly Hint[]): Hint | undefined {
  let found: Hint | undefined;
  for (const hint of hints) {
    if (
      found === undefined ||
      (hint.isPreferred && !found.isPreferred) ||
      (hint.isPreferred === found.isPreferred && isNarrower(hint.nodes as Mask, found.nodes as Mask))
    ) {
      found = hint;
    }
  }
  return found;
}

/** At its greatest moment, by resource. */
function podAmounts({ containers }: PodAsk): Amounts {
  const [sidecars, peak, regular] = [new Map<string, number>(), new Map<string, number>(), new Map<string, number>()];
  for (const { kind, memory } of containers) {
    for (const [type, size] of Object.entries(memory)) {
      const beside = sidecars.get(type) ?? 0;
      if (kind === "sidecar") sidecars.set(type, beside + size);
      else if (kind === "init") peak.set(type, Math.max(peak.get(type) ?? 0, beside + size));
      else regular.set(type, (regular.get(type) ?? 0) + size);
    }
  }
  return Object.fromEntries(
    [...regular].map(([type, size]) => [type, Math.max(size + (sidecars.get(type) ?? 0), peak.get(type) ?? 0)]),
  );
}

/** The same machine, and the same sums over nodes that serve together. */
function isSame(one: ReadonlyMap<number, NodeMemory>, other: ReadonlyMap<number, NodeMemory>): boolean {
  if (one.size !== other.size) return false;
  return [...one].every(([id, node]) => {
    const like = other.get(id);
    if (like === undefined || node.numberOfAssignments !== like.numberOfAssignments) return false;
    if (maskOf(node.cells) !== maskOf(like.cells)) return false;
    const types = Object.keys(node.memoryMap);
    if (types.length !== Object.keys(like.memoryMap).length) return false;
    return types.every((type) => {
      const [table, its] = [node.memoryMap[type], like.memoryMap[type]];
      if (table === undefined || its === undefined) return false;
      const sum = (nodes: ReadonlyMap<number, NodeMemory>, of: "free" | "reserved"): number =>
        node.cells.reduce((total, cell) => total + (nodes.get(cell)?.memoryMap[type]?.[of] ?? 0), 0);
      return (
        table.total === its.total &&
        table.systemReserved === its.systemReserved &&
        table.allocatable === its.allocatable &&
        sum(one, "free") === sum(other, "free") &&
        sum(one, "reserved") === sum(other, "reserved")
      );
    });
  });
}
