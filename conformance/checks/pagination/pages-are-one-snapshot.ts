import fc from "fast-check";
import { anyTeam, configMap } from "../../arbitraries/config-maps.ts";
import { anyStep } from "../../arbitraries/programs.ts";
import { objectOf } from "../../client/collection.ts";
import type { ApiList, ApiObject } from "../../client/types.ts";
import {
  judgeConstantVersion,
  judgeEnd,
  judgePageSizes,
  judgeRemainingAbsent,
  judgeSnapshot,
} from "../../model/page-law.ts";
import { stateOf } from "../../model/replay.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { Memory, perform, performAll } from "../../runner/perform.ts";

const anyNames = fc.uniqueArray(
  fc.constantFrom("a", "a-0", "a-b", "a.b", "a0", "a00", "aa", "aaa", "ab", "b", "b-0", "b.a"),
  {
    minLength: 1,
  },
);

/**
 * Property: whatever is written between two chunks, the chunks together are the collection as it was when the first
 * was drawn.
 * Method: the state before the first chunk is known from the answers to quiet creates. Names are prefixes of one
 * another, so that a position kept as a bare prefix loses a neighbour.
 */
export const pagesAreOneSnapshot = defineCheck({
  id: "pages-are-one-snapshot",
  area: "pagination",
  property: "The chunks of a list are one snapshot, cut into pieces.",
  requirements: [
    "pages.snapshot",
    "pages.complete",
    "pages.limit",
    "pages.end",
    "pages.remaining-absent",
    "lists.selectors",
  ],
  features: ["configmaps"],
  input: fc.record({
    objects: anyNames.chain((names) =>
      fc.tuple(...names.map((name) => fc.record({ name: fc.constant(name), team: anyTeam }))),
    ),
    limit: fc.integer({ min: 1, max: 5 }),
    selected: fc.boolean(),
    between: fc.array(anyStep(), { maxLength: 6 }),
    /** All of them while the pages after the first are read, instead of between two. */
    meanwhile: fc.boolean(),
  }),
  examples: [
    {
      objects: [
        { name: "a", team: "red" },
        { name: "a-0", team: "blue" },
        { name: "a0", team: "red" },
      ],
      limit: 1,
      selected: true,
      between: [],
      meanwhile: false,
    },
  ],
  async run(attempt, { objects, limit, selected, between, meanwhile }) {
    const collection = await attempt.target.collection("configmaps");
    const created: ApiObject[] = [];
    for (const { name, team } of objects) created.push(objectOf(await collection.create(configMap(name, { team }))));
    const query = { limit, ...(selected ? { labelSelector: "team=red" } : {}) };
    const expected = created.filter((object) => !selected || object.metadata.labels?.["team"] === "red");

    const memory = new Memory();
    const performance = { writes: [], reads: [] };
    let writing: Promise<unknown> = Promise.resolve();
    const pages = await collection.pages(query, async (_page, index) => {
      if (meanwhile) {
        if (index === 0) writing = performAll(collection, [between.slice(0, 3), between.slice(3)], memory);
        return;
      }
      const step = between[index];
      if (step !== undefined) await perform(collection, step, memory, performance);
      if (index === 2) await performAll(collection, [between.slice(3, 5), between.slice(5)], memory);
    });

    await writing;
    attempt.holds("pages.limit", judgePageSizes(pages, limit));
    attempt.holds("pages.snapshot", judgeConstantVersion(pages));
    const own = pages.map((page): ApiList => ({ ...page, items: attempt.target.own(collection, page.items) }));
    const snapshot = judgeSnapshot(own, stateOf(expected));
    attempt.holds("pages.complete", snapshot);
    attempt.holds("pages.end", judgeEnd(pages, selected));
    attempt.holds("pages.remaining-absent", judgeRemainingAbsent(pages, selected));
    if (selected) attempt.holds("lists.selectors", snapshot);
  },
});
