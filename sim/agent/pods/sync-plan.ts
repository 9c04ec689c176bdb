/**
 * What one sync has to do for a pod: the published agent's plan, in its order. A pure function.
 * Source: the facts, Starting and Stopping; init containers are walked backwards, since the oldest may be gone.
 */
import { containerNamed, type RuntimeContainer, type RuntimePod, sandboxNeed } from "../runtime/runtime-pod.ts";
import { type Allocation, isSame, isSameOf, nothing, resizable } from "./allocation.ts";
import { shouldRestart } from "./container-statuses.ts";
import { type Container, isSidecar, type Pod, restartPolicyOf } from "./pod-types.ts";

export interface SyncPlan {
  readonly killPod: boolean;
  readonly createSandbox: boolean;
  /** Of the sandbox that is made. */
  readonly attempt: number;
  /** The one that it takes the place of; empty when there was none. */
  readonly sandboxId: string;
  readonly ephemeralToStart: readonly Container[];
  readonly initsToStart: readonly Container[];
  readonly toStart: readonly Container[];
  readonly toKill: readonly ContainerToKill[];
  readonly toResize: readonly ContainerToResize[];
}

export interface ContainerToResize {
  readonly container: Container;
  readonly id: string;
}

export interface ContainerToKill {
  readonly container: RuntimeContainer;
  readonly message: string;
  readonly reason: KillReason;
}

/** Why a container is stopped: probes may have grace periods of their own. */
export type KillReason = "startup" | "liveness" | "unknown" | "postStart" | "other";

/** What probes think of a running container. Undefined: nothing yet. */
/** Undefined: nothing is known of the container. */
export type Verdict = (container: Pick<RuntimeContainer, "id" | "name">) => boolean | undefined;

export interface ProbeVerdicts {
  readonly liveness: Verdict;
  readonly startup: Verdict;
}

interface Draft {
  killPod: boolean;
  initsToStart: Container[];
  readonly toKill: ContainerToKill[];
  readonly toResize: ContainerToResize[];
}

/** What one sync decides by. */
export interface PlanLaw {
  readonly syncPlan: typeof syncPlan;
}

function syncPlan(
  pod: Pod,
  runtimePod: RuntimePod,
  probes: ProbeVerdicts,
  hashOf: (container: Container) => string,
  actuated?: Allocation,
): SyncPlan {
  const need = sandboxNeed(pod.spec.hostNetwork === true, runtimePod);
  const nothing: SyncPlan = {
    killPod: need.create,
    createSandbox: need.create,
    attempt: need.attempt,
    sandboxId: need.id,
    ephemeralToStart: [],
    initsToStart: [],
    toStart: [],
    toKill: [],
    toResize: [],
  };
  if (need.create) return freshPlan(pod, runtimePod, nothing);

  const ephemeralToStart = (pod.spec.ephemeralContainers ?? []).filter(
    ({ name }) => containerNamed(runtimePod, name) === undefined,
  );
  const draft: Draft = { killPod: false, initsToStart: [], toKill: [], toResize: [] };
  const isInitialized = planInits(pod, runtimePod, probes, hashOf, draft, actuated);
  if (draft.killPod || !isInitialized) return { ...nothing, ...draft, ephemeralToStart };

  const toStart: Container[] = [];
  let keptCount = 0;
  for (const container of pod.spec.containers) {
    const newest = containerNamed(runtimePod, container.name);
    if (newest?.state !== "CONTAINER_RUNNING") {
      if (!shouldRestart(pod, container, runtimePod)) continue;
      toStart.push(container);
      if (newest?.state === "CONTAINER_UNKNOWN") draft.toKill.push(unknownState(newest, "Container"));
      continue;
    }
    const kill = killOf(newest, hashOf(container), probes, "Container");
    if (kill === undefined) {
      if (planResize(container, newest, actuated, draft)) toStart.push(container);
      else keptCount++;
      continue;
    }
    // Another specification restarts a container whatever the policy.
    const restarts = kill.reason === "other" || restartPolicyOf(pod) !== "Never";
    if (restarts) toStart.push(container);
    draft.toKill.push(restarts ? { ...kill, message: `${kill.message}, will be restarted` } : kill);
  }
  const killPod = keptCount === 0 && toStart.length === 0;
  return { ...nothing, ...draft, killPod, initsToStart: killPod ? [] : draft.initsToStart, toStart, ephemeralToStart };
}

export const planLaw: PlanLaw = { syncPlan };

/** There is no sandbox that could go on: all begins anew, or nothing does. */
function freshPlan(pod: Pod, runtimePod: RuntimePod, nothing: SyncPlan): SyncPlan {
  const policy = restartPolicyOf(pod);
  const only = { ...nothing, createSandbox: false };
  if (policy === "Never" && nothing.attempt !== 0 && runtimePod.containers.length > 0) return only;
  const toStart = pod.spec.containers.filter(({ name }) => {
    const newest = containerNamed(runtimePod, name);
    return !(policy === "OnFailure" && newest?.state === "CONTAINER_EXITED" && newest.exitCode === 0);
  });
  if (toStart.length === 0) return only;
  const [firstInit] = pod.spec.initContainers ?? [];
  return firstInit === undefined ? { ...nothing, toStart } : { ...nothing, initsToStart: [firstInit] };
}

