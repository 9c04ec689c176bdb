/**
 * Processors and memory of the machine for single containers: which pods may run here for it, what the runtime is told of
 * their containers, and what is written down of it. The managers of processors and of memory say where there is room; the
 * topology manager's policy says whether that is good enough.
 *
 * Source: document 3, --cpu-manager-policy, --memory-manager-policy, --topology-manager-policy and what goes with them; the
 * 1.33 agent's texts.
 */
import { cpuListText } from "../../../wire/cpu-list.ts";
import type { LinuxContainerResources, MachineInfoResponse } from "../../../wire/cri-messages.ts";
import { parseEvictionSettings } from "../../../wire/eviction-thresholds.ts";
import {
  addQuantities,
  canonicalQuantity,
  compareQuantities,
  parseQuantity,
  type Quantity,
  quantityAt,
} from "../../../wire/quantity.ts";
import type { Micros } from "../../kernel/types.ts";
import { capacityOf, takenOf } from "../node/capacity.ts";
import type { HeldPod } from "../pods/held-pod.ts";
import type { ActivePod, AgentOptions, ManagerOptions, Rejection } from "../ports.ts";
import type { CriCaller } from "../runtime/cri-caller.ts";
import { later, piece, turns } from "../piece.ts";
import { run, sleep, type Task } from "../task.ts";
import { podAsk, type ContainerAsk, type PodAsk } from "./asks.ts";
import { type CannotAllocate, CpuManager, reservedCpus } from "./cpu-manager.ts";
import { type Hint, type Hints, maskOf, mergeHints } from "./hints.ts";
import { readFile, writeFile } from "./machine-files.ts";
import { MemoryManager } from "./memory-manager.ts";
import { cpuStateText, memoryStateText, readCpuState, readMemoryState } from "./state-files.ts";
import { machineTopology, type Topology } from "./topology.ts";

export interface ResourceManagersPorts {
  readonly cri: CriCaller;
  readonly options: AgentOptions;
  readonly managers: ManagerOptions;
  /** Every pod that is held; undefined before every source has told of all of its own. */
  readonly held: () => Iterable<HeldPod> | undefined;
}

const again: Micros = 1_000_000;
const noHint: Hint = { nodes: undefined, isPreferred: false };

export class ResourceManagers {
  private readonly ports: ResourceManagersPorts;
  private topology: Topology | undefined;
  private cpu: CpuManager | undefined;
  private memory: MemoryManager | undefined;
  /** What the runtime was last told, by container. */
  private readonly told = new Map<string, string>();
  private readonly written = new Map<string, string>();

  constructor(ports: ResourceManagersPorts) {
    this.ports = ports;
  }

  /** No pod can be let in before they have begun: there is something to give. */
  get mustWait(): boolean {
    const { cpuPolicy, memoryPolicy, topologyPolicy } = this.ports.managers;
    return cpuPolicy !== "none" || memoryPolicy !== "None" || topologyPolicy !== "none";
  }

  /** Looks at the machine, and takes up what was written down. A sentence: the agent cannot go on so. */
  *begin(): Task<string | undefined> {
    const { cri, options } = this.ports;
    if (this.mustWait) {
      const machine = yield* this.machine();
      const problem = this.makeManagers(machine);
      if (problem !== undefined) return problem;
    }
    for (const { name, path, restore } of this.files(options.pods.rootDir)) {
      const text = yield* readFile(cri, path);
      if (text !== undefined) {
        const why = restore(text);
        if (why !== undefined)
          return `start ${name} manager error: could not restore state from checkpoint: ${why}, please drain this node and delete the ${name} manager checkpoint file "${path}" before restarting`;
        this.written.set(path, text);
      }
    }
    this.write();
    this.reconcileLater();
    return undefined;
  }

  private *machine(): Task<MachineInfoResponse> {
    const { cri } = this.ports;
    for (;;) {
      const info = yield* cri.ask("MachineInfo", {});
      if (info.ok) return info.message;
      yield* sleep(cri.process.clock, again);
    }
  }

  private makeManagers(machine: MachineInfoResponse): string | undefined {
    const { managers, options } = this.ports;
    const { topologyPolicy, numaNodesMax, cpuPolicy, cpuOptions, memoryPolicy } = managers;
    const topology = machineTopology(machine);
    this.topology = topology;
    if (topologyPolicy !== "none" && topology.numaCount > numaNodesMax)
      return `unsupported on machines with more than ${numaNodesMax} NUMA Nodes`;
    if (cpuPolicy === "static") {
      if (cpuOptions.bySocket && topology.socketCount > topology.numaCount)
        return "Align by socket is not compatible with hardware where number of sockets are more than number of NUMA";
      const { systemReserved, serviceReserved } = options.node;
      const milli = [systemReserved, serviceReserved].reduce((sum, { cpu = "0" }) => sum + milliOf(cpu), 0);
      const given = { explicit: managers.reservedCpus, count: Math.ceil(milli / 1000), options: cpuOptions };
      const reserved = reservedCpus(topology, given);
      if ("error" in reserved) return reserved.error;
      this.cpu = new CpuManager(topology, reserved.cpus, cpuOptions);
    }
    if (memoryPolicy === "Static") {
      const reserved = this.reservedMemory(machine, topology);
      if (typeof reserved === "string") return reserved;
      const { numaCount } = topology;
      const part = Math.floor(machine.memoryBytes / numaCount);
      const totals = Array.from({ length: numaCount }, (_, node) =>
        node === 0 ? machine.memoryBytes - part * (numaCount - 1) : part,
      );
      this.memory = new MemoryManager(totals, reserved);
    }
    return undefined;
  }

