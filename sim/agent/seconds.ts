/** Seconds that others have written: pods may name as many as a whole number holds, which no clock counts. */
import type { Micros } from "../kernel/types.ts";

/** A hundred years: what takes longer takes as long as it takes. */
const secondsMax = 100 * 366 * 86_400;

/** 0 for what lies before now, and for what is no number. */
export function microsOfSeconds(seconds: number): Micros {
  return Math.floor(Math.min(Math.max(0, seconds || 0), secondsMax) * 1_000_000);
}
