import fc from "fast-check";
import type { Query } from "../../client/client.ts";
import type { Collection } from "../../client/collection.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";

type From = "list" | "unset" | "any";

const queries: readonly Query[] = [
  {},
  { allowWatchBookmarks: true },
  { labelSelector: "team=red" },
  { fieldSelector: "metadata.name=a" },
];

/**
 * Property: timeoutSeconds ends a watch, cleanly and not before its time, wherever it begins and whatever it selects. How punctually
 * is not promised. Zero says nothing: the watch goes on.
 */
export const watchesEndAtTheirTimeout = defineCheck({
  id: "watches-end-at-their-timeout",
  area: "watch",
  property: "timeoutSeconds ends a watch.",
  requirements: ["watch.timeout", "watch.timeout-zero", "watch.stream"],
  features: ["configmaps", "watch"],
  cost: "slow",
  input: fc.record({
    seconds: fc.integer({ min: 0, max: 3 }),
    from: fc.constantFrom("list", "unset", "any"),
    query: fc.constantFrom<Query>(...queries),
  }),
  examples: [
    { seconds: 1, from: "list", query: {} },
    { seconds: 0, from: "unset", query: {} },
  ],
  async run(attempt, { seconds, from, query }) {
    const collection = await attempt.target.collection("configmaps");
    for (let tries = 1; ; tries += 1) {
      const { ended, afterMillis, how } = await watchFor(attempt, collection, seconds, from, query);
      if (seconds === 0) {
        if (ended && how === "closed by the server" && tries < triesMax) continue;
        attempt.expect("watch.timeout-zero", !ended, "a watch that goes on", `${how} after ${afterMillis} ms`);
        return;
      }
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

/** So long a watch without a timeout is looked at: longer than the shortest that there is. */
const zeroMillis = 2_500;
const graceMillis = 20_000;
const triesMax = 3;

async function watchFor(attempt: Attempt, collection: Collection, seconds: number, from: From, query: Query) {
  const { resourceVersion } = await collection.readList();
  const begin = { list: { resourceVersion }, unset: {}, any: { resourceVersion: "0" } }[from];
  const startedMillis = attempt.clock.nowMillis();
  const watch = await attempt.openWatch(collection, { ...begin, ...query, timeoutSeconds: seconds });
  const ended = await watch.untilEnded(seconds === 0 ? zeroMillis : seconds * 1000 + graceMillis);
  if (!ended) watch.close();
  return { ended, afterMillis: attempt.clock.nowMillis() - startedMillis, how: watch.ended };
}
