/**
 * What one look at usage means: which thresholds are held, which drive evictions, which conditions are told. Pure.
 * Source: document 3, Options, --eviction-hard to --eviction-pressure-transition-period; the fact sheet of the 1.33
 * agent, one pass, steps 3 to 9.
 */
import {
  amountOf,
  evictionSignals,
  type EvictionThreshold,
  type PressureCondition,
} from "../../../wire/eviction-thresholds.ts";
import type { Micros } from "../../kernel/types.ts";
import type { Observations } from "./observations.ts";

/** In the order in which conditions are told. */
export const pressureConditions = ["MemoryPressure", "DiskPressure", "PIDPressure"] as const;

/** What one look leaves for the next. Lists have a place a threshold. */
export interface PressureState {
  /** Since when it has been held at every look. */
  readonly heldSinceMicros: readonly (Micros | undefined)[];
  /** It was held for its grace period at the last look. */
  readonly drove: readonly boolean[];
  readonly lastHeldMicros: Readonly<Partial<Record<PressureCondition, Micros>>>;
  readonly observations: Observations;
}

export const calm: PressureState = { heldSinceMicros: [], drove: [], lastHeldMicros: {}, observations: {} };

export interface Look {
  readonly state: PressureState;
  /** True as far as the node tells; in the order of `pressureConditions`. */
  readonly conditions: readonly PressureCondition[];
  /** Held for their grace periods. */
  readonly driving: readonly EvictionThreshold[];
  /** Of these, the ones whose figures are new. */
  readonly acting: readonly EvictionThreshold[];
}

export function look(
  thresholds: readonly EvictionThreshold[],
  before: PressureState,
  observations: Observations,
  nowMicros: Micros,
  transitionMicros: Micros,
  isShort: typeof isMet = isMet,
): Look {
  const heldSinceMicros: (Micros | undefined)[] = [];
  const drove: boolean[] = [];
  const lastHeldMicros = { ...before.lastHeldMicros };
  const driving: EvictionThreshold[] = [];
  const acting: EvictionThreshold[] = [];
  for (const [at, threshold] of thresholds.entries()) {
    const wanting = before.drove[at] === true && isUnresolved(threshold, observations);
    const held = wanting || isShort(threshold, observations);
    const since = held ? (before.heldSinceMicros[at] ?? nowMicros) : undefined;
    const drives = since !== undefined && nowMicros - since >= threshold.graceMillis * 1000;
    heldSinceMicros.push(since);
    drove.push(drives);
    // A threshold that is held raises its condition at every look, whatever its grace period.
    if (held) lastHeldMicros[evictionSignals[threshold.signal].condition] = nowMicros;
    if (!drives) continue;
    driving.push(threshold);
    if (isNew(threshold, observations, before.observations)) acting.push(threshold);
  }
  const state = { heldSinceMicros, drove, lastHeldMicros, observations };
  return { state, conditions: conditionsOf(state, nowMicros, transitionMicros), driving, acting };
}

/** A condition is told until its transition period is over since a threshold was last held. */
export function conditionsOf(
  { lastHeldMicros }: Pick<PressureState, "lastHeldMicros">,
  nowMicros: Micros,
  transitionMicros: Micros,
): readonly PressureCondition[] {
  return pressureConditions.filter((condition) => {
    const last = lastHeldMicros[condition];
    return last !== undefined && nowMicros - last < transitionMicros;
  });
}

/** Strictly below: exactly as much as the threshold says is enough. What is not observed is no reason. */
export function isMet({ signal, value }: EvictionThreshold, observations: Observations): boolean {
  const seen = observations[signal];
  return seen !== undefined && seen.available < amountOf(value, seen.capacity);
}

/** Less than the value and the minimum reclaim together. */
export function isUnresolved(threshold: EvictionThreshold, observations: Observations): boolean {
  const seen = observations[threshold.signal];
  if (seen === undefined) return false;
  const wanted = amountOf(threshold.value, seen.capacity) + amountOf(threshold.minimumReclaim, seen.capacity);
  return seen.available < wanted;
}

/** Old figures do not know of the eviction that they caused. */
function isNew({ signal }: EvictionThreshold, now: Observations, before: Observations): boolean {
  const seen = now[signal];
  const last = before[signal];
  return seen !== undefined && (last === undefined || seen.takenMicros > last.takenMicros);
}
