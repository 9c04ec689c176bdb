/**
 * What a node can give up before pods have to: dead containers and unused images, where the signal's file system has any.
 * Source: the fact sheet of the 1.33 agent, reclaim and ranking.
 */
import type { EvictionSignal } from "../../../wire/eviction-thresholds.ts";
import type { DiskLayout } from "../stats/figures.ts";

export type Reclaim = "containers" | "images";

const both: readonly Reclaim[] = ["containers", "images"];

const reclaims: Readonly<Record<DiskLayout, Readonly<Record<string, readonly Reclaim[]>>>> = {
  one: { nodefs: both, imagefs: both, containerfs: both },
  "dedicated-imagefs": { imagefs: both, containerfs: both },
  split: { imagefs: ["images"], nodefs: ["containers"], containerfs: ["containers"] },
};

/** In the order in which they are tried; none for memory and processes. */
export function reclaimsOf(signal: EvictionSignal, layout: DiskLayout): readonly Reclaim[] {
  const [disk] = signal.split(".") as [string];
  return reclaims[layout][disk] ?? [];
}
