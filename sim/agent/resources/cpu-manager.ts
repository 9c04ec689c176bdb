/**
 * Processors for single containers: of pods of the class Guaranteed, those containers that ask for whole ones have them
 * for themselves; all others share the rest. Policy `static` alone; without it nobody is told of processors.
 *
 * Source: document 3, --cpu-manager-policy and its options, --reserved-cpus; the 1.33 agent's policy and texts, as observed
 * by its published cases.
 */
import { cpuListText } from "../../../wire/cpu-list.ts";
import { type CpuPolicyOptions, takeDistributed, takePacked, type Taken } from "./cpu-assignment.ts";
import { allMasks, bitCount, type Hint, type Hints, nodesOf, type Mask } from "./hints.ts";
import type { ContainerAsk, PodAsk } from "./asks.ts";
import { common, cpusOf, type CpuSet, equal, onNodes, type Topology, union, unionOf, without } from "./topology.ts";

/** Processors by pod and container. */
export type CpuEntries = ReadonlyMap<string, ReadonlyMap<string, CpuSet>>;

export interface CpuState {
  /** What those share that have none for themselves. */
  readonly shared: CpuSet;
  readonly entries: CpuEntries;
}

/** Why a container gets nothing: its pod may not run here. */
export interface CannotAllocate {
  readonly reason: "SMTAlignmentError" | "UnexpectedAdmissionError";
  readonly message: string;
}

export class CpuManager {
  readonly reserved: CpuSet;
  private readonly topology: Topology;
  private readonly options: CpuPolicyOptions;
  private shared: CpuSet;
  private readonly entries = new Map<string, Map<string, CpuSet>>();
  /** Of the pod that is let in at the moment: what its init containers leave behind. */
  private reusable: { readonly uid: string; readonly cpus: CpuSet } = { uid: "", cpus: [] };

  /** `reserved` is what `reservedCpus` came to. */
  constructor(topology: Topology, reserved: CpuSet, options: CpuPolicyOptions) {
    this.topology = topology;
    this.reserved = reserved;
    this.options = options;
    this.shared = this.everyShared();
  }

  get state(): CpuState {
    return { shared: this.shared, entries: this.entries };
  }

  /** Takes up what an earlier life has written down; a sentence where it does not fit this machine and these settings. */
  restore({ shared, entries }: CpuState): string | undefined {
    if (shared.length === 0 && entries.size === 0) return undefined;
    if (shared.length === 0) return "default cpuset cannot be empty";
    const problem = this.misfit({ shared, entries });
    if (problem !== undefined) return problem;
    this.shared = shared;
    for (const [uid, containers] of entries) this.entries.set(uid, new Map(containers));
    return undefined;
  }

  private misfit({ shared, entries }: CpuState): string | undefined {
    const { reserved, topology } = this;
    const there = common(reserved, shared);
    if (this.options.strictReservation) {
      if (there.length > 0) {
        return `some of strictly reserved cpus: "${cpuListText(there)}" are present in defaultCpuSet: "${cpuListText(shared)}"`;
      }
    } else if (!equal(there, reserved)) {
      return `not all reserved cpus: "${cpuListText(reserved)}" are present in defaultCpuSet: "${cpuListText(shared)}"`;
    }
    for (const [pod, containers] of entries) {
      for (const [container, cpus] of containers) {
        if (common(cpus, shared).length === 0) continue;
        return `pod: ${pod}, container: ${container} cpuset: "${cpuListText(cpus)}" overlaps with default cpuset "${cpuListText(shared)}"`;
      }
    }
    const known = unionOf([shared, ...[...entries.values()].flatMap((containers) => [...containers.values()])]);
    const all = this.options.strictReservation ? without(cpusOf(topology), reserved) : cpusOf(topology);
    if (equal(known, all)) return undefined;
    return `current set of available CPUs "${cpuListText(all)}" doesn't match with CPUs in state "${cpuListText(known)}"`;
  }

  /** What a container runs on; undefined for none that is known. */
  cpusOf(uid: string, container: string): CpuSet {
    return this.entries.get(uid)?.get(container) ?? this.shared;
  }

  hasOwn(uid: string, container: string): boolean {
    return this.entries.get(uid)?.has(container) === true;
  }

