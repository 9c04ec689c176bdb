/** The conditions of a pod that are the agent's to write. Source: the facts, Phase and conditions; texts as recorded. */
import type { JsonObject } from "../../contract/http-message.ts";
import { hasStarted } from "./phase.ts";
import { type Condition, type ContainerStatus, isSidecar, type Phase, type Pod } from "./pod-types.ts";

export const ownConditions: readonly string[] = [
  "PodResizePending",
  "PodResizeInProgress",
  "PodReadyToStartContainers",
  "Initialized",
  "Ready",
  "ContainersReady",
  "PodScheduled",
];

type Draft = Omit<Condition, "lastTransitionTime" | "lastProbeTime">;

/** In the order in which they are recorded. `others`: conditions of other writers, which readiness gates look at. */
export function podConditions(
  pod: Pod,
  phase: Phase,
  statuses: readonly ContainerStatus[],
  hasSandbox: boolean,
  others: readonly Condition[],
): readonly Draft[] {
  const containersReady = containersReadyCondition(pod, phase, statuses);
  return [
    { type: "PodReadyToStartContainers", status: hasSandbox ? "True" : "False" },
    initializedCondition(pod, phase, statuses),
    readyCondition(pod, containersReady, others),
    containersReady,
    { type: "PodScheduled", status: "True" },
  ];
}

/** What a pod's status says of a change of its resources: that it waits, and that it is under way. */
export function resizeConditions(
  refusal: { readonly reason: string; readonly message: string } | undefined,
  progress: { readonly error: string | undefined } | undefined,
  before: readonly Condition[],
  now: string,
): readonly Condition[] {
  const drafts: Draft[] = [];
  if (refusal !== undefined) drafts.push({ type: "PodResizePending", status: "True", ...refusal });
  if (progress !== undefined) {
    const why = progress.error === undefined ? {} : { reason: "Error", message: progress.error };
    drafts.push({ type: "PodResizeInProgress", status: "True", ...why });
  }
  return drafts.map((draft) => {
    const old = before.find(({ type, reason }) => type === draft.type && reason === draft.reason);
    const time = old?.lastTransitionTime ?? now;
    return { ...draft, lastProbeTime: time, lastTransitionTime: time };
  });
}

/** All conditions as they were, but for those that readiness alone changes. */
export function withReadiness(
  pod: Pod,
  phase: string | undefined,
  statuses: readonly ContainerStatus[],
  before: readonly Condition[],
  now: string,
): readonly Condition[] {
  const containersReady = containersReadyCondition(pod, phase, statuses);
  const drafts = withTimes([readyCondition(pod, containersReady, before), containersReady], before, now);
  return before.map((condition) => drafts.find(({ type }) => type === condition.type) ?? condition);
}

/** Somebody has opened or shut a readiness gate: what the server has of the pod is not as ready as it is. */
export function lacksReadiness(pod: Pod): boolean {
  const { spec, status } = pod;
  if ((spec.readinessGates ?? []).length === 0) return false;
  const { conditions = [], initContainerStatuses = [], containerStatuses = [], phase } = status ?? {};
  const told = conditions.find(({ type }) => type === "Ready");
  if (told === undefined) return false;
  const statuses = [...initContainerStatuses, ...containerStatuses];
  const due = readyCondition(pod, containersReadyCondition(pod, phase, statuses), conditions);
  return told.status !== due.status || told.message !== due.message;
}

function initializedCondition(pod: Pod, phase: Phase, statuses: readonly ContainerStatus[]): Draft {
  const type = "Initialized";
  const inits = pod.spec.initContainers ?? [];
  const byName = new Map(statuses.map((status) => [status.name, status]));
  const unknown: string[] = [];
  const incomplete: string[] = [];
  for (const init of inits) {
    const status = byName.get(init.name);
    if (status === undefined) unknown.push(init.name);
    else if (isSidecar(init) ? status.started !== true : !status.ready) incomplete.push(init.name);
  }
  if (phase === "Succeeded" && unknown.length === 0) return { type, status: "True", reason: "PodCompleted" };
  if (pod.spec.containers.some(({ name }) => hasStarted(byName.get(name)))) return { type, status: "True" };
  const message = listed([
    ["unknown", unknown],
    ["incomplete", incomplete],
  ]);
  if (message !== "") return { type, status: "False", reason: "ContainersNotInitialized", message };
  return { type, status: "True" };
}

function containersReadyCondition(pod: Pod, phase: string | undefined, statuses: readonly ContainerStatus[]): Draft {
  const type = "ContainersReady";
  const byName = new Map(statuses.map((status) => [status.name, status]));
  const unknown: string[] = [];
  const unready: string[] = [];
  for (const container of [...(pod.spec.initContainers ?? []).filter(isSidecar), ...pod.spec.containers]) {
    const status = byName.get(container.name);
    if (status === undefined) unknown.push(container.name);
    else if (!status.ready) unready.push(container.name);
  }
  if (phase === "Succeeded" && unknown.length === 0) return { type, status: "False", reason: "PodCompleted" };
  if (phase === "Failed") return { type, status: "False", reason: "PodFailed" };
  const message = listed([
    ["unknown", unknown],
    ["unready", unready],
  ]);
  if (message !== "") return { type, status: "False", reason: "ContainersNotReady", message };
  return { type, status: "True" };
}

function readyCondition(pod: Pod, containersReady: Draft, others: readonly Condition[]): Draft {
  if (containersReady.status !== "True") return { ...containersReady, type: "Ready" };
  const unmet = (pod.spec.readinessGates ?? []).flatMap(({ conditionType }) => {
    const condition = others.find(({ type }) => type === conditionType);
    if (condition === undefined) {
      return [`corresponding condition of pod readiness gate "${conditionType}" does not exist.`];
    }
    if (condition.status === "True") return [];
    return [`the status of pod readiness gate "${conditionType}" is not "True", but ${condition.status}`];
  });
  if (unmet.length === 0) return { type: "Ready", status: "True" };
  return { type: "Ready", status: "False", reason: "ReadinessGatesNotReady", message: unmet.join(", ") };
}

function listed(kinds: readonly (readonly [kind: string, names: readonly string[]])[]): string {
  return kinds
    .filter(([, names]) => names.length > 0)
    .map(([kind, names]) => `containers with ${kind} status: [${names.join(" ")}]`)
    .join(", ");
}

/** Keeps the time of a condition that says the same as before; a changed status gets `now`. */
export function withTimes(
  drafts: readonly Draft[],
  before: readonly Condition[],
  now: string,
): readonly (Condition & JsonObject)[] {
  return drafts.map((draft) => {
    const old = before.find(({ type }) => type === draft.type);
    const kept = old?.status === draft.status && old.lastTransitionTime != null ? old.lastTransitionTime : now;
    return { ...draft, lastProbeTime: null, lastTransitionTime: kept };
  });
}
