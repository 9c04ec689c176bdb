import fc from "fast-check";
import { clashingNames, configMap } from "../../arbitraries/config-maps.ts";
import { objectOf } from "../../client/collection.ts";
import { judgeKeyOrder } from "../../model/page-law.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { runLabel } from "../../runner/sandbox.ts";

/** Property: however a list is served (fresh, from a cache, in chunks, over all namespaces), its items are in key order. */
export const listsComeInKeyOrder = defineCheck({
  id: "lists-come-in-key-order",
  area: "pagination",
  property: "Lists are in key order in every way of serving them.",
  requirements: ["lists.key-order"],
  features: ["configmaps", "namespaces"],
  input: fc.record({
    names: fc.shuffledSubarray([...clashingNames], { minLength: 2 }),
    elsewhere: fc.shuffledSubarray([...clashingNames], { maxLength: 3 }),
    limit: fc.integer({ min: 1, max: 4 }),
  }),
  async run(attempt, { names, elsewhere, limit }) {
    const labels = { [runLabel]: attempt.target.label };
    const collection = await attempt.target.collection("configmaps");
    for (const name of names) objectOf(await collection.create(configMap(name, { labels })));
    if (elsewhere.length > 0) {
      const other = await attempt.target.collection("configmaps", "-0");
      for (const name of elsewhere) objectOf(await other.create(configMap(name, { labels })));
    }
    const { resourceVersion } = await collection.readList();
    const queries = [
      {},
      { resourceVersion: "0" },
      { resourceVersion },
      { resourceVersion, resourceVersionMatch: "NotOlderThan" },
    ];
    for (const query of queries)
      attempt.holds("lists.key-order", judgeKeyOrder((await collection.readList(query)).items));
    const pages = await collection.pages({ limit });
    attempt.holds("lists.key-order", judgeKeyOrder(pages.flatMap((page) => page.items)));
    const selector = { labelSelector: `${runLabel}=${attempt.target.label}` };
    const everywhere = attempt.target.everywhere("configmaps");
    for (const query of [selector, { ...selector, resourceVersion: "0" }]) {
      attempt.holds("lists.key-order", judgeKeyOrder((await everywhere.readList(query)).items));
    }
  },
});
