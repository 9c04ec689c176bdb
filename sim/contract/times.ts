/** Times as objects carry them: whole seconds, RFC 3339, UTC, from the server's clock. */
import { formatTime, parseTime } from "../../wire/time.ts";
import { invariant } from "../kernel/invariant.ts";
import type { Clock } from "../kernel/types.ts";

export class Times {
  private readonly clock: Clock;

  constructor(clock: Clock) {
    this.clock = clock;
  }

  /** Whole seconds since 1970. */
  nowSeconds(): number {
    return Math.floor((this.clock.epochUnixMillis + this.clock.nowMicros() / 1000) / 1000);
  }

  now(): string {
    return formatTime(this.nowSeconds());
  }
}

/** Seconds since 1970 of a time that this server wrote. */
export function unixSeconds(text: string): number {
  const instant = parseTime(text);
  invariant("seconds" in instant, "a stored time is unreadable", text);
  return instant.seconds;
}
