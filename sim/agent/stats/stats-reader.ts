/**
 * Reads usage from the machine and from the runtime, for evictions, image collection and the summary.
 *
 * Simplification: containers are asked for by sandbox, with one call for all of them, and only when somebody needs their
 * figures; the published agent lists them every ten seconds, needed or not.
 * Source: the fact sheet of the 1.33 agent, signals.
 */
import type {
  FilesystemReading,
  FilesystemUsage,
  MachineReadingResponse,
  MemoryReading,
  PathUse,
  PodSandboxStats,
} from "../../../wire/cri-messages.ts";
import { callRuntime, type CriRuntime } from "../../cri/cri-port.ts";
import type { Micros, Process } from "../../kernel/types.ts";
import type { ActivePod, ActivePods, PodOptions } from "../ports.ts";
import type { UsageReader } from "../eviction/eviction-manager.ts";
import type {
  ContainerFigures,
  DiskLayout,
  DiskUsage,
  FilesystemFigures,
  MemoryFigures,
  NodeFigures,
  PodFigures,
  PodFiguresOf,
} from "./figures.ts";
import { logPlace, volumePlaces } from "./pod-places.ts";

export interface StatsReaderPorts {
  readonly process: Process;
  readonly runtime: CriRuntime;
  /** Of one call to the runtime. */
  readonly timeoutMicros: Micros;
  readonly pods: Pick<ActivePods, "active">;
  readonly places: Pick<PodOptions, "rootDir" | "logsDir">;
}

/** Of one pod, as it was read. */
export interface PodReading {
  readonly pod: ActivePod;
  readonly stats: PodSandboxStats;
  readonly figures: PodFigures;
}

export interface NodeReading {
  readonly machine: MachineReadingResponse;
  readonly images: FilesystemUsage;
  readonly layout: DiskLayout;
}

export class StatsReader implements UsageReader {
  private readonly ports: StatsReaderPorts;

  constructor(ports: StatsReaderPorts) {
    this.ports = ports;
  }

  version(): number | undefined {
    return this.ports.runtime.usageVersion?.();
  }

  layout(done: (layout: DiskLayout | undefined) => void): void {
    this.readNode((reading) => done(reading?.layout));
  }

  node(done: (figures: NodeFigures | undefined) => void): void {
    this.readNode((reading) => done(reading === undefined ? undefined : nodeFiguresOf(reading)));
  }

  pods(done: (figuresOf: PodFiguresOf | undefined) => void): void {
    this.readPods((readings) => {
      if (readings === undefined) done(undefined);
      else done((uid) => readings.get(uid)?.figures);
    });
  }

  /** A runtime that names no file system of images leaves the whole reading undone. */
  readNode(done: (reading: NodeReading | undefined) => void): void {
    const { process, runtime, timeoutMicros } = this.ports;
    callRuntime(process, runtime, "ImageFsInfo", {}, timeoutMicros, (info) => {
      const [images] = info.ok ? info.message.imageFilesystems : [];
      if (images === undefined) {
        done(undefined);
        return;
      }
      callRuntime(process, runtime, "MachineReading", {}, timeoutMicros, (answer) => {
        done(answer.ok ? { machine: answer.message, images, layout: layoutOf(answer.message) } : undefined);
      });
    });
  }

  /** By uid: pods that the agent holds and that the runtime has figures of. */
  readPods(done: (readings: ReadonlyMap<string, PodReading> | undefined) => void): void {
    const { process, runtime, timeoutMicros } = this.ports;
    callRuntime(process, runtime, "ListPodSandboxStats", {}, timeoutMicros, (answer) => {
      if (!answer.ok) {
        done(undefined);
        return;
      }
      const held = new Map(this.ports.pods.active().map((pod) => [pod.uid, pod]));
      const pairs = answer.message.stats.flatMap((stats) => {
        const pod = held.get(stats.attributes?.metadata?.uid ?? "");
        return pod === undefined ? [] : [{ pod, stats }];
      });
      const paths = pairs.flatMap(({ pod, stats }) => this.pathsOf(pod, stats));
      callRuntime(process, runtime, "PathUsage", { paths }, timeoutMicros, (usage) => {
        const uses = new Map(usage.ok ? usage.message.usages.map((use) => [use.path, use]) : []);
        done(
          new Map(pairs.map(({ pod, stats }) => [pod.uid, { pod, stats, figures: this.figuresOf(pod, stats, uses) }])),
        );
      });
    });
  }

