/**
 * Laws of who is evicted when. An eviction is shown only when the pod's containers have ended, so each was decided at one
 * of several looks; it is lawful when there is one at which a lawful agent could have decided so.
 * Source: document 3, Options, --eviction-hard to --eviction-minimum-reclaim; the fact sheet of the 1.33 agent.
 */
import { largest } from "../../../wire/lists.ts";
import type { EvictionThreshold } from "../../../wire/eviction-thresholds.ts";
import type { Violation } from "../../client/findings.ts";
import {
  type EvictionHistory,
  isCritical,
  judgeEach,
  type Judgement,
  type PodLife,
  type Victim,
  victimsOf,
} from "./history.ts";
import { describeReading, describeThreshold, isMet, type Pressure, pressuresOf } from "./pressure.ts";
import { mayPrecede } from "./ranking.ts";

/** Nobody is evicted but below a threshold, or for what its minimum reclaim still wants. */
export function judgeNeed(history: EvictionHistory): Judgement {
  return judgeDeciding(history, {
    when: "below a threshold, or within its minimum reclaim",
    good: isHeld,
  });
}

/** A soft threshold drives nothing before it was held for its grace period, at every look. */
export function judgeGracePeriod(history: EvictionHistory): Judgement {
  const concerned = history.rules.thresholds.some(({ graceMillis }) => graceMillis > 0);
  const judgement = judgeDeciding(history, {
    given: isHeld,
    when: "when a threshold was held for its grace period",
    good: isDriven,
  });
  return concerned ? judgement : unjudged;
}

/** What old figures want may have been done already. */
export function judgeFreshFigures(history: EvictionHistory): Judgement {
  return judgeDeciding(history, { given: isDriven, when: "at a look with figures that are new", good: isActionable });
}

/**
 * A pod ends within the time that its eviction leaves it, and is left that time. `which` says of which thresholds: where
 * several drive, any may be the one that was acted on.
 */
export function judgeTimeToEnd(
  history: EvictionHistory,
  which: (threshold: EvictionThreshold) => boolean = () => true,
): Judgement {
  const pressures = pressuresOf(history.rules, history.readings);
  const explained = victimsOf(history).flatMap((victim) => {
    const ways = decidingOf(history, pressures, victim)
      .filter(isActionable)
      .flatMap((pressure) => actingOn(pressure).map((threshold) => ({ pressure, threshold })));
    return ways.some(({ threshold }) => which(threshold)) ? [{ victim, ways }] : [];
  });
  return judgeEach(explained, ({ victim, ways }) => {
    const { seenMillis } = victim.eviction;
    const times = ways.map(({ pressure, threshold }) => {
      const { leastMillis, mostMillis } = timeToEnd(history, victim, threshold);
      const { atMillis } = pressure.reading;
      return { fromMillis: atMillis + leastMillis, toMillis: atMillis + mostMillis + history.patience.evictionMillis };
    });
    if (times.some(({ fromMillis, toMillis }) => seenMillis >= fromMillis && seenMillis <= toMillis)) return undefined;
    const spans = times.map(({ fromMillis, toMillis }) => `from ${fromMillis} to ${toMillis} ms`);
    return {
      expected: `${victim.name} is shown to have ended when the grace period of its eviction is over, ${[...new Set(spans)].slice(0, 4).join(", or ")}`,
      actual: `shown at ${seenMillis} ms; ${describeAll(ways.map(({ pressure }) => pressure))}`,
    };
  });
}

export const isHard = ({ graceMillis }: EvictionThreshold): boolean => graceMillis === 0;
export const isSoft = ({ graceMillis }: EvictionThreshold): boolean => graceMillis > 0;

/** Never static pods, nor those of the system's priorities. */
export function judgeSpared(history: EvictionHistory): Judgement {
  const judgement = judgeEach(victimsOf(history), (victim) =>
    isCritical(victim)
      ? {
          expected: `${victim.name} is never evicted: it is ${victim.static ? "static" : `of priority ${victim.priority}`}`,
          actual: `evicted at ${victim.eviction.seenMillis} ms`,
        }
      : undefined,
  );
  return { ...judgement, judged: judgement.judged && history.pods.some(isCritical) };
}

/** At most one pod a look. */
export function judgeOneALook(history: EvictionHistory): Judgement {
  const victims = victimsOf(history);
  const plan = planOf(history, () => true);
  return {
    judged: victims.length > 1,
    violation: plan.possible
      ? undefined
      : { expected: "at most one pod is evicted at each look at usage", actual: plan.actual },
  };
}

/** Each victim was, when it was chosen, the first in the order of its resource. */
export function judgeRanking(history: EvictionHistory): Judgement {
  if (!planOf(history, () => true).possible) return unjudged; // no order of looks could be ranked
  const plan = planOf(history, (victim, pressure, others) => isFirst(history, victim, pressure, others));
  return {
    judged: victimsOf(history).length > 0 && history.pods.length > 1,
    violation: plan.possible
      ? undefined
      : {
          expected:
            "the first pod in the resource's order is evicted: usage above its request, low priority, the most above",
          actual: plan.actual,
        },
  };
}

