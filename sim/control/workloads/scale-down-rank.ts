/**
 * Which pods go first when there are too many. Source: the published controllers' ActivePodsWithRanks.
 */
import { compareBytes } from "../../../wire/go-strings.ts";
import { conditionOf, isReady, restartsMax, secondsOf } from "../shared/pods.ts";
import type { Pod } from "../shared/stored.ts";

export interface Ranking {
  /** `controller.kubernetes.io/pod-deletion-cost` in the dialect. */
  readonly costAnnotation: string;
  /** How many pods of the same application run on its node. */
  readonly crowdOf: (pod: Pod) => number;
  /** Seconds since 1970. */
  readonly nowSeconds: number;
}

/** In the order of going. */
export function inOrderOfGoing(pods: readonly Pod[], ranking: Ranking): readonly Pod[] {
  const keys = new Map(pods.map((pod) => [pod, keysOf(pod, ranking)]));
  return [...pods].sort((left, right) => {
    const mine = keys.get(left) as readonly number[];
    const theirs = keys.get(right) as readonly number[];
    for (const [at, value] of mine.entries()) {
      const difference = value - (theirs[at] as number);
      if (difference !== 0) return difference;
    }
    return compareBytes(left.metadata.uid, right.metadata.uid);
  });
}

const phaseRanks: Readonly<Record<string, number>> = { Pending: 0, Unknown: 1, Running: 2 };

/** Smaller goes first, by the first that differs. Ages are compared by their magnitude only. */
function keysOf(pod: Pod, { costAnnotation, crowdOf, nowSeconds }: Ranking): readonly number[] {
  const { spec, status, metadata } = pod;
  const ready = isReady(pod);
  return [
    spec.nodeName === undefined || spec.nodeName === "" ? 0 : 1,
    phaseRanks[status?.phase ?? "Pending"] ?? 0,
    ready ? 1 : 0,
    costOf(metadata.annotations?.[costAnnotation]),
    -crowdOf(pod),
    ready ? magnitude(nowSeconds - secondsOf(conditionOf(pod, "Ready")?.lastTransitionTime)) : 0,
    -restartsMax(pod),
    magnitude(nowSeconds - secondsOf(metadata.creationTimestamp)),
  ];
}

/** What is no 32-bit integer counts as none. */
function costOf(text = "0"): number {
  if (!/^(0|-?[1-9]\d*)$/.test(text)) return 0;
  const cost = Number(text);
  return cost >= -2_147_483_648 && cost <= 2_147_483_647 ? cost : 0;
}

/** The power of two below so many seconds, in nanoseconds; -1 of none. */
const magnitude = (seconds: number): number => (seconds <= 0 ? -1 : (seconds * 1_000_000_000).toString(2).length - 1);