  hints(pod: PodAsk, container: ContainerAsk): Hints {
    const count = ownCount(pod, container);
    if (count === 0) return undefined;
    const held = this.entries.get(pod.uid)?.get(container.name);
    if (held !== undefined) return held.length === count ? this.hintsFor(held, [], count) : [];
    return this.hintsFor(this.available(), this.reusableOf(pod.uid), count);
  }

  podHints(pod: PodAsk): Hints {
    const count = podCount(pod);
    if (count === 0) return undefined;
    let assigned: CpuSet = [];
    for (const container of pod.containers) {
      const held = this.entries.get(pod.uid)?.get(container.name);
      if (held === undefined) continue;
      if (held.length !== ownCount(pod, container)) return [];
      assigned = union(assigned, held);
    }
    if (assigned.length === count) return this.hintsFor(assigned, [], count);
    return this.hintsFor(this.available(), union(this.reusableOf(pod.uid), assigned), count);
  }

  /** Sets of nodes with enough; preferred are those with as few nodes, or sockets, as the machine makes possible. */
  private hintsFor(available: CpuSet, reusable: CpuSet, count: number): readonly Hint[] {
    const { topology } = this;
    let fewest = topology.numaCount;
    const masks: Mask[] = [];
    const all = cpusOf(topology);
    for (const mask of allMasks(topology.numaNodes)) {
      const nodes = nodesOf(mask);
      if (onNodes(topology, all, nodes).length >= count) fewest = Math.min(fewest, nodes.length);
      if (onNodes(topology, reusable, nodes).length < reusable.length) continue;
      const free = onNodes(topology, without(available, reusable), nodes).length + reusable.length;
      if (free >= count) masks.push(mask);
    }
    const isPreferred = (mask: Mask): boolean =>
      bitCount(mask) === fewest || (this.options.bySocket && this.isBySocket(nodesOf(mask), fewest));
    return masks.map((nodes) => ({ nodes, isPreferred: isPreferred(nodes) }));
  }

  /** Of as few sockets as that many nodes need. */
  private isBySocket(nodes: readonly number[], fewestNodes: number): boolean {
    const { topology } = this;
    const nodesPerSocket = Math.floor(topology.numaCount / topology.socketCount);
    return nodesPerSocket > 0 && socketsOf(topology, nodes).size === Math.ceil(fewestNodes / nodesPerSocket);
  }

  /** `nodes`: where they should lie; undefined: anywhere. The same again changes nothing. */
  allocate(pod: PodAsk, container: ContainerAsk, nodes: Mask | undefined): CannotAllocate | undefined {
    const count = ownCount(pod, container);
    if (count === 0) return undefined;
    const held = this.entries.get(pod.uid)?.get(container.name);
    if (held !== undefined) {
      this.reuse(pod, container, held);
      return undefined;
    }
    const misaligned = this.misalignment(count, this.reusableOf(pod.uid));
    if (misaligned !== undefined) return { reason: "SMTAlignmentError", message: misaligned };
    const taken = this.choose(count, nodes, this.reusableOf(pod.uid));
    if ("error" in taken) {
      const message = `Allocate failed due to ${taken.error}, which is unexpected`;
      return { reason: "UnexpectedAdmissionError", message };
    }
    this.shared = without(this.shared, taken.cpus);
    const containers = this.entries.get(pod.uid) ?? new Map<string, CpuSet>();
    this.entries.set(pod.uid, containers.set(container.name, taken.cpus));
    this.reuse(pod, container, taken.cpus);
    return undefined;
  }

  private misalignment(count: number, reusable: CpuSet): string | undefined {
    const { threadsPerCore } = this.topology;
    if (!this.options.wholeCoresOnly) return undefined;
    if (count % threadsPerCore !== 0) {
      return `SMT Alignment Error: requested ${count} cpus not multiple cpus per core = ${threadsPerCore}`;
    }
    // Of a core of which a thread is reserved, the other cannot be had whole.
    const cores = new Set(this.reserved.map((cpu) => this.topology.byId.get(cpu)?.core));
    const whole = union(this.shared, reusable).filter((cpu) => !cores.has(this.topology.byId.get(cpu)?.core));
    if (count <= whole.length) return undefined;
    return `SMT Alignment Error: not enough free physical CPUs: available physical CPUs = ${whole.length}, requested CPUs = ${count}, CPUs per core = ${threadsPerCore}`;
  }

