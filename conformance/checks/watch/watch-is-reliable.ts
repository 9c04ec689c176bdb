import { anyWriters, wholeLife } from "../../arbitraries/programs.ts";
import { judgeNothingExtra, judgeNothingMissing } from "../../model/reliable.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { tellStory } from "../../runner/story.ts";

/**
 * Property: a watch that was open before the first write delivers every acknowledged write as its writer was told it,
 * and nothing that no writer wrote. A write whose answer was lost may show, or not.
 */
export const watchIsReliable = defineCheck({
  id: "watch-is-reliable",
  area: "watch",
  property: "A watch delivers every acknowledged write, and nothing else.",
  requirements: ["watch.reliable", "writes.refused-no-trace"],
  features: ["configmaps", "watch"],
  input: anyWriters({ writersMax: 3, stepsMax: 7, cuts: true }),
  examples: [[wholeLife]],
  async run(attempt, writers) {
    const { log, writes } = await tellStory(attempt, writers);
    attempt.holds("watch.reliable", judgeNothingMissing(log, writes));
    attempt.holds("writes.refused-no-trace", judgeNothingExtra(log, writes));
  },
});