  private pathsOf(pod: ActivePod, stats: PodSandboxStats): readonly string[] {
    const { places } = this.ports;
    const logs = containersOf(stats).map((name) => logPlace(places, pod, name));
    return [...logs, ...volumePlaces(places, pod).map(({ path }) => path)];
  }

  private figuresOf(pod: ActivePod, stats: PodSandboxStats, uses: ReadonlyMap<string, PathUse>): PodFigures {
    const { places } = this.ports;
    const diskAt = (path: string): DiskUsage | undefined => {
      const use = uses.get(path);
      return use?.found === true ? { bytes: use.usedBytes, inodes: use.inodesUsed } : undefined;
    };
    const { linux } = stats;
    const containers = (linux?.containers ?? []).map((each): ContainerFigures => {
      const name = each.attributes?.metadata?.name ?? "";
      const layer = each.writableLayer;
      return {
        name,
        workingSetBytes: each.memory?.workingSetBytes?.value,
        rootfs: layer === undefined ? undefined : { bytes: layer.usedBytes?.value, inodes: layer.inodesUsed?.value },
        logs: diskAt(logPlace(places, pod, name)) ?? { bytes: 0, inodes: 0 },
      };
    });
    return {
      workingSetBytes: linux?.memory?.workingSetBytes?.value ?? sumOf(containers),
      processCount: linux?.process?.processCount?.value,
      ephemeralBytes: undefined,
      containers,
      volumes: volumePlaces(places, pod).flatMap(({ name, path }) => {
        const use = diskAt(path);
        return use === undefined ? [] : [{ name, ...use }];
      }),
    };
  }
}

const microsOf = (nanos: number): Micros => Math.floor(nanos / 1000);

function layoutOf({ rootFilesystem, imageFilesystem }: MachineReadingResponse): DiskLayout {
  const isOwn = imageFilesystem !== undefined && imageFilesystem.mountpoint !== rootFilesystem?.mountpoint;
  return isOwn ? "dedicated-imagefs" : "one";
}

/** Without a file system of their own, images lie on the node's. */
function nodeFiguresOf({ machine, layout }: NodeReading): NodeFigures {
  const takenMicros = microsOf(machine.timestamp);
  const { memory, podsMemory, rootFilesystem, imageFilesystem, pids } = machine;
  const imagefs = diskOf(layout === "one" ? rootFilesystem : imageFilesystem, takenMicros);
  return {
    memory: memoryOf(memory, takenMicros),
    podsMemory: memoryOf(podsMemory, takenMicros),
    nodefs: diskOf(rootFilesystem, takenMicros),
    imagefs,
    containerfs: imagefs,
    processes: pids === undefined ? undefined : { max: pids.max, running: pids.running, takenMicros },
  };
}

function memoryOf(reading: MemoryReading | undefined, takenMicros: Micros): MemoryFigures | undefined {
  if (reading === undefined) return undefined;
  return { availableBytes: reading.availableBytes, workingSetBytes: reading.workingSetBytes, takenMicros };
}

function diskOf(reading: FilesystemReading | undefined, takenMicros: Micros): FilesystemFigures | undefined {
  if (reading === undefined) return undefined;
  const { availableBytes, capacityBytes, inodesFree, inodes } = reading;
  return { availableBytes, capacityBytes, inodesFree, inodes, takenMicros };
}

function containersOf({ linux }: PodSandboxStats): readonly string[] {
  return (linux?.containers ?? []).map((each) => each.attributes?.metadata?.name ?? "");
}

function sumOf(containers: readonly ContainerFigures[]): number | undefined {
  return containers.length === 0
    ? undefined
    : containers.reduce((sum, { workingSetBytes }) => sum + (workingSetBytes ?? 0), 0);
}
