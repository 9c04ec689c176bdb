import fc from "fast-check";
import { configMap } from "../../arbitraries/config-maps.ts";
import { objectOf } from "../../client/collection.ts";
import { defineCheck } from "../../runner/define-check.ts";

/** Property: limit bounds a chunk also when any version will do. */
export const limitsHoldAtAnyVersion = defineCheck({
  id: "limits-hold-at-any-version",
  area: "pagination",
  property: "A list at version 0 with a limit holds at most that many items.",
  requirements: ["pages.limit"],
  features: ["configmaps"],
  input: fc.record({ count: fc.integer({ min: 2, max: 6 }), limit: fc.integer({ min: 1, max: 5 }) }),
  examples: [
    { count: 3, limit: 1 },
    { count: 3, limit: 3 },
  ],
  async run(attempt, { count, limit }) {
    const collection = await attempt.target.collection("configmaps");
    for (let index = 0; index < count; index += 1) objectOf(await collection.create(configMap(`c${index}`)));
    const list = await collection.readList({ limit, resourceVersion: "0" });
    const size = list.items.length;
    const promise = size <= limit ? undefined : { expected: `at most ${limit} items`, actual: `${size}` };
    if (count <= limit && size <= limit) {
      attempt.holds("pages.limit", promise); // too few to tell a server that ignores the limit from one that keeps it
      return;
    }
    const served = size > limit && list.continueToken === undefined;
    attempt.holdsOrDeviates("limit-ignored-at-zero", "pages.limit", promise, served);
  },
});
