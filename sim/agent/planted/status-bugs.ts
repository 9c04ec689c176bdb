/** Planted bugs of what is told of pods: each puts decisions of its own in the place of those that are right. */
import type { AgentBugName, AgentBugs } from "../../planted/agent-bugs.ts";
import { type DecisionBugs, decisionsWith } from "../../planted/planting.ts";
import { type StatusLaw, statusLaw } from "../pods/status-law.ts";

export const statusLawWith: (bugs: AgentBugs) => () => StatusLaw = decisionsWith(statusLaw, {
  "status-patch-hits-new-uid": ({ patchOf }) => ({
    isMeant: () => true,
    patchOf: (...asked) => ({ status: patchOf(...asked)["status"] ?? {} }),
  }),
  "evict-shown-early": ({ mergedStatus }) => ({
    mergedStatus: (before, after) => mergedStatus(before, after, false),
  }),
  "phase-leaves-terminal": ({ mergedStatus }) => ({
    mergedStatus(before, after, mayRun) {
      const merged = mergedStatus(before, after, mayRun);
      return before.phase === "Failed" ? { ...merged, phase: "Succeeded" } : merged;
    },
  }),
} satisfies DecisionBugs<AgentBugName, StatusLaw>);