  /** What all nodes keep together must be what pods cannot be given. */
  private reservedMemory(
    { milliCpu, memoryBytes }: MachineInfoResponse,
    { numaCount }: Topology,
  ): ReadonlyMap<number, number> | string {
    const { options, managers } = this.ports;
    const byNode = new Map<number, number>();
    let total = nothing;
    for (const { numaNode, limits } of managers.reservedMemory) {
      if (numaNode >= numaCount)
        return `the reserved memory configuration references a NUMA node ${numaNode} that does not exist on this machine`;
      for (const [type, text] of Object.entries(limits)) {
        if (type !== "memory")
          return `the total amount "${text}" of type "${type}" is not equal to the value "0" determined by Node Allocatable feature`;
        const quantity = quantityOf(text);
        byNode.set(numaNode, Number(quantityAt(quantity, 0)));
        total = addQuantities(total, quantity);
      }
    }
    const { systemReserved, serviceReserved, allocatableIgnoresEviction } = options.node;
    const rules = parseEvictionSettings(options.eviction);
    const hard = "error" in rules || allocatableIgnoresEviction ? [] : rules.thresholds;
    const capacity = capacityOf({ milliCpu, memoryBytes, ephemeralBytes: undefined }, options.node);
    const taken = takenOf("memory", capacity, [systemReserved, serviceReserved], hard);
    if (compareQuantities(total, taken) !== 0)
      return `the total amount "${canonicalQuantity(total)}" of type "memory" is not equal to the value "${canonicalQuantity(taken)}" determined by Node Allocatable feature`;
    return Number(quantityAt(total, 0)) > 0 ? byNode : "[memorymanager] you should specify the system reserved memory";
  }

  private files(rootDir: string) {
    const { cpuPolicy, memoryPolicy } = this.ports.managers;
    const other = (mine: string, theirs: string): string =>
      `configured policy "${mine}" differs from state checkpoint policy "${theirs}"`;
    return [
      {
        name: "cpu",
        path: `${rootDir}/cpu_manager_state`,
        restore: (text: string): string | undefined => {
          const read = readCpuState(text);
          if ("error" in read) return read.error;
          if (read.policy !== cpuPolicy) return other(cpuPolicy, read.policy);
          return this.cpu?.restore(read.state);
        },
        text: (): string => cpuStateText(cpuPolicy, this.cpu?.state ?? { shared: [], entries: new Map() }),
      },
      {
        name: "memory",
        path: `${rootDir}/memory_manager_state`,
        restore: (text: string): string | undefined => {
          const read = readMemoryState(text);
          if ("error" in read) return read.error;
          if (read.policy !== memoryPolicy) return `[memorymanager] ${other(memoryPolicy, read.policy)}`;
          return this.memory?.restore(read.state);
        },
        text: (): string =>
          memoryStateText(memoryPolicy, this.memory?.state ?? { nodes: new Map(), entries: new Map() }),
      },
    ] as const;
  }

  /** What has changed is written; a machine that does not answer has it with the next change or look. */
  private write(): void {
    const { cri, options } = this.ports;
    for (const { path, text } of this.files(options.pods.rootDir)) {
      const now = text();
      if (this.written.get(path) === now) continue;
      this.written.set(path, now);
      const end = (isThere: boolean): void => {
        if (!isThere && this.written.get(path) === now) this.written.delete(path);
      };
      piece(
        cri.process,
        "resource-managers",
        () => `file ${path}`,
        () => run(writeFile(cri, path, now), end),
        () => end(false),
      );
    }
  }

  /** Asked for each pod that comes. What it gets it keeps until it has ended. */
  admit(pod: ActivePod): Rejection | undefined {
    const { cpu, memory, topology } = this;
    if (topology === undefined) return undefined;
    this.giveBack(pod.uid);
    const ask = podAsk(pod.object);
    const rejection = this.place(ask, topology);
    if (rejection !== undefined) this.forget(pod.uid);
    if (cpu !== undefined || memory !== undefined) this.write();
    return rejection;
  }

