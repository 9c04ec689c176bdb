import fc from "fast-check";
import type { Collection } from "../../client/collection.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";

/** Property: timeoutSeconds ends a watch, cleanly and not before its time. How punctually is not promised. */
export const watchesEndAtTheirTimeout = defineCheck({
  id: "watches-end-at-their-timeout",
  area: "watch",
  property: "timeoutSeconds ends a watch.",
  requirements: ["watch.timeout", "watch.stream"],
  features: ["configmaps", "watch"],
  cost: "slow",
  input: fc.integer({ min: 1, max: 3 }),
  async run(attempt, seconds) {
    const collection = await attempt.target.collection("configmaps");
    for (let tries = 1; ; tries += 1) {
      const { ended, afterMillis, how } = await watchFor(attempt, collection, seconds);
      attempt.expect(
        "watch.timeout",
        ended,
        `the end of the watch after ${seconds} s`,
        `still open after ${afterMillis} ms`,
      );
      const isEarly = afterMillis < seconds * 1000 - 100; // clocks may tick apart a little
      // A server that goes away ends its watches whenever it does; but not each time.
      if (isEarly && how === "closed by the server" && tries < triesMax) continue;
      attempt.expect(
        "watch.timeout",
        how === "closed by the server" && !isEarly,
        `a clean end after ${seconds} s`,
        `${how} after ${afterMillis} ms${tries > 1 ? `, at the try ${tries}` : ""}`,
      );
      return;
    }
  },
});

const graceMillis = 20_000;
const triesMax = 3;

async function watchFor(attempt: Attempt, collection: Collection, seconds: number) {
  const { resourceVersion } = await collection.readList();
  const startedMillis = attempt.clock.nowMillis();
  const watch = await attempt.openWatch(collection, { resourceVersion, timeoutSeconds: seconds });
  const ended = await watch.untilEnded(seconds * 1000 + graceMillis);
  return { ended, afterMillis: attempt.clock.nowMillis() - startedMillis, how: watch.ended };
}
