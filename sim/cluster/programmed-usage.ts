/**
 * A container runtime whose figures are what somebody says: the machine's, and those of pods while their containers run.
 * All else is the simulated runtime's own. Figures are taken at intervals; a look in between is shown the last ones again.
 */
import type { CriAnswer, CriEventSink, CriMessageOf, CriMethod, CriRequest } from "../../wire/cri.ts";
import type { FilesystemReading, MemoryReading, PathUse, PodSandboxStats } from "../../wire/cri-messages.ts";
import type { EvictionSignal } from "../../wire/eviction-thresholds.ts";
import type { FilesystemCapacity, NodeDeclaration, NodeUsage, PodUsage, SignalReading } from "../../wire/node-host.ts";
import type { CriRuntime } from "../cri/cri-port.ts";
import type { Cancel, Clock, Micros, Process } from "../kernel/types.ts";
import type { SimulatedRuntime } from "../runtime/runtime.ts";

/** Figures as they were taken. */
export interface Taken {
  readonly takenMicros: Micros;
  readonly signals: Readonly<Partial<Record<EvictionSignal, SignalReading>>>;
  /** By `namespace/name`: pods that run and that have figures. */
  readonly pods: Readonly<Record<string, PodUsage>>;
}

const nothing: PodUsage = {
  memoryBytes: 0,
  pids: 0,
  layers: { bytes: 0, inodes: 0 },
  volumes: { bytes: 0, inodes: 0 },
};

export class ProgrammedUsage implements CriRuntime {
  private readonly runtime: SimulatedRuntime;
  private readonly declaration: Pick<NodeDeclaration, "capacity" | "figuresMillis">;
  private readonly clock: Clock;
  private usage: NodeUsage;
  private readonly podUsage = new Map<string, PodUsage | undefined>();
  private last: (Taken & { readonly totals: Totals; readonly all: Totals }) | undefined;

  constructor(
    runtime: SimulatedRuntime,
    declaration: Pick<NodeDeclaration, "capacity" | "figuresMillis" | "usage">,
    clock: Clock,
  ) {
    this.runtime = runtime;
    this.declaration = declaration;
    this.clock = clock;
    this.usage = declaration.usage;
  }

  use(usage: Partial<NodeUsage>): void {
    this.usage = { ...this.usage, ...usage };
  }

  usePod(pod: string, usage: PodUsage | undefined): void {
    this.podUsage.set(pod, usage);
  }

  /** The figures of now, or the last ones where they are younger than the interval. */
  take(): Taken {
    return this.taken();
  }

  start(request: CriRequest, done: (answer: CriAnswer) => void): Cancel {
    const message = this.answerTo(request);
    if (message === undefined) return this.runtime.start(request, done);
    done({ ok: true, message });
    return () => {};
  }

  events(reader: Process, sink: CriEventSink): Cancel {
    return this.runtime.events(reader, sink);
  }

  private answerTo({ method, message }: CriRequest): CriMessageOf<CriMethod> | undefined {
    if (method === "MachineReading") return this.machineReading();
    if (method === "ListPodSandboxStats") return { stats: this.podStats() };
    if (method === "PathUsage")
      return { usages: this.pathUsages((message as { readonly paths?: readonly string[] }).paths ?? []) };
    return undefined;
  }

  private taken() {
    const now = this.clock.nowMicros();
    const { capacity, figuresMillis } = this.declaration;
    if (this.last !== undefined && now - this.last.takenMicros < figuresMillis * 1000) return this.last;
    const pods = Object.fromEntries(
      this.running().flatMap((name) => {
        const usage = this.podUsage.has(name) ? this.podUsage.get(name) : nothing;
        return usage === undefined ? [] : [[name, usage]];
      }),
    );
    const totals = totalsOf(Object.values(pods), capacity.imagefs !== undefined);
    this.last = {
      takenMicros: now,
      signals: signalsOf(this.declaration.capacity, this.usage, totals),
      pods,
      totals,
      all: totals,
    };
    return this.last;
  }

  /** Pods with a container that runs. */
  private running(): readonly string[] {
    const names = new Set<string>();
    for (const { state, sandbox } of this.runtime.state.containers.values()) {
      const metadata = sandbox.config.metadata;
      if (state === "CONTAINER_RUNNING") names.add(`${metadata?.namespace}/${metadata?.name}`);
    }
    return [...names];
  }

  private machineReading(): CriMessageOf<"MachineReading"> {
    const { takenMicros, signals, totals } = this.taken();
    const { capacity } = this.declaration;
    const timestamp = (this.clock.epochUnixMillis * 1000 + takenMicros) * 1000;
    const memory = signals["memory.available"];
    const pids = signals["pid.available"];
    const nodefs = diskReading("/", signals["nodefs.available"], signals["nodefs.inodesFree"]);
    const images =
      capacity.imagefs === undefined
        ? nodefs
        : diskReading("/images", signals["imagefs.available"], signals["imagefs.inodesFree"]);
    return {
      timestamp,
      ...(memory === undefined
        ? {}
        : {
            memory: memoryReading(memory.capacity - memory.available, memory.available),
            podsMemory: memoryReading(totals.memoryBytes, Math.max(0, capacity.memoryBytes - totals.memoryBytes)),
          }),
      ...(nodefs === undefined ? {} : { rootFilesystem: nodefs }),
      ...(images === undefined || capacity.imagefs === undefined ? {} : { imageFilesystem: images }),
      ...(pids === undefined ? {} : { pids: { max: pids.capacity, running: pids.capacity - pids.available } }),
    };
  }

