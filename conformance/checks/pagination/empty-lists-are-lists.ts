import fc from "fast-check";
import { configMap } from "../../arbitraries/config-maps.ts";
import { objectOf } from "../../client/collection.ts";
import type { ApiList } from "../../client/types.ts";
import { describeEvents } from "../../model/history.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { ownLog } from "../../runner/story.ts";

/**
 * Property: a list without items is still a list: items is an array, and a watch from its version delivers exactly
 * what comes after.
 * Method: an object exists that the selector leaves out, so that a version which means "anything" would show it again.
 */
export const emptyListsAreLists = defineCheck({
  id: "empty-lists-are-lists",
  area: "pagination",
  property: "An empty list has an array of items and a version to watch from.",
  requirements: ["lists.fields", "watch.after-version"],
  features: ["configmaps", "watch"],
  input: fc.record({
    way: fc.constantFrom("fresh", "any", "limited", "not older", "exact"),
    selector: fc.constantFrom<Record<string, string>>(
      { labelSelector: "team=nobody" },
      { fieldSelector: "metadata.name=nobody" },
    ),
    before: fc.integer({ min: 1, max: 3 }),
    after: fc.integer({ min: 1, max: 3 }),
  }),
  async run(attempt, { way, selector, before, after }) {
    const collection = await attempt.target.collection("configmaps");
    for (let index = 0; index < before; index += 1) objectOf(await collection.create(configMap(`old-${index}`)));
    const { resourceVersion } = await collection.readList();
    const queries: Record<typeof way, Record<string, string | number>> = {
      fresh: {},
      any: { resourceVersion: "0" },
      limited: { limit: 1 },
      "not older": { resourceVersion, resourceVersionMatch: "NotOlderThan" },
      exact: { resourceVersion, resourceVersionMatch: "Exact" },
    };
    // `readList` judges the shape: an array of items and a version.
    let empty: ApiList = await collection.readList({ ...queries[way], ...selector });
    attempt.expect("lists.fields", empty.items.length === 0, "no item", String(empty.items.length));
    if (attempt.features.get("podtemplates")?.supported !== false) {
      const untouched = await attempt.target.collection("podtemplates");
      for (const query of [{}, { resourceVersion: "0" }, { limit: 1 }]) await untouched.readList(query);
    }
    if (way === "any") empty = await collection.readList(selector); // version 0 may be older than the objects before

    const watch = await attempt.openWatch(collection, { resourceVersion: empty.resourceVersion });
    for (let index = 0; index < after; index += 1) objectOf(await collection.create(configMap(`new-${index}`)));
    const log = ownLog(attempt, collection, await attempt.untilFence(watch, await attempt.fence(collection)));
    attempt.expect(
      "watch.after-version",
      log.length === after && log.every((event, index) => event.object.metadata.name === `new-${index}`),
      `the ${after} objects created after the empty list, and nothing else`,
      describeEvents(log),
    );
  },
});
