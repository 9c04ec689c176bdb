import { configMap } from "../../arbitraries/config-maps.ts";
import { objectOf } from "../../client/collection.ts";
import { isEndMark } from "../../model/streaming.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { futureVersion } from "../../runner/future-version.ts";

/**
 * A streaming list from a version that does not exist yet is not whole before that version is there: it waits, or it is
 * refused, and does not pass off the present as the future. One run says all.
 */
export const streamingListsAwaitTheirVersion = defineCheck({
  id: "streaming-lists-await-their-version",
  area: "watch",
  property: "A streaming list from a version still to come does not say that it is whole.",
  requirements: ["streaming.at-least"],
  features: ["configmaps", "watch", "streaming-lists"],
  cost: "slow",
  async run(attempt) {
    const collection = await attempt.target.collection("configmaps");
    objectOf(await collection.create(configMap("a")));
    const resourceVersion = futureVersion((await collection.readList()).resourceVersion);
    const watch = collection.watch({
      sendInitialEvents: true,
      resourceVersionMatch: "NotOlderThan",
      allowWatchBookmarks: true,
      timeoutSeconds,
      resourceVersion,
    });
    await attempt.statusOf(watch); // a connection that breaks says nothing
    await watch.untilEnded((timeoutSeconds + 5) * 1000);
    watch.close();
    const mark = watch.events.find((event) => isEndMark(event, attempt.profile.dialect.initialEventsEnd));
    const expected = `no end of initial events at version ${resourceVersion}, which is not reached`;
    attempt.expect("streaming.at-least", mark === undefined, expected, JSON.stringify(mark));
  },
});

/** Longer than a known server waits for a version. */
const timeoutSeconds = 4;
