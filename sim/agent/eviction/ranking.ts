/**
 * Which pod goes first. Ties, which the real agent leaves to chance, break by namespace and name.
 * Source: the fact sheet of the 1.33 agent, reclaim and ranking.
 */
import { evictionSignals, type EvictionSignal } from "../../../wire/eviction-thresholds.ts";
import { compareBytes } from "../../../wire/go-strings.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { DiskLayout, DiskUsage, PodFigures, PodFiguresOf } from "../stats/figures.ts";
import type { ActivePod } from "../ports.ts";
import { localVolumesOf } from "./pod-traits.ts";

/** The first goes first. */
export function rankPods(
  signal: EvictionSignal,
  candidates: readonly ActivePod[],
  figuresOf: PodFiguresOf,
  layout: DiskLayout,
  keys: typeof keysOf = keysOf,
): ActivePod[] {
  const keyed = candidates.map((candidate) => ({
    candidate,
    keys: keys(signal, candidate, figuresOf(candidate.uid), layout),
  }));
  keyed.sort((left, right) => compareKeys(left.keys, right.keys) || compareNames(left.candidate, right.candidate));
  return keyed.map(({ candidate }) => candidate);
}

/** The pod with the smaller keys goes first, the most weighty key first. */
export type Keys = readonly [number, number, number, number];

/**
 * Without figures before all others; then what uses more than it requests; then low priority; then the most above the
 * request. Of processes there are no requests: priority, then their number.
 */
export function keysOf(
  signal: EvictionSignal,
  candidate: ActivePod,
  figures: PodFigures | undefined,
  layout: DiskLayout,
): Keys {
  const { object, priority } = candidate;
  const { resource } = evictionSignals[signal];
  if (resource === "pids") {
    return figures === undefined ? [0, priority, 0, 0] : [0, priority, 1, -(figures.processCount ?? 0)];
  }
  if (figures === undefined) return [0, 0, priority, 0];
  const used = resource === "memory" ? (figures.workingSetBytes ?? 0) : diskUsed(signal, object, figures, layout);
  const request = requestOf(candidate, resource);
  return [1, exceeds(resource, used, request) ? 0 : 1, priority, -(used - request)];
}

type Resource = (typeof evictionSignals)[EvictionSignal]["resource"];

/** Inodes cannot be requested; but the last key takes off the bytes of disk that are, in the 1.33 agent. */
export const requestOf = ({ requests }: ActivePod, resource: Resource): number =>
  resource === "memory" ? requests.memoryBytes : requests.ephemeralStorageBytes;

export const exceeds = (resource: Resource, used: number, request: number): boolean =>
  used > (resource === "inodes" ? 0 : request);

function compareNames(left: ActivePod, right: ActivePod): number {
  return compareBytes(left.namespace, right.namespace) || compareBytes(left.name, right.name);
}

function compareKeys(left: Keys, right: Keys): number {
  for (let at = 0; at < left.length; at++) {
    const difference = (left[at] as number) - (right[at] as number);
    if (difference !== 0) return difference;
  }
  return 0;
}

interface Parts {
  readonly rootfs: boolean;
  readonly logs: boolean;
  readonly volumes: boolean;
}

const everything: Parts = { rootfs: true, logs: true, volumes: true };
const besideLayers: Parts = { rootfs: false, logs: true, volumes: true };
const layersAlone: Parts = { rootfs: true, logs: false, volumes: false };
const noPart: Parts = { rootfs: false, logs: false, volumes: false };

/** Which parts of a pod lie on the file system of a signal. */
const partsOf: Readonly<Record<DiskLayout, Readonly<Record<"nodefs" | "imagefs" | "containerfs", Parts>>>> = {
  one: { nodefs: everything, imagefs: everything, containerfs: everything },
  "dedicated-imagefs": { nodefs: besideLayers, imagefs: layersAlone, containerfs: layersAlone },
  split: { nodefs: everything, imagefs: noPart, containerfs: everything },
};

/** What a pod uses of what a signal is about; undefined: it has no figures. */
export function usedOf(
  signal: EvictionSignal,
  pod: JsonObject,
  figures: PodFigures | undefined,
  layout: DiskLayout,
): number | undefined {
  if (figures === undefined) return undefined;
  const { resource } = evictionSignals[signal];
  if (resource === "pids") return figures.processCount ?? 0;
  return resource === "memory" ? (figures.workingSetBytes ?? 0) : diskUsed(signal, pod, figures, layout);
}

function diskUsed(signal: EvictionSignal, pod: JsonObject, figures: PodFigures, layout: DiskLayout): number {
  const [disk] = signal.split(".") as ["nodefs" | "imagefs" | "containerfs"];
  const unit = evictionSignals[signal].resource === "inodes" ? "inodes" : "bytes";
  return sumOf(partsOf[layout][disk], unit, pod, figures);
}

/** Layers, logs and local volumes of a pod, in bytes. */
export function localBytesOf(pod: JsonObject, figures: PodFigures): number {
  return figures.ephemeralBytes ?? sumOf(everything, "bytes", pod, figures);
}

function sumOf(parts: Parts, unit: keyof DiskUsage, pod: JsonObject, figures: PodFigures): number {
  let sum = 0;
  for (const { rootfs, logs } of figures.containers) {
    if (parts.rootfs) sum += rootfs?.[unit] ?? 0;
    if (parts.logs) sum += logs?.[unit] ?? 0;
  }
  if (!parts.volumes || figures.volumes.length === 0) return sum;
  const local = new Set(localVolumesOf(pod));
  for (const volume of figures.volumes) if (local.has(volume.name)) sum += volume[unit] ?? 0;
  return sum;
}
