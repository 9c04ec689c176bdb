/**
 * What an agent knows of usage: of its node, and of each pod that runs there. Amounts are bytes, inodes or processes; what
 * * could not be read is undefined and never guessed. Times are microseconds since 1970: figures of a runtime carry its own.
 */
import type { Micros } from "../../kernel/types.ts";

export interface NodeFigures {
  readonly memory: MemoryFigures | undefined;
  /** Of the control group that holds all pods; its limit is what the reservations leave. */
  readonly podsMemory: MemoryFigures | undefined;
  /** Where the agent keeps its own files, logs and local volumes. */
  readonly nodefs: FilesystemFigures | undefined;
  /** Where images lie. The same figures as `nodefs` where there is one file system. */
  readonly imagefs: FilesystemFigures | undefined;
  /** Where writable layers lie. */
  readonly containerfs: FilesystemFigures | undefined;
  readonly processes: ProcessFigures | undefined;
}

export interface MemoryFigures {
  readonly availableBytes: number;
  readonly workingSetBytes: number;
  readonly takenMicros: Micros;
}

export interface FilesystemFigures {
  readonly availableBytes: number | undefined;
  readonly capacityBytes: number | undefined;
  readonly inodesFree: number | undefined;
  readonly inodes: number | undefined;
  readonly takenMicros: Micros;
}

export interface ProcessFigures {
  readonly max: number;
  readonly running: number;
  readonly takenMicros: Micros;
}

export interface DiskUsage {
  readonly bytes: number | undefined;
  readonly inodes: number | undefined;
}

export interface ContainerFigures {
  readonly name: string;
  readonly workingSetBytes: number | undefined;
  /** The writable layer. */
  readonly rootfs: DiskUsage | undefined;
  readonly logs: DiskUsage | undefined;
}

export interface VolumeFigures extends DiskUsage {
  /** Of the volume in the pod. */
  readonly name: string;
}

export interface PodFigures {
  readonly workingSetBytes: number | undefined;
  readonly processCount: number | undefined;
  /** Layers, logs and local volumes together, where the whole was measured. */
  readonly ephemeralBytes: number | undefined;
  readonly containers: readonly ContainerFigures[];
  readonly volumes: readonly VolumeFigures[];
}

/** Figures of a pod by its uid; undefined: it has none. */
export type PodFiguresOf = (uid: string) => PodFigures | undefined;

/** How the file systems of a node are laid out. */
export type DiskLayout = "one" | "dedicated-imagefs" | "split";
