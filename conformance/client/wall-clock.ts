import type { SuiteClock } from "../../wire/ports.ts";

/** Real, monotonic time. */
export const wallClock: SuiteClock = {
  nowMillis: () => performance.timeOrigin + performance.now(),
  sleep: (millis) => new Promise((resolve) => setTimeout(resolve, millis)),
  after(millis, fire) {
    const timer = setTimeout(fire, millis);
    return () => clearTimeout(timer);
  },
};
