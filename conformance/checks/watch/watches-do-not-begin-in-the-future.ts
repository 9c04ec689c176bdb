import fc from "fast-check";
import { configMap } from "../../arbitraries/config-maps.ts";
import { objectOf } from "../../client/collection.ts";
import { describeEvents } from "../../model/history.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { futureVersion } from "../../runner/future-version.ts";
import { ownLog } from "../../runner/story.ts";

/**
 * Property: a watch from a version that does not exist yet delivers nothing that is older than that version.
 * Method: a second watch from the present shows that the objects' events are out; the first must not have them.
 */
export const watchesDoNotBeginInTheFuture = defineCheck({
  id: "watches-do-not-begin-in-the-future",
  area: "watch",
  property: "A watch from a version still to come delivers nothing from before it.",
  requirements: ["watch.future"],
  features: ["configmaps", "watch"],
  cost: "slow",
  input: fc.record({
    existing: fc.integer({ min: 0, max: 2 }),
    later: fc.integer({ min: 1, max: 3 }),
    bookmarks: fc.boolean(),
  }),
  async run(attempt, { existing, later, bookmarks }) {
    const collection = await attempt.target.collection("configmaps");
    for (let index = 0; index < existing; index += 1) objectOf(await collection.create(configMap(`old-${index}`)));
    const { resourceVersion } = await collection.readList();
    const query = {
      resourceVersion: futureVersion(resourceVersion),
      timeoutSeconds: 4,
      allowWatchBookmarks: bookmarks,
    };
    const future = collection.watch(query);
    const present = await attempt.openWatch(collection, { resourceVersion });
    for (let index = 0; index < later; index += 1) objectOf(await collection.create(configMap(`new-${index}`)));
    await attempt.untilFence(present, await attempt.fence(collection));
    present.close();
    await future.untilEnded(10_000);
    future.close();
    const log = ownLog(attempt, collection, future.events);
    attempt.expect("watch.future", log.length === 0, "no event from before the version", describeEvents(log));
    const bookmark = future.events.find((event) => event.type === "BOOKMARK");
    attempt.expect(
      "watch.future",
      bookmark === undefined,
      "no bookmark of a version that is not reached",
      JSON.stringify(bookmark),
    );
  },
});
