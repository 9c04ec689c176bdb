/**
 * Which pod goes first. Source: the ranking of the 1.33 agent, per resource; ties have no order.
 */
import { evictionSignals, type EvictionSignal } from "../../../wire/eviction-thresholds.ts";
import type { PodUsage } from "../../../wire/node-host.ts";
import type { PodLife } from "./history.ts";

/** The keys of one pod, the most weighty first; the pod with the smaller keys goes first. */
type Keys = readonly number[];

/** No figures, or what the pod used at a look. */
export interface Candidate {
  readonly pod: PodLife;
  readonly usage: PodUsage | undefined;
}

/**
 * True: a lawful agent may take `first` before all of `others` when it acts on `signal`. For inodes there are two
 * readings: the known agent subtracts the bytes that a pod requests from the inodes that it uses.
 */
export function mayPrecede(
  signal: EvictionSignal,
  first: Candidate,
  others: readonly Candidate[],
  dedicatedImagefs: boolean,
): boolean {
  return rankings(signal, dedicatedImagefs).some((keysOf) => {
    const keys = keysOf(first);
    return others.every((other) => compareKeys(keys, keysOf(other)) <= 0);
  });
}

function rankings(signal: EvictionSignal, dedicatedImagefs: boolean): readonly ((candidate: Candidate) => Keys)[] {
  const used = usedOf(signal, dedicatedImagefs);
  switch (evictionSignals[signal].resource) {
    case "memory":
      return [byExcess(used, (pod) => pod.requests.memoryBytes)];
    case "ephemeral-storage":
      return [byExcess(used, (pod) => pod.requests.diskBytes)];
    case "inodes":
      return [
        byExcess(used, () => 0),
        byExcess(
          used,
          () => 0,
          (pod) => pod.requests.diskBytes,
        ),
      ];
    case "pids":
      return [({ pod, usage }) => [pod.priority, usage === undefined ? 0 : 1, usage === undefined ? 0 : -used(usage)]];
  }
}

/** Without figures before all others; then what uses more than it requests; then low priority; then the most above it. */
function byExcess(
  used: (usage: PodUsage) => number,
  requested: (pod: PodLife) => number,
  subtracted: (pod: PodLife) => number = requested,
) {
  return ({ pod, usage }: Candidate): Keys => {
    if (usage === undefined) return [0, 0, 0, 0];
    const exceeds = used(usage) > requested(pod);
    return [1, exceeds ? 0 : 1, pod.priority, -(used(usage) - subtracted(pod))];
  };
}

/** How much of a signal's resource a pod's usage is, on the file system that the signal is about. */
export function usedOf(signal: EvictionSignal, dedicatedImagefs: boolean): (usage: PodUsage) => number {
  const { resource } = evictionSignals[signal];
  if (resource === "memory") return ({ memoryBytes }) => memoryBytes;
  if (resource === "pids") return ({ pids }) => pids;
  const unit = resource === "inodes" ? "inodes" : "bytes";
  const ofNode = ({ volumes }: PodUsage) => volumes[unit];
  const ofImages = ({ layers }: PodUsage) => layers[unit];
  if (!dedicatedImagefs) return (usage) => ofNode(usage) + ofImages(usage);
  return signal.startsWith("nodefs.") ? ofNode : ofImages;
}

function compareKeys(left: Keys, right: Keys): number {
  for (const [index, key] of left.entries()) {
    const other = right[index] as number;
    if (key !== other) return key - other;
  }
  return 0;
}
