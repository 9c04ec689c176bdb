import type { Attempt } from "./attempt.ts";

/** Asks again, ever more rarely, until there is an answer or the deadline has passed; asks at least once. */
export async function pollUntil<T>(
  attempt: Attempt,
  deadlineMillis: number,
  ask: () => Promise<T | undefined>,
): Promise<T | undefined> {
  for (let waitMillis = 1000; ; waitMillis = Math.min(waitMillis * 1.5, 10_000)) {
    const found = await ask();
    const leftMillis = deadlineMillis - attempt.clock.nowMillis();
    if (found !== undefined || leftMillis <= 0) return found;
    await attempt.client.pause(Math.min(waitMillis, leftMillis));
  }
}
