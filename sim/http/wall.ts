/** Real time for the wall driver: node's monotonic clock and timers, taken before any trap covers them. */
import { performance } from "node:perf_hooks";
import { clearImmediate, clearTimeout, setImmediate, setTimeout } from "node:timers";
import { LoopShare } from "../kernel/loop-share.ts";
import { PacedSessions } from "../kernel/paced-sessions.ts";
import type { WallPorts } from "../kernel/wall-driver.ts";

const monotonicMillis = performance.now.bind(performance);

export const wallPorts: WallPorts = {
  nowMicros: () => Math.floor(monotonicMillis() * 1000),
  wake(delayMicros, fire) {
    if (delayMicros === 0) {
      const next = setImmediate(fire);
      return () => clearImmediate(next);
    }
    const timer = setTimeout(fire, Math.ceil(delayMicros / 1000));
    return () => clearTimeout(timer);
  },
};

/** Of this process. */
export const loopShare = new LoopShare(wallPorts);

/** Of this process. */
export const pacedSessions = new PacedSessions(wallPorts);

const WallDate = Date;
let dateSecond = 0;
let dateText = "";

/** The value of a response's `Date`. It is written out once a second. */
export function httpDate(): string {
  const second = Math.floor(WallDate.now() / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateText = new WallDate(second * 1000).toUTCString();
  }
  return dateText;
}
