/** Planted bugs of which pods make room for a critical one. */
import type { AgentBugName, AgentBugs } from "../../planted/agent-bugs.ts";
import { type DecisionBugs, decisionsWith } from "../../planted/planting.ts";
import { isPreemptable, nearest, preemptionFor } from "../pods/preemption.ts";

const preemptionLaw = { preemptionFor };
type PreemptionLaw = Readonly<typeof preemptionLaw>;

const bugsOfPreemption = {
  "preempt-critical-too": (law) => ({
    preemptionFor: (pod, others, lacks) => law.preemptionFor(pod, others, lacks, () => true),
  }),
  "preempt-dear-first": (law) => ({
    preemptionFor(pod, others, lacks) {
      const preemption = law.preemptionFor(pod, others, lacks);
      if ("error" in preemption) return preemption;
      const candidates = others.filter((other) => isPreemptable(pod, other));
      const dearest = (["Guaranteed", "Burstable", "BestEffort"] as const).flatMap((qos) =>
        candidates.filter((other) => other.qos === qos),
      );
      return { victims: nearest(dearest, lacks) };
    },
  }),
  "preempt-one-short": (law) => ({
    preemptionFor(pod, others, lacks) {
      const preemption = law.preemptionFor(pod, others, lacks);
      if ("error" in preemption || preemption.victims.length < 2) return preemption;
      return { victims: preemption.victims.slice(1) };
    },
  }),
} as const satisfies DecisionBugs<AgentBugName, PreemptionLaw>;

const preemptionLawWith = decisionsWith(preemptionLaw, bugsOfPreemption);

/** Which of them show is asked anew each time. */
export function preemptionWith(bugs: AgentBugs): typeof preemptionFor {
  const law = preemptionLawWith(bugs);
  return (...asked) => law().preemptionFor(...asked);
}
