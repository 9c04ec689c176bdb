/**
 * Integers of 64 bits. Those that a double holds exactly are numbers; those beyond 2^53 are bigints, though the types
 * of JSON values call them numbers: they compare, print and are equal as such. Sums need the functions here.
 */

/** Undefined for what is no integer of 64 bits. */
export function int64Of(value: unknown): number | undefined {
  if (typeof value === "number") {
    if (Number.isSafeInteger(value)) return value === 0 ? 0 : value; // no -0
    return Number.isInteger(value) ? int64Of(BigInt(value)) : undefined;
  }
  if (typeof value !== "bigint" || BigInt.asIntN(64, value) !== value) return undefined;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : (value as unknown as number);
}

/** One more; after the largest comes the smallest. */
export function incremented(value: number): number {
  const next = typeof value === "number" ? value + 1 : Number.NaN;
  if (Number.isSafeInteger(next)) return next;
  return int64Of(BigInt.asIntN(64, BigInt(value) + 1n)) as number;
}

/**
 * Whole seconds that the real server would wait for `seconds`: its durations are nanoseconds in 64 bits, which wrap
 * beyond 292 years. Source: the language's rules for sums of integers.
 */
export function durationSeconds(seconds: number): number {
  if (Math.abs(Number(seconds)) <= 9_223_372_036) return seconds;
  return Number(BigInt.asIntN(64, BigInt(seconds) * 1_000_000_000n) / 1_000_000_000n);
}