  private podStats(): PodSandboxStats[] {
    const { pods, takenMicros } = this.taken();
    const timestamp = (this.clock.epochUnixMillis * 1000 + takenMicros) * 1000;
    return [...this.runtime.state.sandboxes.values()].flatMap((sandbox) => {
      const { metadata, labels = {}, annotations = {} } = sandbox.config;
      const usage = pods[`${metadata?.namespace}/${metadata?.name}`];
      if (usage === undefined || metadata === undefined) return [];
      const [first, ...others] = sandbox.containers.filter(({ state }) => state === "CONTAINER_RUNNING");
      const memory = (bytes: number) => ({ timestamp, workingSetBytes: { value: bytes } });
      const containers = [first, ...others].flatMap((container, at) => {
        if (container === undefined) return [];
        const { bytes, inodes } = at === 0 ? usage.layers : nothing.layers;
        return {
          attributes: { id: container.id, metadata: container.config.metadata ?? {}, labels: {}, annotations: {} },
          memory: memory(at === 0 ? usage.memoryBytes : 0),
          writableLayer: { timestamp, usedBytes: { value: bytes }, inodesUsed: { value: inodes } },
        };
      });
      const linux = {
        memory: memory(usage.memoryBytes),
        process: { timestamp, processCount: { value: usage.pids } },
        containers,
      };
      return [{ attributes: { id: sandbox.id, metadata, labels, annotations }, linux }];
    });
  }

  /** What is on the node's own disk lies with the log of the pod's first container. */
  private pathUsages(paths: readonly string[]): PathUse[] {
    const { pods } = this.taken();
    const told = new Set<string>();
    return paths.map((path) => {
      const pod = Object.keys(pods).find((name) => path.includes(`/${name.replace("/", "_")}_`));
      const isFirst = pod !== undefined && !told.has(pod);
      if (pod !== undefined) told.add(pod);
      const { bytes, inodes } = isFirst ? (pods[pod] as PodUsage).volumes : nothing.volumes;
      return { path, found: pod !== undefined, usedBytes: bytes, inodesUsed: inodes };
    });
  }
}

/** What all pods use together, of each place. */
interface Totals {
  readonly memoryBytes: number;
  readonly pids: number;
  readonly nodefs: FilesystemCapacity;
  readonly imagefs: FilesystemCapacity;
}

function totalsOf(pods: readonly PodUsage[], hasImagefs: boolean): Totals {
  const sum = (of: (usage: PodUsage) => number): number => pods.reduce((total, usage) => total + of(usage), 0);
  const layers = { bytes: sum(({ layers: { bytes } }) => bytes), inodes: sum(({ layers: { inodes } }) => inodes) };
  const volumes = { bytes: sum(({ volumes: { bytes } }) => bytes), inodes: sum(({ volumes: { inodes } }) => inodes) };
  const both = { bytes: layers.bytes + volumes.bytes, inodes: layers.inodes + volumes.inodes };
  return {
    memoryBytes: sum(({ memoryBytes }) => memoryBytes),
    pids: sum(({ pids }) => pids),
    nodefs: hasImagefs ? volumes : both,
    imagefs: hasImagefs ? layers : both,
  };
}

function signalsOf(capacity: NodeDeclaration["capacity"], usage: NodeUsage, pods: Totals): Taken["signals"] {
  const left = (whole: number, besides: number | undefined, ofPods: number): SignalReading | undefined =>
    besides === undefined ? undefined : { capacity: whole, available: Math.max(0, whole - besides - ofPods) };
  const onDisk = (unit: "bytes" | "inodes") => left(capacity.nodefs[unit], usage.nodefs?.[unit], pods.nodefs[unit]);
  const onImages = (unit: "bytes" | "inodes") =>
    capacity.imagefs === undefined
      ? onDisk(unit)
      : left(capacity.imagefs[unit], usage.imagefs?.[unit], pods.imagefs[unit]);
  const signals: Readonly<Partial<Record<EvictionSignal, SignalReading | undefined>>> = {
    "memory.available": left(capacity.memoryBytes, usage.memoryBytes, pods.memoryBytes),
    "pid.available": left(capacity.pids, usage.pids, pods.pids),
    "nodefs.available": onDisk("bytes"),
    "nodefs.inodesFree": onDisk("inodes"),
    "imagefs.available": onImages("bytes"),
    "imagefs.inodesFree": onImages("inodes"),
  };
  return Object.fromEntries(Object.entries(signals).filter(([, reading]) => reading !== undefined)) as Taken["signals"];
}

function memoryReading(workingSetBytes: number, availableBytes: number): MemoryReading {
  return {
    usageBytes: workingSetBytes,
    workingSetBytes,
    rssBytes: workingSetBytes,
    availableBytes,
    pageFaults: 0,
    majorPageFaults: 0,
  };
}

function diskReading(
  mountpoint: string,
  bytes: SignalReading | undefined,
  inodes: SignalReading | undefined,
): FilesystemReading | undefined {
  if (bytes === undefined || inodes === undefined) return undefined;
  return {
    mountpoint,
    capacityBytes: bytes.capacity,
    availableBytes: bytes.available,
    usedBytes: bytes.capacity - bytes.available,
    inodes: inodes.capacity,
    inodesFree: inodes.available,
    inodesUsed: inodes.capacity - inodes.available,
  };
}
