import fc from "fast-check";
import { anyCollectionSteps, coveringCollectionSteps } from "../../arbitraries/collection-programs.ts";
import { customTrialTypes, trialTypes } from "../../arbitraries/trial-types.ts";
import { CollectionPlay } from "../../runner/collection-play.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { withTrialGround } from "../../runner/trial-ground.ts";

const types = [...trialTypes, ...customTrialTypes].map(({ title, plural }) => title ?? plural);

/**
 * Property: whatever the type, the route and the spelling, each list and each watch of a collection shows what its only
 * writer knows that it must: the state that was asked for, and every change after it.
 * Method: one writer makes every state known, so that no two answers of the server are compared with each other.
 */
export const collectionsFollowTheirWriter = defineCheck({
  id: "collections-follow-their-writer",
  area: "versions",
  property: "Lists and watches of every type, by every route and spelling, show what was written.",
  requirements: [
    "versions.list-most-recent",
    "versions.list-any",
    "versions.list-not-older",
    "versions.list-exact",
    "versions.list-limit-exact",
    "pages.snapshot",
    "lists.selectors",
    "lists.collection",
    "watch.reliable",
    "watch.filtered",
    "watch.transitions",
    "watch.transition-version",
    "watch.initial-most-recent",
    "watch.initial-any",
    "watch.unique",
    "watch.stream",
    "watch.old-paths",
    "tables.watch",
    "negotiation.partial",
  ],
  features: ["configmaps", "watch"],
  input: fc.record({ type: fc.constantFrom(...types), steps: anyCollectionSteps }),
  examples: types.map((type, place) => ({ type, steps: coveringCollectionSteps(place) })),
  async run(attempt, { type, steps }) {
    const row = [...trialTypes, ...customTrialTypes].find(({ title, plural }) => (title ?? plural) === type);
    if (row === undefined) throw new Error(`no type is called ${type}`);
    await withTrialGround(attempt, row, async (ground) => {
      const play = new CollectionPlay(attempt, ground);
      if (!(await play.begin())) return;
      for (const step of steps) await play.step(step);
      await play.end();
    });
  },
});
