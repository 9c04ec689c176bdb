import fc from "fast-check";
import { configMap } from "../../arbitraries/config-maps.ts";
import { anyWriters } from "../../arbitraries/programs.ts";
import { objectOf } from "../../client/collection.ts";
import { isJsonObject, keyOf, type WatchEvent } from "../../client/types.ts";
import { judgeKeyOrder } from "../../model/page-law.ts";
import { fold, judgeSameState, stateOf } from "../../model/replay.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { performAll } from "../../runner/perform.ts";
import { ownLog } from "../../runner/story.ts";

/**
 * Property: a streaming list is ADDED for all that exists, acknowledged writes included, then a bookmark that says so,
 * then the changes. It asks for NotOlderThan by name.
 */
export const streamingListsSayWhenTheyAreWhole = defineCheck({
  id: "streaming-lists-say-when-they-are-whole",
  area: "watch",
  property: "A streaming list delivers the collection, then says so, then goes on.",
  requirements: ["streaming.initial", "streaming.initial-order", "streaming.end-mark", "streaming.match-required"],
  features: ["configmaps", "watch", "streaming-lists"],
  input: fc.record({
    before: anyWriters({ writersMax: 2, stepsMax: 5, cuts: false }),
    from: fc.constantFrom("unset", "zero", "list"),
  }),
  async run(attempt, { before, from }) {
    const collection = await attempt.target.collection("configmaps");
    await performAll(collection, before);
    const list = await collection.readList();
    // Nobody reads it back: a server that waits for its own cache alone has not seen it yet.
    const fresh = objectOf(await collection.create(configMap("fresh")));
    const version = { unset: {}, zero: { resourceVersion: "0" }, list: { resourceVersion: list.resourceVersion } }[
      from
    ];
    const query = { sendInitialEvents: true, allowWatchBookmarks: true, ...version };
    const watch = await attempt.openWatch(collection, { ...query, resourceVersionMatch: "NotOlderThan" });
    const arrived = await watch.until(() => watch.events.some(isBookmark), 10_000);
    const sequence = watch.events.map((event) => event.type).join(", ");
    attempt.expect(
      "streaming.initial",
      arrived,
      "a bookmark after the initial events",
      `${sequence || "nothing"} in 10 s`,
    );
    const place = watch.events.findIndex(isBookmark);
    const initial = watch.events.slice(0, place);
    attempt.expect(
      "streaming.initial",
      initial.every((event) => event.type === "ADDED"),
      "only ADDED before the bookmark",
      sequence,
    );
    // At version 0 some older state will do; the others are at least as new as the list.
    if (from !== "zero") {
      const named = { expected: "the list before the watch", actual: "the initial events" };
      const expected = new Map(stateOf(attempt.target.own(collection, list.items)));
      const told = new Map(fold(new Map(), ownLog(attempt, collection, initial)));
      if (from === "unset") expected.set(keyOf(fresh), fresh);
      else told.delete(keyOf(fresh)); // it may show
      attempt.holds("streaming.initial", judgeSameState(expected, told, named));
    }
    const inOrder = judgeKeyOrder(ownLog(attempt, collection, initial).map(({ object }) => object));
    attempt.holds("streaming.initial-order", inOrder);
    attempt.expect(
      "streaming.end-mark",
      annotationOf(watch.events[place], attempt.profile.dialect.initialEventsEnd) === "true",
      `annotation ${attempt.profile.dialect.initialEventsEnd}: "true"`,
      JSON.stringify(watch.events[place]?.object),
    );
    const fence = await attempt.fence(collection);
    await attempt.untilFence(watch, fence);
    watch.close();
    const { resourceVersion } = list;
    for (const match of [{}, { resourceVersion, resourceVersionMatch: "Exact" }, { resourceVersionMatch: "Newest" }]) {
      const refused = collection.watch({ ...query, ...match });
      const status = await attempt.statusOf(refused);
      refused.close();
      attempt.expect(
        "streaming.match-required",
        attempt.profile.invalidOptionStatuses.includes(status ?? 0),
        `${refused.exchange.request.path} answered ${attempt.profile.invalidOptionStatuses.join(" or ")}`,
        String(status),
      );
    }
  },
});

function isBookmark(event: WatchEvent): boolean {
  return event.type === "BOOKMARK";
}

function annotationOf(event: WatchEvent | undefined, name: string): unknown {
  const metadata = event?.object["metadata"];
  const annotations = isJsonObject(metadata) ? metadata["annotations"] : undefined;
  return isJsonObject(annotations) ? annotations[name] : undefined;
}