/** A pod is evicted while a threshold drives and some pod may be. `which` says of which thresholds. */
export function judgeActs(
  history: EvictionHistory,
  which: (threshold: EvictionThreshold, pressure: Pressure) => boolean,
): Judgement {
  const pressures = pressuresOf(history.rules, history.readings);
  const victims = victimsOf(history);
  const windows = victims.map((victim) => decidingOf(history, pressures, victim));
  const graceMillisMax = largest(
    history.pods.map(({ graceSeconds }) => graceSeconds * 1000),
    0,
  );
  const endMillis = pressures.at(-1)?.reading.atMillis ?? 0;
  const calls = pressures.flatMap((pressure, index) => {
    if (pressure.stale) return [];
    const atMillis = pressure.reading.atMillis;
    const untilMillis = atMillis + history.patience.evictionMillis;
    // Whoever goes must be shown to have gone before the record ends.
    if (endMillis < untilMillis + graceMillisMax) return [];
    const span = spanFrom(pressures, index, untilMillis);
    const next = pressures[index + span.length];
    const threshold = pressure.driving.find(
      (at) =>
        which(at, pressure) &&
        span.every(({ driving }) => driving.includes(at)) &&
        (next === undefined || next.driving.includes(at) || !pressure.driving.some(isOfDisk)),
    );
    const waiting = history.pods.find(
      (pod) => !isCritical(pod) && pod.startedMillis <= atMillis && pod.lastAliveMillis >= untilMillis,
    );
    return threshold !== undefined && waiting !== undefined ? [{ pressure, threshold, waiting, untilMillis }] : [];
  });
  return judgeEach(calls, ({ pressure, threshold, waiting, untilMillis }): Violation | undefined => {
    if (windows.some((window) => window.includes(pressure))) return undefined;
    return {
      expected: `a pod is evicted under ${describeThreshold(threshold)}, ${describeReading(pressure.reading)}`,
      actual: `none until ${untilMillis} ms, and ${waiting.name} runs`,
    };
  });
}

/**
 * Where a disk is short, what nobody uses is deleted from it before pods are evicted, for whatever, and then figures are taken once more,
 * which are not seen here. That they were still low is known only where they are at the next look.
 */
const isOfDisk = ({ signal }: EvictionThreshold): boolean =>
  signal.startsWith("nodefs.") || signal.startsWith("imagefs.");

/** The looks from one on, until a time. */
function spanFrom(pressures: readonly Pressure[], index: number, untilMillis: number): readonly Pressure[] {
  let end = index;
  while (end < pressures.length && (pressures[end] as Pressure).reading.atMillis <= untilMillis) end += 1;
  return pressures.slice(index, end);
}

/** Met now: what is only held for its minimum reclaim is another matter. */
export const underHard = (threshold: EvictionThreshold, { reading }: Pressure): boolean =>
  threshold.graceMillis === 0 && isMet(threshold, reading);
export const underSoft = (threshold: EvictionThreshold, { reading }: Pressure): boolean =>
  threshold.graceMillis > 0 && isMet(threshold, reading);
export const withinMinimumReclaim = (threshold: EvictionThreshold, { reading }: Pressure): boolean =>
  !isMet(threshold, reading);

const unjudged: Judgement = { judged: false, violation: undefined };

const isHeld = ({ held }: Pressure): boolean => held.length > 0;
const isDriven = ({ driving }: Pressure): boolean => driving.length > 0;
/** Something drives, and the figures are new. */
export const isActionable = (pressure: Pressure): boolean => isDriven(pressure) && !pressure.stale;

interface Deciding {
  /** Where no look is so, the eviction is another law's matter. */
  readonly given?: (pressure: Pressure) => boolean;
  readonly when: string;
  readonly good: (pressure: Pressure) => boolean;
}

/** Every eviction has a look at which it may have been decided that is as it should be. */
function judgeDeciding(history: EvictionHistory, { given, when, good }: Deciding): Judgement {
  const pressures = pressuresOf(history.rules, history.readings);
  const decided = victimsOf(history)
    .map((victim) => ({ victim, deciding: decidingOf(history, pressures, victim) }))
    .filter(({ deciding }) => given === undefined || deciding.some(given));
  return judgeEach(decided, ({ victim, deciding }) => {
    if (deciding.some(good)) return undefined;
    return {
      expected: `${victim.name} is evicted ${when}`,
      actual: `evicted until ${victim.eviction.seenMillis} ms; ${describeAll(deciding)}`,
    };
  });
}

/**
 * The looks at which an eviction may have been decided: its event follows soon, and where none was seen, the pod needs its
 * time to end, and is shown some time after. An agent that has deleted what nobody uses first, which may take it long, has not
 * looked again before the event: then it is the last look.
 */
