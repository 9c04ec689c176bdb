import { parseGoDuration } from "../../wire/durations.ts";

/** A length of time: Go's notation (`"90s"`, `"5m"`, `"1h30m"`), or `{ millis }`. */
export type Duration = string | { readonly millis: number };

/** Integer microseconds. Throws for text that is no duration, and for a negative one. */
export function durationMicros(duration: Duration): number {
  const micros = typeof duration === "string" ? parseGoDuration(duration) : Math.round(duration.millis * 1000);
  if (micros === undefined || !(micros >= 0 && Number.isSafeInteger(micros))) {
    throw new RangeError(`not a duration: ${JSON.stringify(duration)}; write "90s", "5m", "1h30m" or { millis: 250 }`);
  }
  return micros;
}

export const durationText = (duration: Duration): string =>
  typeof duration === "string" ? duration : `${duration.millis}ms`;
