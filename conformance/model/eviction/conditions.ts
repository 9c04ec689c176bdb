/**
 * Laws of a node's pressure conditions and their taints.
 * Source: document 3, Options, --eviction-pressure-transition-period; the fact sheet of the 1.33 agent and its cluster's
 * node life-cycle controller for when conditions rise and for taints.
 */
import { evictionSignals, type PressureCondition } from "../../../wire/eviction-thresholds.ts";
import type { Violation } from "../../client/findings.ts";
import { type EvictionHistory, judgeEach, type Judgement, type NodeSighting } from "./history.ts";
import { describeReading, isReported, type Pressure, pressuresOf } from "./pressure.ts";

export const pressureConditions = [...new Set(Object.values(evictionSignals).map(({ condition }) => condition))];

/** While a threshold is held its condition is True, whatever the grace period. */
export function judgeRaised(history: EvictionHistory): Judgement {
  return judgeSightings(history, (condition, shown, states) => {
    const heldNow = states.length > 0 && states.every((at) => at.lastHeldMillis.get(condition) === at.reading.atMillis);
    return heldNow
      ? { lawful: shown === "True", expected: `${condition} is True while a threshold is held` }
      : undefined;
  });
}

/** When nothing is held any more the condition stays for the whole transition period. */
export function judgeTransition(history: EvictionHistory): Judgement {
  const { transitionMillis } = history.rules;
  return judgeSightings(history, (condition, shown, states) => {
    const stays =
      states.length > 0 &&
      states.every((at) => isReported(condition, at, transitionMillis)) &&
      states.some((at) => at.lastHeldMillis.get(condition) !== at.reading.atMillis);
    return stays
      ? { lawful: shown === "True", expected: `${condition} stays True for ${transitionMillis} ms after the pressure` }
      : undefined;
  });
}

/** Without pressure, and when its transition period is over, the condition is False. */
export function judgeCleared(history: EvictionHistory): Judgement {
  const { transitionMillis } = history.rules;
  return judgeSightings(history, (condition, shown, states) => {
    const clear = states.length > 0 && states.every((at) => !isReported(condition, at, transitionMillis));
    return clear ? { lawful: shown === "False", expected: `${condition} is False without pressure` } : undefined;
  });
}

/** A condition that stays as it is has its taint, or has it no more. */
export function judgeTaints({ sightings, patience }: Pick<EvictionHistory, "sightings" | "patience">): Judgement {
  const settled = sightings.flatMap((sighting, index) =>
    pressureConditions.flatMap((condition) => {
      const status = sighting.conditions[condition];
      const earlier = sightings.slice(0, index + 1).reverse();
      const changed = earlier.findIndex((at) => at.conditions[condition] !== status);
      const since = earlier[changed < 0 ? earlier.length - 1 : changed - 1] as NodeSighting;
      const long = sighting.atMillis - since.atMillis >= patience.taintMillis;
      return long && (status === "True" || status === "False") ? [{ sighting, condition, status }] : [];
    }),
  );
  return judgeEach(settled, ({ sighting, condition, status }) => {
    const tainted = sighting.taints.has(condition);
    if (tainted === (status === "True")) return undefined;
    const taint = `a NoSchedule taint of ${condition}`;
    return {
      expected: `${status === "True" ? taint : `no ${taint.slice(2)}`} after ${patience.taintMillis} ms of ${status}`,
      actual: `${tainted ? "tainted" : "not tainted"} at ${sighting.atMillis} ms`,
    };
  });
}

type JudgeShown = (
  condition: PressureCondition,
  shown: "True" | "False",
  states: readonly Pressure[],
) => { readonly lawful: boolean; readonly expected: string } | undefined;

/** A status may be as old as reports take, so it is wrong only when it was so at no look of that time. */
function judgeSightings(history: EvictionHistory, judge: JudgeShown): Judgement {
  if (history.rules.transitionMillis <= 0) return { judged: false, violation: undefined }; // then nothing is reported
  const pressures = pressuresOf(history.rules, history.readings);
  const occasions = history.sightings.flatMap((sighting) =>
    pressureConditions.flatMap((condition) => {
      const shown = sighting.conditions[condition];
      if (shown !== "True" && shown !== "False") return [];
      const states = statesBefore(pressures, sighting.atMillis, history.patience.reportMillis);
      const verdict = judge(condition, shown, states);
      return verdict === undefined ? [] : [{ sighting, condition, shown, states, verdict }];
    }),
  );
  return judgeEach(occasions, ({ sighting, condition, shown, states, verdict }): Violation | undefined => {
    if (verdict.lawful) return undefined;
    const looks = states.map(({ reading }) => describeReading(reading)).join("; ");
    return {
      expected: verdict.expected,
      actual: `${condition} ${shown} at ${sighting.atMillis} ms; ${looks.slice(0, 400)}`,
    };
  });
}

/** What the agent may have told at `atMillis`: the looks of the time that a report takes, and the one before them. */
function statesBefore(pressures: readonly Pressure[], atMillis: number, reportMillis: number): readonly Pressure[] {
  const past = pressures.filter(({ reading }) => reading.atMillis <= atMillis);
  const first = past.findLastIndex(({ reading }) => reading.atMillis <= atMillis - reportMillis);
  return first < 0 ? [] : past.slice(first); // before the first look nothing is known
}
