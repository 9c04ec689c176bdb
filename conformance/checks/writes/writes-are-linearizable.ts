import { anyWriters, wholeLife } from "../../arbitraries/programs.ts";
import { judgeRegisters } from "../../model/register.ts";
import type { WriteStep } from "../../model/write-step.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { tellStory } from "../../runner/story.ts";

/** Nothing at the same time: what is wrong without a race is found in every run. */
const lateWrites: readonly WriteStep[] = [
  { do: "create", name: "a", team: "red", cut: false },
  { do: "put", name: "a", team: "blue", base: "current", cut: false },
  { do: "merge-patch", name: "a", team: "red", base: "stale", cut: false },
  { do: "put", name: "a", team: "red", base: "stale", cut: false },
  { do: "get", name: "a", cut: false },
  { do: "create", name: "a", team: "red", cut: false },
  { do: "delete", name: "a", cut: false },
  { do: "merge-patch", name: "a", team: "red", base: "stale", cut: false },
  { do: "put", name: "a", team: "red", base: "stale", cut: false },
];

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
  examples: [[wholeLife, wholeLife], [lateWrites]],
  async run(attempt, writers) {
    const { log, writes, reads } = await tellStory(attempt, writers);
    const violation = judgeRegisters(log, writes, reads);
    attempt.holds("writes.linearizable", violation);
    attempt.holds("objects.unique-name", violation);
  },
});
