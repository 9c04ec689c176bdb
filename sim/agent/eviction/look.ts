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
import type { AgentBugs } from "../../planted/agent-bugs.ts";
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
  bugs: AgentBugs,
): Look {
  const heldSinceMicros: (Micros | undefined)[] = [];
  const drove: boolean[] = [];
  const lastHeldMicros = { ...before.lastHeldMicros };
  const driving: EvictionThreshold[] = [];
  const acting: EvictionThreshold[] = [];
  for (const [at, threshold] of thresholds.entries()) {
    const forgets =
      bugs["evict-min-reclaim-too-little"] ||
      (bugs["evict-minimum-reclaim-of-hard-alone"] && threshold.graceMillis > 0);
    const wanting =
      (before.drove[at] === true || bugs["evict-minimum-reclaim-from-the-start"]) &&
      !forgets &&
      isUnresolved(threshold, observations);
    const held = wanting || isMet(threshold, observations, bugs);
    const goesOn = held || bugs["evict-grace-goes-on"];
    const since = goesOn ? (before.heldSinceMicros[at] ?? (held ? nowMicros : undefined)) : undefined;
    const graceMicros = graceOf(threshold, thresholds, bugs) * 1000;
    const drives = held && since !== undefined && nowMicros - since >= graceMicros;
    heldSinceMicros.push(since);
    drove.push(drives);
    const { condition } = evictionSignals[threshold.signal];
    if (held && raises(threshold, drives, before.lastHeldMicros[condition], nowMicros, transitionMicros, bugs)) {
      lastHeldMicros[condition] = nowMicros;
    }
    if (!drives) continue;
    driving.push(threshold);
    if (bugs["evict-waits-for-a-second-look"] && before.drove[at] !== true) continue;
    if (bugs["evict-stops-after-first"] && before.drove[at] === true) continue;
    const isFresh = isNew(threshold, observations, before.observations) || bugs["evict-on-old-figures"];
    if (isFresh) acting.push(threshold);
  }
  const toldMicros = bugs["evict-pressure-flap"] ? Math.min(1, transitionMicros) : transitionMicros;
  const conditions = pressureConditions.filter((condition) => {
    const last = lastHeldMicros[condition];
    return last !== undefined && nowMicros - last < toldMicros;
  });
  return { state: { heldSinceMicros, drove, lastHeldMicros, observations }, conditions, driving, acting };
}

/** Milliseconds that a threshold is held before it drives. */
function graceOf(
  { graceMillis }: EvictionThreshold,
  thresholds: readonly EvictionThreshold[],
  bugs: AgentBugs,
): number {
  if (bugs["evict-soft-without-grace"]) return 0;
  if (!bugs["evict-grace-of-the-shortest"] || graceMillis === 0) return graceMillis;
  return thresholds.reduce(
    (least, threshold) => (threshold.graceMillis > 0 ? Math.min(least, threshold.graceMillis) : least),
    graceMillis,
  );
}

/** A threshold that is held raises its condition at every look, whatever its grace period. */
function raises(
  { graceMillis }: EvictionThreshold,
  drives: boolean,
  lastMicros: Micros | undefined,
  nowMicros: Micros,
  transitionMicros: Micros,
  bugs: AgentBugs,
): boolean {
  if (bugs["evict-condition-after-grace"] && !drives) return false;
  if (bugs["evict-condition-of-hard-alone"] && graceMillis > 0) return false;
  const isFirst = lastMicros === undefined || nowMicros - lastMicros >= transitionMicros;
  return isFirst || !bugs["evict-transition-from-first"];
}

/** Strictly below: exactly as much as the threshold says is enough. What is not observed is no reason. */
export function isMet(threshold: EvictionThreshold, observations: Observations, bugs: AgentBugs): boolean {
  const seen = observations[threshold.signal];
  if (seen === undefined) return false;
  if (bugs["evict-pids-ignored"] && threshold.signal === "pid.available") return false;
  const whole = amountOf(threshold.value, seen.capacity);
  const value = bugs["evict-percent-of-allocatable"] ? amountOf(threshold.value, seen.capacity - whole) : whole;
  return seen.available < value || (bugs["evict-at-the-threshold"] && seen.available === value);
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
