/** Planted bugs of what one sync has to do for a pod. */
import type { AgentBugName, AgentBugs } from "../../planted/agent-bugs.ts";
import { type DecisionBugs, decisionsWith } from "../../planted/planting.ts";
import { isSidecar } from "../pods/pod-types.ts";
import { type PlanLaw, planLaw } from "../pods/sync-plan.ts";

export const planLawWith: (bugs: AgentBugs) => () => PlanLaw = decisionsWith(planLaw, {
  "regular-beside-init": ({ syncPlan }) => ({
    syncPlan(pod, ...asked) {
      const plan = syncPlan(pod, ...asked);
      return plan.createSandbox && plan.initsToStart.length > 0 ? { ...plan, toStart: pod.spec.containers } : plan;
    },
  }),
  "sidecar-stays-ended": ({ syncPlan }) => ({
    syncPlan(pod, runtimePod, ...asked) {
      const plan = syncPlan(pod, runtimePod, ...asked);
      const regular = new Set(pod.spec.containers.map(({ name }) => name));
      const isUnderWay = runtimePod.containers.some(({ name }) => regular.has(name));
      if (!isUnderWay || plan.createSandbox) return plan;
      return { ...plan, initsToStart: plan.initsToStart.filter((init) => !isSidecar(init)) };
    },
  }),
} satisfies DecisionBugs<AgentBugName, PlanLaw>);
