/** A pod's whole status, from its source, the runtime and what was said before. Source: the facts, Phase and conditions. */
import type { JsonObject } from "../../contract/http-message.ts";
import { qosClass } from "../../kinds/core/pods/qos.ts";
import { type RuntimePod, sandboxNeed } from "../runtime/runtime-pod.ts";
import { ownConditions, podConditions, withTimes } from "./conditions.ts";
import { containerStatuses, type ResourcesShown, type StartReason } from "./container-statuses.ts";
import type { Allocation } from "./allocation.ts";
import { phaseOf } from "./phase.ts";
import {
  type Condition,
  type ContainerStatus,
  isSidecar,
  isTerminalPhase,
  type Pod,
  type PodStatus,
} from "./pod-types.ts";
import { named } from "../runtime/named.ts";

/** What probes have found. */
export interface ProbeView {
  isStarted(status: ContainerStatus): boolean;
  /** Of one that is started and runs. */
  isReady(status: ContainerStatus): boolean;
}

export interface StatusInput {
  readonly pod: Pod;
  readonly runtimePod: RuntimePod;
  /** What the agent said last, or the source's own status. */
  readonly before: PodStatus;
  readonly reasons: ReadonlyMap<string, StartReason> | undefined;
  readonly probes: ProbeView;
  /** Nothing of the pod will be started any more. */
  readonly isEnding: boolean;
  readonly isStatic: boolean;
  readonly hostIps: readonly string[];
  readonly runtimeName: string;
  readonly actuated: Allocation | undefined;
  readonly shows: ResourcesShown;
  /** Of a change of its resources; none of a pod that has ended. */
  readonly resizing: readonly Condition[];
  /** The pod has been active longer than it may. */
  readonly isOverdue: boolean;
  /** RFC 3339. */
  readonly now: string;
}

export function podStatus(input: StatusInput): PodStatus {
  const { pod, runtimePod, before } = input;
  const { reasons, runtimeName, actuated, shows } = input;
  const view = { pod, runtimePod, reasons, runtimeName, actuated, shows };
  const { initContainers = [], containers, ephemeralContainers = [] } = pod.spec;
  const rawInits = containerStatuses(view, initContainers, before.initContainerStatuses ?? [], "init");
  const raw = containerStatuses(view, containers, before.containerStatuses ?? [], "regular");
  const ephemeral = containerStatuses(view, ephemeralContainers, before.ephemeralContainerStatuses ?? [], "ephemeral");

  const own = pod.status ?? {};
  const { isEnding, isStatic } = input;
  const isUnderWay = hasBegun(pod, runtimePod);
  const startedInits = started(rawInits, input.probes);
  const startedRegular = started(raw, input.probes);
  let phase = phaseOf(pod, [...startedInits, ...startedRegular], { isEnding, isStatic, isUnderWay });
  if (!isTerminalPhase(phase)) {
    if (isTerminalPhase(before.phase)) phase = before.phase as "Failed";
    else if (isTerminalPhase(own.phase)) phase = own.phase as "Failed";
  }
  let reason = "";
  let message = "";
  if (phase === before.phase) {
    reason = before.reason ?? own.reason ?? "";
    message = before.message ?? own.message ?? "";
  }
  if (input.isOverdue) {
    phase = "Failed";
    reason = "DeadlineExceeded";
    message = "Pod was active on the node longer than the specified deadline";
  }
  // What the API shows as ended has ended.
  if (isTerminalPhase(own.phase) && !input.isStatic) phase = own.phase as "Failed";

  const inits = probed(startedInits, input.probes, (name) => isSidecar(named(initContainers, name)!));
  const regular = probed(startedRegular, input.probes, () => true);
  const statuses = [...inits, ...regular];
  const others = (own.conditions ?? []).filter(({ type }) => !ownConditions.includes(type));
  const disruption = before.conditions?.find(({ type }) => type === "DisruptionTarget");
  const kept =
    disruption === undefined ? others : [...others.filter(({ type }) => type !== disruption.type), disruption];
  const hasSandbox = !sandboxNeed(pod.spec.hostNetwork === true, runtimePod).create;
  const drafts = podConditions(pod, phase, statuses, hasSandbox, others);
  const resizing = isTerminalPhase(phase) ? [] : input.resizing;
  const conditions: readonly Condition[] = [
    ...kept,
    ...resizing,
    ...withTimes(drafts, before.conditions ?? [], input.now),
  ];

  return {
    phase,
    ...(reason === "" ? {} : { reason }),
    ...(message === "" ? {} : { message }),
    conditions,
    ...addresses(input),
    startTime: before.startTime ?? own.startTime ?? input.now,
    ...(inits.length === 0 ? {} : { initContainerStatuses: inits }),
    containerStatuses: regular,
    ...(ephemeral.length === 0 ? {} : { ephemeralContainerStatuses: ephemeral }),
    qosClass: own.qosClass ?? qosClass(pod.spec as unknown as JsonObject),
  };
}

/** A regular container has been made in the newest sandbox, so that all that has to come before it has. */
function hasBegun(pod: Pod, { sandboxes: [newest], containers }: RuntimePod): boolean {
  if (newest?.state !== "SANDBOX_READY") return false;
  const regular = new Set(pod.spec.containers.map(({ name }) => name));
  return containers.some(({ name, sandboxId }) => sandboxId === newest.id && regular.has(name));
}

/** As yet nobody else's. */
type Draft = { -readonly [Field in keyof ContainerStatus]: ContainerStatus[Field] };

function started(statuses: readonly ContainerStatus[], probes: ProbeView): readonly Draft[] {
  return statuses.map((status) => ({ ...status, started: probes.isStarted(status) }));
}

/** Says of each whether it is ready. */
function probed(
  drafts: readonly Draft[],
  probes: ProbeView,
  hasReadiness: (name: string) => boolean,
): readonly ContainerStatus[] {
  for (const draft of drafts) {
    draft.ready = hasReadiness(draft.name)
      ? draft.started === true && draft.state.running !== undefined && probes.isReady(draft)
      : draft.state.terminated?.exitCode === 0;
  }
  return drafts;
}

function addresses({ pod, runtimePod, before, hostIps }: StatusInput): Partial<PodStatus> {
  const [hostIp] = hostIps;
  const host = hostIp === undefined ? {} : { hostIP: hostIp, hostIPs: hostIps.map((ip) => ({ ip })) };
  const ips = pod.spec.hostNetwork === true ? hostIps : podIps(runtimePod);
  const [podIp] = ips;
  if (podIp !== undefined) return { ...host, podIP: podIp, podIPs: ips.map((ip) => ({ ip })) };
  // A pod keeps its address while it ends, and until it has another.
  const { podIP, podIPs } = before;
  return { ...host, ...(podIP === undefined ? {} : { podIP }), ...(podIPs === undefined ? {} : { podIPs }) };
}

function podIps({ sandboxes }: RuntimePod): readonly string[] {
  const ready = sandboxes.find(({ state, ip }) => state === "SANDBOX_READY" && ip !== "");
  return ready === undefined ? [] : [ready.ip, ...ready.additionalIps];
}
