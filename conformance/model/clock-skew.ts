/** How far the clocks of a target's servers are apart, as far as its answers show it. */
import type { WireResponse } from "../../wire/ports.ts";

/** One answer: when it was asked for and complete, by the suite's clock, and its `Date`, if it has one. */
export interface Dated {
  readonly sentAtMillis: number;
  readonly endedAtMillis: number | undefined;
  readonly headers: WireResponse["headers"];
}

/**
 * Milliseconds that the clocks must differ at least for all dates to be true; 0 when one clock could have said them
 * all. A date has whole seconds, cut off.
 */
export function clockSkewMillis(answers: readonly Dated[]): number {
  let aheadAtLeast = Number.NEGATIVE_INFINITY;
  let aheadAtMost = Number.POSITIVE_INFINITY;
  for (const { sentAtMillis, endedAtMillis, headers } of answers) {
    const date = Date.parse(String(headers["date"] ?? ""));
    if (Number.isNaN(date) || endedAtMillis === undefined) continue;
    aheadAtLeast = Math.max(aheadAtLeast, date - endedAtMillis);
    aheadAtMost = Math.min(aheadAtMost, date + 1000 - sentAtMillis);
  }
  return Math.max(0, aheadAtLeast - aheadAtMost);
}
