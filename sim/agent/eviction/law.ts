/**
 * What the manager decides by: each decision is a function of what it is about, so that a wrong one can be put in its
 * place (`sim/agent/planted/`).
 */
import { evictionSignals, type EvictionRules, type EvictionThreshold } from "../../../wire/eviction-thresholds.ts";
import type { ActivePod, PodEnd } from "../ports.ts";
import type { DiskLayout } from "../stats/figures.ts";
import { isUnresolved, look } from "./look.ts";
import { evictionText } from "./messages.ts";
import { type Observations, observationsOf } from "./observations.ts";
import { graceSecondsOf } from "./pod-traits.ts";
import { rankPods } from "./ranking.ts";
import { type Reclaim, reclaimsOf } from "./reclaim.ts";

export interface EvictionLaw {
  readonly observationsOf: typeof observationsOf;
  readonly look: typeof look;
  /** Of those on which it can act; undefined: there is none. */
  readonly mostUrgent: (acting: readonly EvictionThreshold[]) => EvictionThreshold | undefined;
  readonly reclaimsOf: (threshold: EvictionThreshold, layout: DiskLayout) => readonly Reclaim[];
  /** Whether what was reclaimed spares the pods. */
  readonly isEnough: (
    thresholds: readonly EvictionThreshold[],
    observations: Observations,
    reclaimed: Reclaimed,
  ) => boolean;
  readonly rankPods: typeof rankPods;
  readonly isSpared: (pod: ActivePod) => boolean;
  /** Who goes at this look. */
  readonly victimsAmong: (ranked: readonly ActivePod[], at: LookFacts) => readonly ActivePod[];
  readonly graceSeconds: (threshold: EvictionThreshold, pod: ActivePod, rules: GraceRules) => number;
  readonly evictionText: typeof evictionText;
  readonly endOf: (message: string, graceSeconds: number) => PodEnd;
}

export interface Reclaimed {
  readonly threshold: EvictionThreshold;
  /** By images that nobody used. */
  readonly freedBytes: number;
}

export interface LookFacts {
  readonly actingCount: number;
  /** The first look since the agent began. */
  readonly isFirst: boolean;
}

export interface GraceRules extends Pick<EvictionRules, "maxPodGraceSeconds"> {
  readonly negativeGraceIsPods: boolean;
}

export const graceSecondsAtOnce = 1;

export const evictionLaw: EvictionLaw = {
  observationsOf,
  look,
  /** Memory before all else; among the rest the first that is configured. */
  mostUrgent: (acting) => acting.find(({ signal }) => evictionSignals[signal].resource === "memory") ?? acting[0],
  reclaimsOf: ({ signal }, layout) => reclaimsOf(signal, layout),
  /** For every threshold that there is, minimum reclaim included. */
  isEnough: (thresholds, observations) => !thresholds.some((threshold) => isUnresolved(threshold, observations)),
  rankPods,
  isSpared: ({ isCritical }) => isCritical,
  victimsAmong: (ranked) => ranked.slice(0, 1),
  /** Hard: at once. Soft: the pod's own time, but no more than the configuration allows. */
  graceSeconds({ graceMillis }, { object }, { maxPodGraceSeconds: most, negativeGraceIsPods }) {
    if (graceMillis === 0) return graceSecondsAtOnce;
    const own = graceSecondsOf(object);
    return most < 0 && negativeGraceIsPods ? own : Math.min(most, own);
  },
  evictionText,
  endOf: (message, graceSeconds) => ({
    reason: "Evicted",
    message,
    graceSeconds,
    condition: { type: "DisruptionTarget", reason: "TerminationByKubelet", message },
  }),
};