  private place(pod: PodAsk, topology: Topology): Rejection | undefined {
    const { topologyPolicy, topologyScope, prefersClosest } = this.ports.managers;
    const whole = maskOf(topology.numaNodes);
    const wishes = { policy: topologyPolicy, prefersClosest, distance: distanceOn(topology) };
    const refused = {
      reason: "TopologyAffinityError",
      message: "Resources cannot be allocated with Topology locality",
    };
    const merged = (cpu: Hints, memory: readonly Hints[]) => mergeHints([cpu, ...memory], whole, wishes);
    const isPodWide = topologyPolicy !== "none" && topologyScope === "pod";
    const forPod = isPodWide ? merged(this.cpu?.podHints(pod), this.memory?.podHints(pod) ?? [undefined]) : undefined;
    if (forPod?.isAdmitted === false) return refused;
    for (const container of pod.containers) {
      let hint = forPod?.hint ?? noHint;
      if (topologyPolicy !== "none" && forPod === undefined) {
        const own = merged(this.cpu?.hints(pod, container), this.memory?.hints(pod, container) ?? [undefined]);
        if (!own.isAdmitted) return refused;
        hint = own.hint;
      }
      const problem = this.allocate(pod, container, hint);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  private allocate(pod: PodAsk, container: ContainerAsk, hint: Hint): CannotAllocate | undefined {
    return this.cpu?.allocate(pod, container, hint.nodes) ?? this.memory?.allocate(pod, container, hint);
  }

  /** It may not run here after all. */
  forget(uid: string): void {
    if (this.topology === undefined) return;
    const kept = new Set([...(this.cpu?.state.entries.keys() ?? []), ...(this.memory?.state.entries.keys() ?? [])]);
    kept.delete(uid);
    this.cpu?.keepOnly(kept);
    this.memory?.keepOnly(kept);
    this.write();
  }

  /** Takes back what pods had that have ended, but for the one that is let in. */
  private giveBack(besides?: string): void {
    const held = this.ports.held();
    if (held === undefined) return;
    const uids = new Set(besides === undefined ? [] : [besides]);
    for (const { uid, state, isRejected } of held) if (state !== "terminated" && !isRejected) uids.add(uid);
    const changes = [this.cpu?.keepOnly(uids), this.memory?.keepOnly(uids)];
    if (changes.includes(true)) this.write();
  }

  /** Of a container that is made. */
  resourcesOf(uid: string, container: string): Pick<LinuxContainerResources, "cpusetCpus" | "cpusetMems"> {
    const cpus = this.cpu?.cpusOf(uid, container) ?? [];
    const mems = this.memory?.nodesOf(uid, container) ?? [];
    return {
      ...(cpus.length === 0 ? {} : { cpusetCpus: cpuListText(cpus) }),
      ...(mems.length === 0 ? {} : { cpusetMems: cpuListText(mems) }),
    };
  }

  /** Nothing else runs on its processors: no quota has to hold it. */
  isFreeOfQuota(uid: string, container: string): boolean {
    return this.ports.managers.exclusiveWithoutQuota && this.cpu?.hasOwn(uid, container) === true;
  }

  private reconcileLater(): void {
    const { cri, managers } = this.ports;
    if (this.cpu === undefined && this.memory === undefined) return;
    const everyMicros = Math.max(1, managers.reconcileMicros);
    later(cri.process, everyMicros, () =>
      turns(cri.process, "resource-managers", "what containers share", everyMicros, (next) => {
        this.giveBack();
        this.write();
        this.reconcile();
        next(everyMicros);
      }),
    );
  }

  /** Containers that share learn when what they share has changed. */
  private reconcile(): void {
    const { cri } = this.ports;
    if (this.cpu === undefined) return;
    const running = new Set<string>();
    for (const { uid, state, runtimePod } of this.ports.held() ?? []) {
      if (state === "terminated") continue;
      for (const container of runtimePod.containers) {
        if (container.state !== "CONTAINER_RUNNING") continue;
        const { id, name } = container;
        running.add(id);
        const { cpusetCpus = "" } = this.resourcesOf(uid, name);
        if (cpusetCpus === "" || this.told.get(id) === cpusetCpus) continue;
        this.told.set(id, cpusetCpus);
        piece(
          cri.process,
          "resource-managers",
          () => `processors of container ${id}`,
          () =>
            run(cri.ask("UpdateContainerResources", { containerId: id, linux: { cpusetCpus } }), (answer) => {
              if (!answer.ok) this.told.delete(id);
            }),
          () => void this.told.delete(id),
        );
      }
    }
    for (const id of this.told.keys()) if (!running.has(id)) this.told.delete(id);
  }
}

const nothing: Quantity = { digits: 0n, scale: 0, form: "binarySI", text: undefined };

function quantityOf(text: string): Quantity {
  const quantity = parseQuantity(text);
  return "error" in quantity ? nothing : quantity;
}

const milliOf = (text: string): number => Number(quantityAt(quantityOf(text), -3));

/** As firmware tells it of machines of this kind: 10 to itself, 12 within a socket, 32 to another. */
function distanceOn({ cpus }: Topology): (one: number, other: number) => number {
  const sockets = new Map(cpus.map(({ numa, socket }) => [numa, socket]));
  return (one, other) => (one === other ? 10 : sockets.get(one) === sockets.get(other) ? 12 : 32);
}
