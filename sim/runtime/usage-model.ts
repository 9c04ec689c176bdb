/**
 * How much of something is used, as a function of time alone: nothing ticks, a figure is computed when it is asked for.
 * Amounts and times are safe integers >= 0; time is microseconds since the model began. Integer arithmetic only.
 */
import type { Micros } from "../kernel/types.ts";

export type UsageModel =
  | { readonly is: "constant"; readonly amount: number }
  /** From one amount to another over a time (> 0), then it stays. */
  | { readonly is: "ramp"; readonly from: number; readonly to: number; readonly overMicros: Micros }
  /** Climbs from `low` to `high` during each period (> 0), and falls back at once. */
  | { readonly is: "sawtooth"; readonly low: number; readonly high: number; readonly periodMicros: Micros }
  /** Grows for ever. */
  | { readonly is: "leak"; readonly from: number; readonly perSecond: number }
  /** Points in the order of their times; the first holds before it too. With a period the table begins anew each time. */
  | {
      readonly is: "steps";
      readonly points: readonly { readonly atMicros: Micros; readonly amount: number }[];
      readonly periodMicros?: Micros;
    }
  /** An amount for each slot of time, in [low, high], drawn from the number of the slot and `seed` (32 bits). */
  | {
      readonly is: "random";
      readonly low: number;
      readonly high: number;
      readonly everyMicros: Micros;
      readonly seed: number;
    };

export const nothingUsed: UsageModel = { is: "constant", amount: 0 };

/** The amount in use at `atMicros`. */
export function amountAt(model: UsageModel, atMicros: Micros): number {
  switch (model.is) {
    case "constant":
      return model.amount;
    case "ramp":
      return between(model.from, model.to, Math.min(atMicros, model.overMicros), model.overMicros);
    case "sawtooth":
      return between(model.low, model.high, atMicros % model.periodMicros, model.periodMicros);
    case "leak":
      return model.from + multiplyDivide(model.perSecond, atMicros, 1_000_000);
    case "steps":
      return stepAt(model, atMicros);
    case "random":
      return model.low + (drawOf(model.seed, Math.floor(atMicros / model.everyMicros)) % (model.high - model.low + 1));
  }
}

/** ∫ of the amount from 0 to `atMicros`, in amount × seconds: what CPU time is to cores. Grows with time. */
export function totalUntil(model: UsageModel, atMicros: Micros): number {
  switch (model.is) {
    case "constant":
      return multiplyDivide(model.amount, atMicros, 1_000_000);
    case "ramp": {
      const climbing = Math.min(atMicros, model.overMicros);
      // Exact before it is rounded: a mean that is rounded first could make the sum of a fall shrink.
      const [from, to, over, at] = [model.from, model.to, model.overMicros, climbing].map(BigInt) as [
        bigint,
        bigint,
        bigint,
        bigint,
      ];
      const climbed = Number((2n * over * from * at + (to - from) * at * at) / (2_000_000n * over));
      return climbed + multiplyDivide(model.to, atMicros - climbing, 1_000_000);
    }
    case "sawtooth": {
      const into = atMicros % model.periodMicros;
      const whole = multiplyDivide(model.low + model.high, atMicros - into, 2_000_000);
      return whole + multiplyDivide(model.low + amountAt(model, into), into, 2_000_000);
    }
    case "leak":
      return multiplyDivide(model.from + amountAt(model, atMicros), atMicros, 2_000_000);
    case "steps": {
      const period = model.periodMicros;
      if (period === undefined || atMicros < period) return stepsUntil(model.points, atMicros);
      const into = atMicros % period;
      const rounds = (atMicros - into) / period;
      return rounds * stepsUntil(model.points, period) + stepsUntil(model.points, into);
    }
    case "random":
      // The mean of the draws: a sum over all slots would cost more the longer a run is.
      return multiplyDivide(model.low + model.high, atMicros, 2_000_000);
  }
}

/** Slots of a random model that one search looks through: the caller asks again from where it ended. */
const SLOTS_MAX = 1024;

const CENTURY_SECONDS = 3_155_760_000;

/**
 * The first moment at or after `fromMicros` at which more than `limit` is in use; undefined: never. `until` instead of
 * `at` when the search was given up: nothing is above the limit before that moment.
 */