export function decidingOf(history: EvictionHistory, pressures: readonly Pressure[], victim: Victim): Pressure[] {
  const { told, seenMillis } = victim.eviction;
  const { evictionMillis, tellMillis } = history.patience;
  const between = (fromMillis: number, untilMillis: number): Pressure[] =>
    pressures.filter(
      ({ reading: { atMillis } }) => atMillis >= fromMillis && atMillis < seenMillis && atMillis <= untilMillis,
    );
  if (told === undefined)
    return between(victim.lastAliveMillis - victim.graceSeconds * 1000 - evictionMillis, seenMillis);
  const soonBefore = between(told.afterMillis - tellMillis, told.byMillis);
  return soonBefore.length > 0 ? soonBefore : between(0, told.byMillis).slice(-1);
}

/** Hard: at once. Soft: the pod's own time, but not more than the configuration allows. */
function timeToEnd({ rules, negativeGraceIsOpen }: EvictionHistory, pod: PodLife, threshold: EvictionThreshold) {
  if (isHard(threshold)) return { leastMillis: 0, mostMillis: 0 };
  const isOwn = rules.maxPodGraceSeconds < 0;
  const mostMillis = Math.min(pod.graceSeconds, isOwn ? pod.graceSeconds : rules.maxPodGraceSeconds) * 1000;
  return { leastMillis: isOwn && negativeGraceIsOpen === true ? 0 : mostMillis, mostMillis };
}

/** The thresholds of which one is acted on: those of memory before all others, and among those any. */
export function actingOn({ driving }: Pressure): readonly EvictionThreshold[] {
  const ofMemory = driving.filter(({ signal }) => signal.toLowerCase().endsWith("memory.available"));
  return ofMemory.length > 0 ? ofMemory : driving;
}

interface EvictionPlan {
  readonly possible: boolean;
  /** What stands in the way. */
  readonly actual: string;
}

/**
 * Goes through the looks in their order and gives each at most one of the victims that may have been chosen there.
 * Victims that no look explains are other laws' matter.
 */
function planOf(
  history: EvictionHistory,
  lawful: (victim: Victim, pressure: Pressure, others: readonly PodLife[]) => boolean,
): EvictionPlan {
  const pressures = pressuresOf(history.rules, history.readings);
  const windows = new Map(
    victimsOf(history).map((victim) => [victim, new Set(decidingOf(history, pressures, victim).filter(isActionable))]),
  );
  const victims = [...windows.keys()].filter((victim) => (windows.get(victim) as Set<Pressure>).size > 0);
  const lastIndexOf = (victim: Victim) =>
    pressures.findLastIndex((at) => (windows.get(victim) as Set<Pressure>).has(at));
  const impossible = new Set<string>();
  let furthest: { index: number; left: readonly Victim[] } = { index: -1, left: victims };
  const fits = (index: number, left: readonly Victim[]): boolean => {
    if (left.length === 0) return true;
    const state = `${index}:${left.map(({ name }) => name).join()}`;
    const pressure = pressures[index];
    if (index > furthest.index) furthest = { index, left };
    if (pressure === undefined || impossible.has(state) || left.some((victim) => lastIndexOf(victim) < index))
      return false;
    const gone = victims.filter((victim) => !left.includes(victim));
    const others = history.pods.filter((pod) => !gone.includes(pod as Victim) && isThere(pod, pressure, left));
    for (const victim of left) {
      if (!(windows.get(victim) as Set<Pressure>).has(pressure) || !lawful(victim, pressure, others)) continue;
      if (
        fits(
          index + 1,
          left.filter((other) => other !== victim),
        )
      )
        return true;
    }
    if (fits(index + 1, left)) return true;
    impossible.add(state);
    return false;
  };
  const possible = fits(0, victims);
  const seen = furthest.left.map(({ name, eviction }) => `${name} (shown at ${eviction.seenMillis} ms)`).join(", ");
  const at = pressures[Math.min(furthest.index, pressures.length - 1)];
  return {
    possible,
    actual: at === undefined ? "" : `no look for ${seen} from the one ${describeReading(at.reading)}`,
  };
}

/** Surely a pod that can be chosen at this look: a victim until it is chosen, any other while it was seen to run. */
function isThere(pod: PodLife, { reading }: Pressure, left: readonly Victim[]): boolean {
  if (isCritical(pod) || pod.startedMillis > reading.atMillis) return false;
  return left.includes(pod as Victim) || pod.lastAliveMillis >= reading.atMillis;
}

/** The agent acts on one signal: memory before all others, and among those any. */
function isFirst(
  { dedicatedImagefs }: EvictionHistory,
  victim: Victim,
  pressure: Pressure,
  others: readonly PodLife[],
): boolean {
  const { reading } = pressure;
  const candidate = (pod: PodLife) => ({ pod, usage: reading.pods[pod.name] });
  const rivals = others.map(candidate);
  return actingOn(pressure).some(({ signal }) => mayPrecede(signal, candidate(victim), rivals, dedicatedImagefs));
}

function describeAll(pressures: readonly Pressure[]): string {
  if (pressures.length === 0) return "no look before it";
  return pressures
    .map(({ reading, driving, stale }) => {
      const drives = driving.length === 0 ? "nothing drives" : driving.map(describeThreshold).join(", ");
      return `${describeReading(reading)} (${drives}${stale ? ", old figures" : ""})`;
    })
    .join("; ")
    .slice(0, 600);
}
