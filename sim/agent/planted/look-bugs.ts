/** Planted bugs of what a look at usage means. */
import {
  amountOf,
  evictionSignals,
  type EvictionThreshold,
  type PressureCondition,
} from "../../../wire/eviction-thresholds.ts";
import type { Micros } from "../../kernel/types.ts";
import type { AgentBugName } from "../../planted/agent-bugs.ts";
import type { EvictionLaw } from "../eviction/law.ts";
import { conditionsOf, isMet, type Look, pressureConditions, type PressureState } from "../eviction/look.ts";

type LookOf = EvictionLaw["look"];
type LookBug = (law: EvictionLaw) => Partial<EvictionLaw>;

export const lookBugs = {
  "evict-soft-without-grace": withThresholds((threshold) => ({ ...threshold, graceMillis: 0 })),
  "evict-grace-of-the-shortest": withThresholds((threshold, all) =>
    threshold.graceMillis === 0 ? threshold : { ...threshold, graceMillis: shortestGrace(all) },
  ),
  "evict-min-reclaim-too-little": withThresholds((threshold) => ({ ...threshold, minimumReclaim: { amount: 0 } })),
  "evict-minimum-reclaim-of-hard-alone": withThresholds((threshold) =>
    threshold.graceMillis > 0 ? { ...threshold, minimumReclaim: { amount: 0 } } : threshold,
  ),
  "evict-minimum-reclaim-from-the-start": ({ look }) => ({
    look: (thresholds, before, ...rest) => look(thresholds, { ...before, drove: thresholds.map(() => true) }, ...rest),
  }),
  "evict-grace-goes-on": ({ look }) => ({
    look(thresholds, before, ...rest) {
      const seen = look(thresholds, before, ...rest);
      const heldSinceMicros = seen.state.heldSinceMicros.map((since, at) => since ?? before.heldSinceMicros[at]);
      return { ...seen, state: { ...seen.state, heldSinceMicros } };
    },
  }),
  "evict-waits-for-a-second-look": onlyActing((drove) => drove),
  "evict-stops-after-first": onlyActing((drove) => !drove),
  "evict-on-old-figures": ({ look }) => ({
    look(...asked) {
      const seen = look(...asked);
      return { ...seen, acting: seen.driving };
    },
  }),
  "evict-pressure-flap": ({ look }) => ({
    look: (thresholds, before, observations, nowMicros, transitionMicros, isShort) =>
      look(thresholds, before, observations, nowMicros, Math.min(1, transitionMicros), isShort),
  }),
  "evict-condition-after-grace": raisedWhere((condition, { driving }) =>
    driving.some((threshold) => conditionOf(threshold) === condition),
  ),
  "evict-condition-of-hard-alone": raisedWhere((condition, { state }, { thresholds }) =>
    thresholds.some(
      (threshold, at) =>
        threshold.graceMillis === 0 && state.heldSinceMicros[at] !== undefined && conditionOf(threshold) === condition,
    ),
  ),
  "evict-transition-from-first": raisedWhere((condition, _seen, { before, nowMicros, transitionMicros }) => {
    const last = before.lastHeldMicros[condition];
    return last === undefined || nowMicros - last >= transitionMicros;
  }),
  "evict-pids-ignored": whereShort(
    (threshold, observations) => threshold.signal !== "pid.available" && isMet(threshold, observations),
  ),
  "evict-percent-of-allocatable": whereShort((threshold, observations) => {
    const seen = observations[threshold.signal];
    if (seen === undefined) return false;
    const { available, capacity } = seen;
    return available < amountOf(threshold.value, capacity - amountOf(threshold.value, capacity));
  }),
  "evict-at-the-threshold": whereShort((threshold, observations) => {
    const seen = observations[threshold.signal];
    return seen !== undefined && seen.available <= amountOf(threshold.value, seen.capacity);
  }),
} as const satisfies Partial<Record<AgentBugName, LookBug>>;

const conditionOf = ({ signal }: EvictionThreshold): PressureCondition => evictionSignals[signal].condition;

const shortestGrace = (all: readonly EvictionThreshold[]): number =>
  all.reduce((least, { graceMillis }) => (graceMillis > 0 ? Math.min(least, graceMillis) : least), Infinity);

/** The look takes thresholds for others; what it tells of are those that there are. */
function withThresholds(
  change: (threshold: EvictionThreshold, all: readonly EvictionThreshold[]) => EvictionThreshold,
): LookBug {
  return ({ look }) => ({
    look(thresholds, ...rest) {
      const taken = thresholds.map((threshold) => change(threshold, thresholds));
      const seen = look(taken, ...rest);
      const own = (threshold: EvictionThreshold): EvictionThreshold =>
        thresholds[taken.indexOf(threshold)] as EvictionThreshold;
      return { ...seen, driving: seen.driving.map(own), acting: seen.acting.map(own) };
    },
  });
}

/** Of those that drive, the ones that did so at the last look, or that did not. */
function onlyActing(acts: (drove: boolean) => boolean): LookBug {
  return ({ look }) => ({
    look(thresholds, before, ...rest) {
      const seen = look(thresholds, before, ...rest);
      const acting = seen.acting.filter((threshold) => acts(before.drove[thresholds.indexOf(threshold)] === true));
      return { ...seen, acting };
    },
  });
}

interface LookFacts {
  readonly thresholds: readonly EvictionThreshold[];
  readonly before: PressureState;
  readonly nowMicros: Micros;
  readonly transitionMicros: Micros;
}

/** A condition is raised by this look only where `isRaised` says so. */
function raisedWhere(isRaised: (condition: PressureCondition, seen: Look, at: LookFacts) => boolean): LookBug {
  return ({ look }) => ({
    look(thresholds, before, observations, nowMicros, transitionMicros, isShort) {
      const seen = look(thresholds, before, observations, nowMicros, transitionMicros, isShort);
      const facts = { thresholds, before, nowMicros, transitionMicros };
      const lastHeldMicros = Object.fromEntries(
        pressureConditions.flatMap((condition) => {
          const isHeld = seen.state.lastHeldMicros[condition] === nowMicros;
          const from = isHeld && !isRaised(condition, seen, facts) ? before : seen.state;
          const last = from.lastHeldMicros[condition];
          return last === undefined ? [] : [[condition, last] as const];
        }),
      );
      const state = { ...seen.state, lastHeldMicros };
      return { ...seen, state, conditions: conditionsOf(state, nowMicros, transitionMicros) };
    },
  });
}

/** Another reading of a threshold's value. */
function whereShort(isShort: NonNullable<Parameters<LookOf>[5]>): LookBug {
  return ({ look }) => ({
    look: (thresholds, before, observations, nowMicros, transitionMicros) =>
      look(thresholds, before, observations, nowMicros, transitionMicros, isShort),
  });
}
