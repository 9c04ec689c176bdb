/** Planted bugs of what is told of pods: each puts decisions of its own in the place of those that are right. */
import type { AgentBugName, AgentBugs } from "../../planted/agent-bugs.ts";
import { type DecisionBugs, decisionsWith } from "../../planted/planting.ts";
import { ownConditions } from "../pods/conditions.ts";
import type { Condition, ContainerStatus, PodStatus } from "../pods/pod-types.ts";
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
  "restart-counts-what-is-kept": ofContainers((status) => ({
    ...status,
    restartCount: Math.min(1, status.restartCount),
  })),
  "last-state-forgotten": ofContainers((status) => ({ ...status, lastState: {} })),
  "end-message-of-failures-alone": ofEnds((end) => (end.exitCode === 0 ? { ...end, message: "" } : end)),
  "out-of-memory-is-an-error": ofEnds((end) => (end.reason === "OOMKilled" ? { ...end, reason: "Error" } : end)),
  "conditions-change-together": ofConditions((own) => {
    const newest = own.reduce(
      (latest, { lastTransitionTime: time }) => (time != null && time > latest ? time : latest),
      "",
    );
    return own.map((condition) => ({ ...condition, lastTransitionTime: newest }));
  }),
  "condition-times-stay": ofConditions((own, before) =>
    own.map((condition) => {
      const old = before.find(({ type }) => type === condition.type)?.lastTransitionTime;
      return old == null ? condition : { ...condition, lastTransitionTime: old };
    }),
  ),
  "refused-is-pending": ({ mergedStatus }) => ({
    mergedStatus(...asked) {
      const merged = mergedStatus(...asked);
      return merged.message?.startsWith("Pod was rejected: ") === true ? { ...merged, phase: "Pending" } : merged;
    },
  }),
  "others-conditions-go": ({ mergedStatus }) => ({
    mergedStatus(...asked) {
      const merged = mergedStatus(...asked);
      return { ...merged, conditions: (merged.conditions ?? []).filter(({ type }) => ownConditions.includes(type)) };
    },
  }),
  "others-annotations-go": ({ patchOf }) => ({
    patchOf(...asked) {
      const patch = patchOf(...asked);
      const metadata = { ...(patch["metadata"] as object), annotations: null };
      return { ...patch, metadata };
    },
  }),
} satisfies DecisionBugs<AgentBugName, StatusLaw>);

type StatusBug = (law: StatusLaw) => Partial<StatusLaw>;
type End = NonNullable<ContainerStatus["state"]["terminated"]>;

/** Statuses of containers are put together wrongly. */
function ofContainers(change: (status: ContainerStatus) => ContainerStatus): StatusBug {
  return ({ mergedStatus }) => ({
    mergedStatus(before, after, mayRun) {
      const merged = mergedStatus(before, after, mayRun);
      const { initContainerStatuses: inits, containerStatuses: regular } = merged;
      return {
        ...merged,
        ...(inits === undefined ? {} : { initContainerStatuses: inits.map(change) }),
        ...(regular === undefined ? {} : { containerStatuses: regular.map(change) }),
      };
    },
  });
}

function ofEnds(change: (end: End) => End): StatusBug {
  const told = (state: ContainerStatus["state"]): ContainerStatus["state"] =>
    state.terminated === undefined ? state : { ...state, terminated: change(state.terminated) };
  return ofContainers((status) => ({ ...status, state: told(status.state), lastState: told(status.lastState) }));
}

function ofConditions(
  change: (own: readonly Condition[], before: readonly Condition[]) => readonly Condition[],
): StatusBug {
  return ({ mergedStatus }) => ({
    mergedStatus(before: PodStatus, after, mayRun) {
      const merged = mergedStatus(before, after, mayRun);
      const isOwn = ({ type }: Condition): boolean => ownConditions.includes(type);
      const all = merged.conditions ?? [];
      const conditions = [...all.filter((each) => !isOwn(each)), ...change(all.filter(isOwn), before.conditions ?? [])];
      return { ...merged, conditions };
    },
  });
}
