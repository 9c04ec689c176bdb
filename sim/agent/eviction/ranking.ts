/**
 * Which pod goes first. Ties, which the real agent leaves to chance, break by namespace and name.
 * Source: the fact sheet of the 1.33 agent, reclaim and ranking.
 */
import { evictionSignals, type EvictionSignal } from "../../../wire/eviction-thresholds.ts";
import { compareBytes } from "../../../wire/go-strings.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { DiskLayout, DiskUsage, PodFigures, PodFiguresOf } from "../stats/figures.ts";
import type { AgentBugs } from "../../planted/agent-bugs.ts";
import type { ActivePod } from "../ports.ts";
import { limitOf, localVolumesOf } from "./pod-traits.ts";

/** The first goes first. */
export function rankPods(
  signal: EvictionSignal,
  candidates: readonly ActivePod[],
  figuresOf: PodFiguresOf,
  layout: DiskLayout,
  bugs: AgentBugs,
): ActivePod[] {
  const keyed = candidates.map((candidate) => ({
    candidate,
    keys: keysOf(signal, candidate, figuresOf(candidate.uid), layout, bugs),
  }));
  keyed.sort((left, right) => compareKeys(left.keys, right.keys) || compareNames(left.candidate, right.candidate));
  return keyed.map(({ candidate }) => candidate);
}

/** The pod with the smaller keys goes first, the most weighty key first. */
type Keys = readonly [number, number, number, number];

/**
 * Without figures before all others; then what uses more than it requests; then low priority; then the most above the
 * request. Of processes there are no requests: priority, then their number.
 */
function keysOf(
  signal: EvictionSignal,
  { object, priority, requests, qos }: ActivePod,
  figures: PodFigures | undefined,
  layout: DiskLayout,
  bugs: AgentBugs,
): Keys {
  const { resource } = evictionSignals[signal];
  if (resource === "pids") {
    return figures === undefined ? [0, priority, 0, 0] : [0, priority, 1, -(figures.processCount ?? 0)];
  }
  if (figures === undefined) return [bugs["evict-rank-unmeasured-last"] ? 2 : 0, 0, priority, 0];
  const ranked = rankedSignal(signal, bugs);
  const used = resource === "memory" ? (figures.workingSetBytes ?? 0) : diskUsed(ranked, object, figures, layout);
  if (bugs["evict-wrong-rank"]) return [0, 0, 0, -used];
  // Inodes cannot be requested; but the last key takes off the bytes of disk that are, in the 1.33 agent.
  const request = bugs["evict-rank-by-limits"]
    ? limitOf(object, resource)
    : resource === "memory"
      ? requests.memoryBytes
      : requests.ephemeralStorageBytes;
  const exceeds = used > (resource === "inodes" ? 0 : request);
  if (bugs["evict-rank-priority-first"]) return [1, priority, exceeds ? 0 : 1, -(used - request)];
  if (bugs["evict-rank-by-share"]) return [1, exceeds ? 0 : 1, priority, -used / Math.max(1, request)];
  const first = bugs["evict-rank-best-effort-first"] && qos === "BestEffort" ? 0 : 1;
  return [first, exceeds ? 0 : 1, priority, -(used - request)];
}

/** The signal whose figures are ranked: that on which the agent acts. */
function rankedSignal(signal: EvictionSignal, bugs: AgentBugs): EvictionSignal {
  if (bugs["evict-rank-inodes-by-bytes"]) return signal.replace("inodesFree", "available") as EvictionSignal;
  if (!bugs["evict-rank-disk-of-the-other"]) return signal;
  return (
    signal.startsWith("nodefs") ? signal.replace("nodefs", "imagefs") : signal.replace("imagefs", "nodefs")
  ) as EvictionSignal;
}

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
