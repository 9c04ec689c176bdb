import fc from "fast-check";
import { configMap } from "../../arbitraries/config-maps.ts";
import { objectOf } from "../../client/collection.ts";
import { judgeRemainingAbsent, judgeRemainingExact } from "../../model/page-law.ts";
import { defineCheck } from "../../runner/define-check.ts";

/**
 * Property: items so far and items remaining make the snapshot's total on every chunk, though others write meanwhile.
 * The count may be left out: the documents promise only an estimate.
 */
export const remainingCountsAddUp = defineCheck({
  id: "remaining-counts-add-up",
  area: "pagination",
  property: "remainingItemCount, where it is given, is what is left of the snapshot.",
  requirements: ["pages.remaining-exact", "pages.remaining-absent"],
  features: ["configmaps"],
  input: fc.record({
    count: fc.integer({ min: 1, max: 9 }),
    limit: fc.integer({ min: 1, max: 4 }),
    /** Objects created (after all keys) or deleted (the last ones) between two chunks. */
    meanwhile: fc.array(fc.constantFrom("create", "delete"), { maxLength: 4 }),
  }),
  async run(attempt, { count, limit, meanwhile }) {
    const collection = await attempt.target.collection("configmaps");
    for (let index = 0; index < count; index += 1) objectOf(await collection.create(configMap(`c${index}`)));
    let last = count - 1;
    const pages = await collection.pages({ limit }, async (_page, index) => {
      if (meanwhile[index] === "create") objectOf(await collection.create(configMap(`z${index}`)));
      if (meanwhile[index] === "delete") {
        await collection.delete(`c${last}`);
        last -= 1;
      }
    });
    attempt.holds("pages.remaining-exact", judgeRemainingExact(pages));
    attempt.holds("pages.remaining-absent", judgeRemainingAbsent(pages, false));
  },
});
