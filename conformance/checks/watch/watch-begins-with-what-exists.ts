import fc from "fast-check";
import { configMap } from "../../arbitraries/config-maps.ts";
import { anyWriters, wholeLife } from "../../arbitraries/programs.ts";
import { objectOf } from "../../client/collection.ts";
import type { ApiObject } from "../../client/types.ts";
import type { WatchStream } from "../../client/watch-stream.ts";
import type { Violation } from "../../client/findings.ts";
import { describeEvents, type LogEvent } from "../../model/history.ts";
import { fold, judgeSameState, type State, stateOf } from "../../model/replay.ts";
import { judgeLifeCycle, judgeUnique } from "../../model/stream-law.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { performAll } from "../../runner/perform.ts";
import { ownLog } from "../../runner/story.ts";

/**
 * Property: a watch without a version begins with ADDED for everything that exists, a fresh write included, and then
 * tells what happens, so that it makes the list at every moment. From version 0 it may begin with an older state, but
 * makes the same end. What is being deleted and held exists.
 */
export const watchBeginsWithWhatExists = defineCheck({
  id: "watch-begins-with-what-exists",
  area: "watch",
  property: "A watch without a version begins with the objects that exist and goes on from there.",
  requirements: ["watch.initial-most-recent", "watch.initial-any"],
  features: ["configmaps", "watch"],
  input: fc.record({
    before: anyWriters({ writersMax: 2, stepsMax: 7, cuts: false }),
    after: anyWriters({ writersMax: 2, stepsMax: 7, cuts: false }),
    held: fc.boolean(),
  }),
  examples: [{ before: [wholeLife], after: [wholeLife], held: true }],
  async run(attempt, { before, after, held }) {
    const collection = await attempt.target.collection("configmaps");
    await performAll(collection, before);
    if (held) {
      await collection.create(configMap("going", { finalizers: [hold] }));
      await collection.delete("going");
    }
    const listed = attempt.target.own(collection, (await collection.readList()).items);
    // Nobody reads it back: a server that does not wait for its own cache has not seen it yet.
    const existing = [...listed, objectOf(await collection.create(configMap("fresh")))];
    const recent = await attempt.openWatch(collection);
    const any = await attempt.openWatch(collection, { resourceVersion: "0" });
    await performAll(collection, after);
    if (held) await collection.patch("going", "merge", { metadata: { labels: { still: "there" } } });
    const fence = await attempt.fence(collection);
    const end = stateOf(attempt.target.own(collection, (await collection.readList()).items));

    const recentLog = await logUntil(attempt, recent, fence, collection);
    const makes = judgeMakes(recentLog, fence, end);
    const beginning = judgeBeginning(existing, recentLog);
    const isAny = beginning !== undefined && makes === undefined; // an older beginning, but the right end
    attempt.holdsOrDeviates("watch-unset-begins-anywhere", "watch.initial-most-recent", beginning ?? makes, isAny);
    const anyLog = await logUntil(attempt, any, fence, collection);
    attempt.holds("watch.initial-any", judgeMakes(anyLog, fence, end));
  },
});

const hold = "example.com/hold";

async function logUntil(
  attempt: Attempt,
  watch: WatchStream,
  fence: ApiObject,
  collection: Parameters<typeof ownLog>[1],
): Promise<LogEvent[]> {
  const log = ownLog(attempt, collection, await attempt.untilFence(watch, fence));
  watch.close();
  return log;
}

/** The first events are ADDED for exactly the objects that existed, each as it was, in whatever order. */
function judgeBeginning(existing: readonly ApiObject[], log: readonly LogEvent[]): Violation | undefined {
  const beginning = log.slice(0, existing.length);
  if (beginning.some((event) => event.type !== "ADDED")) {
    return { expected: `${existing.length} ADDED events first`, actual: describeEvents(log, 0) };
  }
  const named = { expected: "the list before the watch", actual: "the ADDED events that begin it" };
  return judgeSameState(stateOf(existing), fold(new Map(), beginning), named);
}

function judgeMakes(log: readonly LogEvent[], fence: ApiObject, end: State): Violation | undefined {
  const withoutFence = new Map([...end].filter(([, object]) => object.metadata.uid !== fence.metadata.uid));
  return (
    judgeUnique(log) ??
    judgeLifeCycle(log) ??
    judgeSameState(fold(new Map(), log), withoutFence, {
      expected: "the events of the watch",
      actual: "the list after it",
    })
  );
}
