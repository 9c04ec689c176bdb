import { anyWriters, wholeLife } from "../../arbitraries/programs.ts";
import { judgeRegisters } from "../../model/register.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { tellStory } from "../../runner/story.ts";

/**
 * Property: writes and reads of one object fit one order: a PUT or patch with a version succeeds only from that
 * version, a refusal was right at some moment of the request, and a get shows a state that was current during it.
 */
export const writesAreLinearizable = defineCheck({
  id: "writes-are-linearizable",
  area: "writes",
  property: "Each object is a register with compare-and-set.",
  requirements: ["writes.linearizable", "objects.unique-name"],
  features: ["configmaps", "watch"],
  input: anyWriters({ writersMax: 4, stepsMax: 7, cuts: true }),
  examples: [[wholeLife, wholeLife]],
  async run(attempt, writers) {
    const { log, writes, reads } = await tellStory(attempt, writers);
    const violation = judgeRegisters(log, writes, reads);
    attempt.holds("writes.linearizable", violation);
    attempt.holds("objects.unique-name", violation);
  },
});