  private choose(count: number, nodes: Mask | undefined, reusable: CpuSet): Taken {
    const { topology } = this;
    const all = union(this.available(), reusable);
    let taken: CpuSet = [];
    if (nodes !== undefined) {
      const aligned = this.options.bySocket
        ? onSockets(topology, all, nodesOf(nodes))
        : onNodes(topology, all, nodesOf(nodes));
      const first = this.take(aligned, Math.min(count, aligned.length));
      if ("error" in first) return first;
      taken = first.cpus;
    }
    const rest = this.take(without(all, taken), count - taken.length);
    return "error" in rest ? rest : { cpus: union(taken, rest.cpus) };
  }

  private take(available: CpuSet, count: number): Taken {
    const { wholeCoresOnly, acrossNuma, acrossCores, byCache } = this.options;
    const more = { acrossCores, byCache };
    if (!acrossNuma) return takePacked(this.topology, available, count, more);
    return takeDistributed(this.topology, available, count, wholeCoresOnly ? this.topology.threadsPerCore : 1, more);
  }

  /** What init containers had is there for those after them; what others have is not. */
  private reuse({ uid }: PodAsk, { kind }: ContainerAsk, cpus: CpuSet): void {
    const before = this.reusableOf(uid);
    this.reusable = { uid, cpus: kind === "init" ? union(before, cpus) : without(before, cpus) };
  }

  private reusableOf(uid: string): CpuSet {
    return this.reusable.uid === uid ? this.reusable.cpus : [];
  }

  /** Gives back what pods have that are not among these; true when anything changed. */
  keepOnly(uids: ReadonlySet<string>): boolean {
    const gone = [...this.entries.keys()].filter((uid) => !uids.has(uid));
    for (const uid of gone) {
      this.shared = unionOf([this.shared, ...(this.entries.get(uid)?.values() ?? [])]);
      this.entries.delete(uid);
    }
    return gone.length > 0;
  }

  private available(): CpuSet {
    return without(this.shared, this.reserved);
  }

  private everyShared(): CpuSet {
    const all = cpusOf(this.topology);
    return this.options.strictReservation ? without(all, this.reserved) : all;
  }
}

function socketsOf({ cpus }: Topology, nodes: readonly number[]): ReadonlySet<number> {
  return new Set(cpus.filter(({ numa }) => nodes.includes(numa)).map(({ socket }) => socket));
}

/** Those of a set that lie on a socket with one of these nodes. */
function onSockets(topology: Topology, set: CpuSet, nodes: readonly number[]): CpuSet {
  const sockets = socketsOf(topology, nodes);
  return set.filter((cpu) => sockets.has(topology.byId.get(cpu)?.socket ?? -1));
}

/** How many a container has for itself; 0: it shares. */
function ownCount({ isGuaranteed }: PodAsk, { milliCpu }: ContainerAsk): number {
  return isGuaranteed && milliCpu % 1000 === 0 ? milliCpu / 1000 : 0;
}

/** At its greatest moment: init containers one after the other beside the sidecars before them, or all the others. */
function podCount(pod: PodAsk): number {
  let sidecars = 0;
  let peak = 0;
  let regular = 0;
  for (const container of pod.containers) {
    const count = ownCount(pod, container);
    if (container.kind === "sidecar") sidecars += count;
    else if (container.kind === "init") peak = Math.max(peak, sidecars + count);
    else regular += count;
  }
  return Math.max(peak, regular + sidecars);
}

/** The processors that are kept for others: these, or so many as low cores have. */
export function reservedCpus(
  topology: Topology,
  {
    explicit,
    count,
    options,
  }: { readonly explicit: CpuSet; readonly count: number; readonly options: CpuPolicyOptions },
): Taken {
  const all = cpusOf(topology);
  if (explicit.length > 0) {
    const unknown = without(explicit, all);
    if (unknown.length === 0) return { cpus: explicit };
    return {
      error: `the reserved processors "${cpuListText(unknown)}" are not among those of the machine: "${cpuListText(all)}"`,
    };
  }
  const { acrossNuma, acrossCores, byCache, wholeCoresOnly } = options;
  const taken = acrossNuma
    ? takeDistributed(topology, all, count, wholeCoresOnly ? topology.threadsPerCore : 1, { acrossCores, byCache })
    : takePacked(topology, all, count, { acrossCores, byCache });
  if ("cpus" in taken) return taken;
  return { error: `[cpumanager] unable to reserve the required amount of CPUs: ${taken.error}` };
}
