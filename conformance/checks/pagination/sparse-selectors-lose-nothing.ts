import fc from "fast-check";
import { configMap } from "../../arbitraries/config-maps.ts";
import { objectOf } from "../../client/collection.ts";
import type { ApiList } from "../../client/types.ts";
import { judgeSnapshot } from "../../model/page-law.ts";
import { stateOf } from "../../model/replay.ts";
import { defineCheck } from "../../runner/define-check.ts";

/**
 * Property: a selector that few of many objects match loses none of them, whatever the limit.
 * A server must look at many candidates to fill one chunk; it may read them in batches of growing size.
 */
export const sparseSelectorsLoseNothing = defineCheck({
  id: "sparse-selectors-lose-nothing",
  area: "pagination",
  property: "Chunks drawn with a selector that few of many objects match hold all that match.",
  requirements: ["pages.complete", "lists.selectors"],
  features: ["configmaps"],
  cost: "slow",
  input: fc.record({
    count: fc.integer({ min: 25, max: 40 }),
    every: fc.integer({ min: 2, max: 9 }),
    limit: fc.integer({ min: 1, max: 8 }),
  }),
  examples: [{ count: 60, every: 3, limit: 20 }],
  async run(attempt, { count, every, limit }) {
    const collection = await attempt.target.collection("configmaps");
    const created = await Promise.all(
      Array.from({ length: count }, async (_, index) => {
        const team = index % every === 0 ? "red" : "blue";
        return objectOf(await collection.create(configMap(`c${String(index).padStart(3, "0")}`, { team })));
      }),
    );
    const expected = stateOf(created.filter((object) => object.metadata.labels?.["team"] === "red"));
    for (const query of [{ limit }, { limit: 500 }, {}]) {
      const pages = await collection.pages({ ...query, labelSelector: "team=red" });
      const own = pages.map((page): ApiList => ({ ...page, items: attempt.target.own(collection, page.items) }));
      attempt.holds(query.limit === undefined ? "lists.selectors" : "pages.complete", judgeSnapshot(own, expected));
    }
  },
});
