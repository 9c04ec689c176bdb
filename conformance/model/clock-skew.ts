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
 * all, and at least 1 when none could. A date has whole seconds, cut off, so they may differ by up to two seconds more.
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
  // By one clock, an answer was asked for before the second after its date begins.
  return aheadAtLeast < aheadAtMost ? 0 : Math.max(1, aheadAtLeast - aheadAtMost);
}
