/**
 * What a look at usage says about each signal. A signal of which any part is missing is not observed.
 * Source: the fact sheet of the 1.33 agent, signals.
 */
import type { EvictionSignal } from "../../../wire/eviction-thresholds.ts";
import type { Micros } from "../../kernel/types.ts";
import type { FilesystemFigures, MemoryFigures, NodeFigures } from "../stats/figures.ts";

export interface Observation {
  readonly available: number;
  readonly capacity: number;
  /** When the figures were taken. */
  readonly takenMicros: Micros;
}

export type Observations = Readonly<Partial<Record<EvictionSignal, Observation>>>;

export function observationsOf(figures: NodeFigures): Observations {
  const seen: Partial<Record<EvictionSignal, Observation>> = {};
  const enter = (signal: EvictionSignal, observation: Observation | undefined): void => {
    if (observation !== undefined) seen[signal] = observation;
  };
  enter("memory.available", ofMemory(figures.memory));
  enter("allocatableMemory.available", ofMemory(figures.podsMemory));
  for (const disk of ["nodefs", "imagefs", "containerfs"] as const) {
    enter(`${disk}.available`, ofBytes(figures[disk]));
    enter(`${disk}.inodesFree`, ofInodes(figures[disk]));
  }
  const { processes } = figures;
  if (processes !== undefined) {
    const { max, running, takenMicros } = processes;
    enter("pid.available", { available: max - running, capacity: max, takenMicros });
  }
  return seen;
}

/** The capacity of memory is what is free and the working set together, and no figure of its own. */
function ofMemory(memory: MemoryFigures | undefined): Observation | undefined {
  if (memory === undefined) return undefined;
  const { availableBytes, workingSetBytes, takenMicros } = memory;
  return { available: availableBytes, capacity: availableBytes + workingSetBytes, takenMicros };
}

function ofBytes(disk: FilesystemFigures | undefined): Observation | undefined {
  if (disk?.availableBytes === undefined || disk.capacityBytes === undefined) return undefined;
  return { available: disk.availableBytes, capacity: disk.capacityBytes, takenMicros: disk.takenMicros };
}

function ofInodes(disk: FilesystemFigures | undefined): Observation | undefined {
  if (disk?.inodesFree === undefined || disk.inodes === undefined) return undefined;
  return { available: disk.inodesFree, capacity: disk.inodes, takenMicros: disk.takenMicros };
}
