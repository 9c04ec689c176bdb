/** Planted bugs of which pods make room for a critical one. */
import type { AgentBugName, AgentBugs } from "../../planted/agent-bugs.ts";
import { isPreemptable, nearest, preemptionFor } from "../pods/preemption.ts";

type PreemptionFor = typeof preemptionFor;

const bugsOfPreemption = {
  "preempt-critical-too": (preempt) => (pod, others, lacks) => preempt(pod, others, lacks, () => true),
  "preempt-dear-first": (preempt) => (pod, others, lacks) => {
    const preemption = preempt(pod, others, lacks);
    if ("error" in preemption) return preemption;
    const candidates = others.filter((other) => isPreemptable(pod, other));
    const dearest = (["Guaranteed", "Burstable", "BestEffort"] as const).flatMap((qos) =>
      candidates.filter((other) => other.qos === qos),
    );
    return { victims: nearest(dearest, lacks) };
  },
  "preempt-one-short": (preempt) => (pod, others, lacks) => {
    const preemption = preempt(pod, others, lacks);
    if ("error" in preemption || preemption.victims.length < 2) return preemption;
    return { victims: preemption.victims.slice(1) };
  },
} as const satisfies Partial<Record<AgentBugName, (preempt: PreemptionFor) => PreemptionFor>>;

export function preemptionWith(bugs: AgentBugs): PreemptionFor {
  return (Object.keys(bugsOfPreemption) as (keyof typeof bugsOfPreemption)[])
    .filter((name) => bugs[name])
    .reduce<PreemptionFor>((preempt, name) => bugsOfPreemption[name](preempt), preemptionFor);
}
