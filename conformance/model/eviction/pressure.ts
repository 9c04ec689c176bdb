/**
 * What each look at usage means for a lawful agent: which thresholds hold it under pressure, and which drive evictions.
 * Source: document 3, Options, --eviction-hard, -soft, -soft-grace-period and -minimum-reclaim; the passes of the 1.33
 * agent where that is silent.
 */
import {
  amountOf,
  evictionSignals,
  type EvictionRules,
  type EvictionThreshold,
  type PressureCondition,
} from "../../../wire/eviction-thresholds.ts";
import type { UsageReading } from "../../../wire/node-host.ts";

export interface Pressure {
  readonly reading: UsageReading;
  /** Less than their value is available, or, once they drove, less than the minimum reclaim wants. */
  readonly held: readonly EvictionThreshold[];
  /** Held for their grace period, through every look. */
  readonly driving: readonly EvictionThreshold[];
  /** The figures are those of the look before: what they want has perhaps been done since. */
  readonly stale: boolean;
  /** Per condition, the last look at which it was held. */
  readonly lastHeldMillis: ReadonlyMap<PressureCondition, number>;
}

export function pressuresOf(rules: EvictionRules, readings: readonly UsageReading[]): Pressure[] {
  const pressures: Pressure[] = [];
  let firstHeldMillis = new Map<EvictionThreshold, number>();
  for (const reading of readings) {
    const before = pressures.at(-1);
    const held = rules.thresholds.filter(
      (threshold) =>
        isMet(threshold, reading) || (before?.driving.includes(threshold) === true && isUnresolved(threshold, reading)),
    );
    // A look without it starts its grace period anew.
    firstHeldMillis = new Map(held.map((at) => [at, firstHeldMillis.get(at) ?? reading.atMillis]));
    const lastHeldMillis = new Map(before?.lastHeldMillis);
    for (const { signal } of held) lastHeldMillis.set(evictionSignals[signal].condition, reading.atMillis);
    pressures.push({
      reading,
      held,
      driving: held.filter((at) => reading.atMillis - (firstHeldMillis.get(at) as number) >= at.graceMillis),
      stale: before !== undefined && reading.takenMillis <= before.reading.takenMillis,
      lastHeldMillis,
    });
  }
  return pressures;
}

/** Strictly below: exactly as much as the threshold says is enough. No observation is no reason. */
export function isMet({ signal, value }: EvictionThreshold, { signals }: UsageReading): boolean {
  const seen = signals[signal];
  return seen !== undefined && seen.available < amountOf(value, seen.capacity);
}

/** Less than the value and the minimum reclaim together. */
function isUnresolved({ signal, value, minimumReclaim }: EvictionThreshold, { signals }: UsageReading): boolean {
  const seen = signals[signal];
  if (seen === undefined) return false;
  return seen.available < amountOf(value, seen.capacity) + amountOf(minimumReclaim, seen.capacity);
}

/** What the agent reports from this look on. */
export function isReported(condition: PressureCondition, pressure: Pressure, transitionMillis: number): boolean {
  const last = pressure.lastHeldMillis.get(condition);
  return last !== undefined && pressure.reading.atMillis - last < transitionMillis;
}

export function describeThreshold({ signal, value, graceMillis }: EvictionThreshold): string {
  const text = "amount" in value ? String(value.amount) : `${(value.fraction * 100).toPrecision(6)}%`;
  return `${signal}<${text}${graceMillis === 0 ? "" : ` for ${graceMillis} ms`}`;
}

export function describeReading({ atMillis, signals }: UsageReading): string {
  const shown = Object.entries(signals).map(([signal, seen]) => `${signal} ${seen.available} of ${seen.capacity}`);
  return `at ${atMillis} ms: ${shown.join(", ")}`;
}
