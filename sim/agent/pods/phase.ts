/** What a pod's containers come to together. Source: the facts, Phase and conditions. */
import { type ContainerStatus, isSidecar, type Phase, type Pod, restartPolicyOf } from "./pod-types.ts";

type Found = "waiting" | "running" | "stopped" | "succeeded" | "unknown";

function found(status: ContainerStatus | undefined): Found {
  if (status === undefined) return "unknown";
  const { state, lastState } = status;
  if (state.running !== undefined) return "running";
  if (state.terminated !== undefined) return state.terminated.exitCode === 0 ? "succeeded" : "stopped";
  // One that waits for its next start has stopped.
  if (state.waiting !== undefined) return lastState.terminated === undefined ? "waiting" : "stopped";
  return "unknown";
}

export interface PhaseView {
  /** Nothing of the pod will be started any more. */
  readonly isEnding: boolean;
  /** Its end is nobody's but its file's. */
  readonly isStatic: boolean;
  /** A regular container has been made in the sandbox that is there now. */
  readonly isUnderWay: boolean;
}

export function phaseOf(pod: Pod, statuses: readonly ContainerStatus[], view: PhaseView): Phase {
  const { isEnding, isStatic, isUnderWay } = view;
  const byName = new Map(statuses.map((status) => [status.name, status]));
  const policy = restartPolicyOf(pod);
  const counts: Record<Found, number> = { waiting: 0, running: 0, stopped: 0, succeeded: 0, unknown: 0 };
  let pendingInits = 0;
  let failedInits = 0;
  let pendingSidecars = 0;
  for (const init of pod.spec.initContainers ?? []) {
    const status = byName.get(init.name);
    const kind = found(status);
    if (isSidecar(init)) {
      // What has stopped is started again, and says nothing of the pod.
      if (kind === "stopped" || kind === "succeeded") continue;
      counts[kind]++;
      if (kind !== "running" || status?.started !== true) pendingSidecars++;
      continue;
    }
    const last = status?.state.terminated ?? status?.lastState.terminated;
    if (kind === "unknown" || kind === "running" || kind === "waiting") pendingInits++;
    else if (last?.exitCode !== 0) failedInits++;
  }
  for (const { name } of pod.spec.containers) counts[found(byName.get(name))]++;
  const stopped = counts.stopped + counts.succeeded;

  if (failedInits > 0 && policy === "Never") return "Failed";
  if (pendingInits > 0 || (pendingSidecars > 0 && !isUnderWay) || counts.waiting > 0) return "Pending";
  if (counts.running > 0 && counts.unknown === 0) return "Running";
  if (counts.running > 0 || counts.unknown > 0 || stopped === 0) return "Pending";
  if (isEnding && !isStatic) return stopped === counts.succeeded ? "Succeeded" : "Failed";
  if (policy === "Always") return "Running";
  if (stopped === counts.succeeded) return "Succeeded";
  return policy === "Never" ? "Failed" : "Running";
}

/** Whether a regular container of the pod was ever started. */
export function hasStarted(status: ContainerStatus | undefined): boolean {
  if (status === undefined) return false;
  const { state, lastState, started } = status;
  return (
    started === true ||
    state.running !== undefined ||
    state.terminated !== undefined ||
    lastState.terminated !== undefined
  );
}
