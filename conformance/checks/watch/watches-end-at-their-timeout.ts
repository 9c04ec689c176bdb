import fc from "fast-check";
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
    const { resourceVersion } = await collection.readList();
    const startedMillis = attempt.clock.nowMillis();
    const watch = await attempt.openWatch(collection, { resourceVersion, timeoutSeconds: seconds });
    const ended = await watch.untilEnded(seconds * 1000 + graceMillis);
    const afterMillis = attempt.clock.nowMillis() - startedMillis;
    attempt.expect(
      "watch.timeout",
      ended,
      `the end of the watch after ${seconds} s`,
      `still open after ${afterMillis} ms`,
    );
    attempt.expect(
      "watch.timeout",
      watch.ended === "closed by the server" && afterMillis >= seconds * 1000 - 100, // clocks may tick apart a little
      `a clean end after ${seconds} s`,
      `${watch.ended} after ${afterMillis} ms`,
    );
  },
});

const graceMillis = 20_000;
