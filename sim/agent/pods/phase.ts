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

/** `isEnding`: nothing of the pod will be started any more. `isStatic`: its end is nobody's but its file's. */
export function phaseOf(pod: Pod, statuses: readonly ContainerStatus[], isEnding: boolean, isStatic: boolean): Phase {
  const byName = new Map(statuses.map((status) => [status.name, status]));
  const policy = restartPolicyOf(pod);
  const anyStarted = pod.spec.containers.some(({ name }) => hasStarted(byName.get(name)));
  let pendingInits = 0;
  let failedInits = 0;
  let runningSidecars = 0;
  for (const init of pod.spec.initContainers ?? []) {
    const status = byName.get(init.name);
    if (isSidecar(init)) {
      // Until the main containers have started, a sidecar that has not is something that they wait for.
      if (found(status) === "running") runningSidecars++;
      if (!anyStarted && status?.started !== true && found(status) !== "running") pendingInits++;
      continue;
    }
    if (anyStarted) continue;
    const kind = found(status);
    const last = status?.state.terminated ?? status?.lastState.terminated;
    if (kind === "unknown" || kind === "running" || kind === "waiting") pendingInits++;
    else if (kind === "stopped" && last?.exitCode !== 0) {
      failedInits++;
      if (status?.state.waiting !== undefined) pendingInits++;
    }
  }
  const counts: Record<Found, number> = { waiting: 0, running: 0, stopped: 0, succeeded: 0, unknown: 0 };
  for (const { name } of pod.spec.containers) counts[found(byName.get(name))]++;
  const stopped = counts.stopped + counts.succeeded;

  if (failedInits > 0 && policy === "Never") return "Failed";
  if (pendingInits > 0 || (failedInits > 0 && !anyStarted)) return "Pending";
  if (counts.waiting > 0) return "Pending";
  if (counts.running > 0 && counts.unknown === 0) return "Running";
  if (counts.running > 0 || counts.unknown > 0 || stopped === 0) return "Pending";
  // A sidecar that runs on is being stopped first.
  if (runningSidecars > 0) return "Running";
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