export function firstAbove(
  model: UsageModel,
  limit: number,
  fromMicros: Micros,
): { readonly at: Micros } | { readonly until: Micros } | undefined {
  if (amountAt(model, fromMicros) > limit) return { at: fromMicros };
  switch (model.is) {
    case "constant":
      return undefined;
    case "ramp":
      return model.to > limit ? climb(model, limit, fromMicros, model.overMicros) : undefined;
    case "sawtooth": {
      if (amountAt(model, model.periodMicros - 1) <= limit) return undefined;
      const start = fromMicros - (fromMicros % model.periodMicros);
      const end = start + model.periodMicros - 1;
      // It only falls at the end of a period, so that what is left of this one climbs.
      if (amountAt(model, end) > limit && end >= fromMicros) return climb(model, limit, fromMicros, end);
      return climb(model, limit, end + 1, end + model.periodMicros);
    }
    case "leak": {
      if (model.perSecond === 0) return undefined;
      const seconds = Math.ceil((limit + 1 - model.from) / model.perSecond) + 1;
      // What takes longer than a century does not happen, and its microseconds would not be exact.
      if (seconds > CENTURY_SECONDS) return undefined;
      return climb(model, limit, fromMicros, Math.max(fromMicros, seconds * 1_000_000));
    }
    case "steps":
      return stepAbove(model, limit, fromMicros);
    case "random": {
      if (model.high <= limit) return undefined;
      let slot = Math.floor(fromMicros / model.everyMicros) + 1;
      for (let tried = 0; tried < SLOTS_MAX; tried++, slot++) {
        const at = slot * model.everyMicros;
        if (amountAt(model, at) > limit) return { at };
      }
      return { until: slot * model.everyMicros };
    }
  }
}

/** The first moment in (low, high] above the limit, of a stretch that does not fall and is above it at `high`. */
function climb(model: UsageModel, limit: number, low: Micros, high: Micros): { readonly at: Micros } {
  let below = low;
  let above = high;
  if (amountAt(model, below) > limit) return { at: below };
  while (above - below > 1) {
    const middle = below + Math.floor((above - below) / 2);
    if (amountAt(model, middle) > limit) above = middle;
    else below = middle;
  }
  return { at: above };
}

type Steps = Extract<UsageModel, { is: "steps" }>;

function stepAt({ points, periodMicros }: Steps, atMicros: Micros): number {
  const into = periodMicros === undefined ? atMicros : atMicros % periodMicros;
  let low = 0;
  let high = points.length;
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if ((points[middle] as { atMicros: Micros }).atMicros <= into) low = middle;
    else high = middle;
  }
  return points[low]?.amount ?? 0;
}

function stepsUntil(points: Steps["points"], untilMicros: Micros): number {
  let total = 0;
  for (let index = 0; index < points.length; index++) {
    const from = index === 0 ? 0 : (points[index] as Steps["points"][0]).atMicros;
    const to = Math.min(points[index + 1]?.atMicros ?? untilMicros, untilMicros);
    if (to > from) total += multiplyDivide((points[index] as Steps["points"][0]).amount, to - from, 1_000_000);
  }
  return total;
}

function stepAbove(
  { points, periodMicros }: Steps,
  limit: number,
  fromMicros: Micros,
): { readonly at: Micros } | undefined {
  const period = periodMicros ?? 0;
  const start = period === 0 ? 0 : fromMicros - (fromMicros % period);
  for (const round of period === 0 ? [0] : [start, start + period]) {
    for (const [index, point] of points.entries()) {
      const at = round + (index === 0 ? 0 : point.atMicros);
      if (point.amount > limit && at >= fromMicros && (period === 0 || at < round + period)) return { at };
    }
  }
  return undefined;
}

/** From `from` at 0 to `to` at `over`, rounded towards `from`. */
const between = (from: number, to: number, at: number, over: number): number =>
  to >= from ? from + multiplyDivide(to - from, at, over) : from - multiplyDivide(from - to, at, over);

/** ⌊a × b / c⌋ for integers a, b >= 0, c > 0, exact beyond 2^53 too. */
export function multiplyDivide(a: number, b: number, c: number): number {
  const product = a * b;
  if (product <= Number.MAX_SAFE_INTEGER) return (product - (product % c)) / c;
  return Number((BigInt(a) * BigInt(b)) / BigInt(c));
}

/** 32 bits that depend on both: a mixer whose every step is integer arithmetic. */
function drawOf(seed: number, slot: number): number {
  let mixed = (seed ^ Math.imul(slot >>> 0, 0x9e3779b1) ^ Math.floor(slot / 4_294_967_296)) >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