/** True when all init containers have done their part. */
function planInits(
  pod: Pod,
  runtimePod: RuntimePod,
  probes: ProbeVerdicts,
  hashOf: (container: Container) => string,
  draft: Draft,
  actuated: Allocation | undefined,
): boolean {
  const inits = pod.spec.initContainers ?? [];
  if (inits.length === 0) return true;
  let isInitialized = pod.spec.containers.some(({ name }) => {
    const state = containerNamed(runtimePod, name)?.state;
    return state === "CONTAINER_CREATED" || state === "CONTAINER_RUNNING";
  });
  let laterSeen = isInitialized;
  const begin = (container: Container): void => void draft.initsToStart.push(container);
  for (let at = inits.length - 1; at >= 0; at--) {
    const init = inits[at] as Container;
    const newest = containerNamed(runtimePod, init.name);
    const sidecar = isSidecar(init);
    if (newest === undefined) {
      if (laterSeen && sidecar) begin(init);
      continue;
    }
    if (laterSeen && !sidecar) continue;
    const next = inits[at + 1];
    const completed = (): void => {
      if (next === undefined) isInitialized = true;
      else begin(next);
    };
    if (newest.state === "CONTAINER_RUNNING") {
      const holds = !sidecar || sidecarHolds(init, newest, probes, hashOf(init), draft, begin);
      if (!holds && !draft.toKill.some(({ container }) => container === newest)) {
        if (planResize(init, newest, actuated, draft)) begin(init);
      }
      if (!holds && !laterSeen) completed();
    } else if (newest.state === "CONTAINER_EXITED") {
      if (sidecar) begin(init);
      else if (newest.exitCode === 0) completed();
      else if (restartPolicyOf(pod) === "Never") {
        draft.killPod = true;
        draft.initsToStart = [];
        return false;
      } else begin(init);
    } else if (newest.state === "CONTAINER_UNKNOWN") {
      if (!sidecar && restartPolicyOf(pod) === "Never") {
        draft.killPod = true;
        draft.initsToStart = [];
        return false;
      }
      draft.toKill.push(unknownState(newest, "Init container"));
      begin(init);
    } else begin(init);
    laterSeen = true;
  }
  if (!laterSeen) begin(inits[0] as Container);
  draft.initsToStart.reverse();
  return isInitialized;
}

/** A running sidecar that still holds up what comes after it, because it has not started; why it has to be killed is noted. */
function sidecarHolds(
  init: Container,
  newest: RuntimeContainer,
  probes: ProbeVerdicts,
  hash: string,
  draft: Draft,
  begin: (container: Container) => void,
): boolean {
  if (init.startupProbe !== undefined) {
    const startup = probes.startup(newest);
    if (startup === false) {
      draft.toKill.push({
        container: newest,
        message: `Init container ${init.name} failed startup probe`,
        reason: "startup",
      });
      begin(init);
    }
    if (startup !== true) return true;
  }
  const kill = killOf(newest, hash, probes, "Init container");
  if (kill !== undefined) {
    draft.toKill.push({ ...kill, message: `${kill.message}, will be restarted` });
    begin(init);
  }
  return false;
}

/** What a running container lacks of what it has been given; true: it is started anew for that. */
function planResize(
  container: Container,
  running: RuntimeContainer,
  actuated: Allocation | undefined,
  draft: Draft,
): boolean {
  const { name, resources = nothing, resizePolicy = [] } = container;
  const from = actuated?.get(name);
  if (from === undefined || isSame(from, resources)) return false;
  const restarts = resizable.some(
    (resource) =>
      !isSameOf(resource, from, resources) &&
      resizePolicy.some((each) => each.resourceName === resource && each.restartPolicy === "RestartContainer"),
  );
  if (!restarts) {
    draft.toResize.push({ container, id: running.id });
    return false;
  }
  draft.toKill.push({ container: running, message: `Container ${name} resize requires restart`, reason: "other" });
  return true;
}

/** A running container that has to go, and why; undefined: it may stay. */
function killOf(
  container: RuntimeContainer,
  hash: string,
  probes: ProbeVerdicts,
  what: string,
): ContainerToKill | undefined {
  const { name } = container;
  if (container.hash !== "" && container.hash !== hash) {
    return { container, message: `${what} ${name} definition changed`, reason: "other" };
  }
  if (probes.liveness(container) === false) {
    return { container, message: `${what} ${name} failed liveness probe`, reason: "liveness" };
  }
  if (probes.startup(container) === false) {
    return { container, message: `${what} ${name} failed startup probe`, reason: "startup" };
  }
  return undefined;
}

const unknownState = (container: RuntimeContainer, what: string): ContainerToKill => ({
  container,
  message: `${what} is in "unknown" state, try killing it before restart`,
  reason: "unknown",
});
