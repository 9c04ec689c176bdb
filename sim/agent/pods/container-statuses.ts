/**
 * From what the runtime shows to what a pod's status says of its containers. Source: the facts, Phase and conditions and
 * Starting; order and words as recorded: regular containers by name, init containers as the pod has them.
 */
import { formatTime } from "../../../wire/time.ts";
import type { RuntimeContainer, RuntimePod } from "../runtime/runtime-pod.ts";
import { containerNamed } from "../runtime/runtime-pod.ts";
import { type Allocation, nothing } from "./allocation.ts";
import {
  type Container,
  type ContainerStateStatus,
  type ContainerStatus,
  isSidecar,
  type Pod,
  restartPolicyOf,
  type VolumeMount,
  type VolumeMountStatus,
} from "./pod-types.ts";
import { allNamed, named } from "../runtime/named.ts";

/** Why a container was not started, as its waiting state tells. */
export interface StartReason {
  readonly reason: string;
  readonly message: string;
}

export interface ContainerView {
  readonly pod: Pod;
  readonly runtimePod: RuntimePod;
  /** By container; why the last start of each failed. */
  readonly reasons: ReadonlyMap<string, StartReason> | undefined;
  /** `containerd`, as ids are prefixed. */
  readonly runtimeName: string;
  /** What running containers have, where it is not what the pod has been given. */
  readonly actuated: Allocation | undefined;
  readonly shows: ResourcesShown;
}

/** What statuses say of resources: the gates InPlacePodVerticalScaling and InPlacePodVerticalScalingAllocatedStatus. */
export interface ResourcesShown {
  readonly resources: boolean;
  readonly allocated: boolean;
}

export type ContainerKind = "init" | "regular" | "ephemeral";

export function containerStatuses(
  view: ContainerView,
  containers: readonly Container[],
  before: readonly ContainerStatus[],
  kind: ContainerKind,
): readonly ContainerStatus[] {
  const waiting = (view.pod.spec.initContainers ?? []).length > 0 ? "PodInitializing" : "ContainerCreating";
  const statuses = containers.map((container) => {
    const old = named(before, container.name);
    const status = containerStatus(view, container, old, waiting, kind === "init");
    return { ...status, ...resourcesOf(view, container, status, kind), ...mountsOf(container) };
  });
  return kind === "init"
    ? statuses
    : statuses.sort((one, other) => (one.name < other.name ? -1 : one.name > other.name ? 1 : 0));
}

/** Of containers that can be resized. Source: the published agent. */
function resourcesOf(
  { actuated, shows }: ContainerView,
  container: Container,
  { state }: ContainerStatus,
  kind: ContainerKind,
): Pick<ContainerStatus, "resources" | "allocatedResources"> {
  if (!shows.resources || kind === "ephemeral" || (kind === "init" && !isSidecar(container))) return none;
  const given = container.resources ?? nothing;
  const resources = (state.running === undefined ? undefined : actuated?.get(container.name)) ?? given;
  if (!shows.allocated || given.requests === undefined) return { resources };
  return { resources, allocatedResources: given.requests };
}

const none = Object.freeze({});

function mountsOf({ volumeMounts = [] }: Container): Pick<ContainerStatus, "volumeMounts"> {
  return volumeMounts.length === 0 ? none : { volumeMounts: volumeMounts.map(mountStatus) };
}

/** No runtime here mounts what lies below a mount that is only read as such. */
function mountStatus({ name, mountPath, readOnly = false }: VolumeMount): VolumeMountStatus {
  return readOnly ? { name, mountPath, readOnly, recursiveReadOnly: "Disabled" } : { name, mountPath };
}

function containerStatus(
  view: ContainerView,
  container: Container,
  before: ContainerStatus | undefined,
  waiting: string,
  isInit: boolean,
): ContainerStatus {
  const seen = allNamed(view.runtimePod.containers, container.name);
  const [newest, older] = seen;
  let status =
    newest === undefined ? missingStatus(view.pod, container, before, waiting) : shownStatus(view, newest, before);
  if (older !== undefined) status = { ...status, lastState: shownStatus(view, older, undefined).state };
  else if (newest !== undefined) status = { ...status, lastState: before?.lastState ?? {} };
  if (newest !== undefined && isInit && newest.state === "CONTAINER_EXITED" && newest.exitCode === 0) {
    return status;
  }
  const reason = view.reasons?.get(container.name);
  if (reason === undefined || !shouldRestart(view.pod, container, view.runtimePod)) return status;
  return {
    ...status,
    lastState: status.state.terminated === undefined ? status.lastState : status.state,
    state: { waiting: reason.message === "" ? { reason: reason.reason } : { ...reason } },
  };
}

/** Of one that the runtime does not have: not yet, or lost. */
function missingStatus(
  pod: Pod,
  { name, image }: Container,
  before: ContainerStatus | undefined,
  waiting: string,
): ContainerStatus {
  // What has ended may be removed at any time, and has ended all the same.
  if (before?.state.terminated !== undefined) return before;
  const status: ContainerStatus = {
    name,
    state: { waiting: { reason: waiting } },
    lastState: before?.lastState ?? {},
    ready: false,
    restartCount: before?.restartCount ?? 0,
    image,
    imageID: "",
  };
  if (before?.state.running === undefined || before.lastState.terminated !== undefined) return status;
  const lost = {
    exitCode: 137,
    reason: "ContainerStatusUnknown",
    message: "The container could not be located when the pod was deleted.  The container used to be Running",
    startedAt: null,
    finishedAt: null,
  };
  const isDeleted = pod.metadata.deletionTimestamp !== undefined;
  return {
    ...status,
    lastState: { terminated: lost },
    restartCount: status.restartCount + (isDeleted ? 0 : 1),
  };
}

function shownStatus(
  { runtimeName, pod }: ContainerView,
  container: RuntimeContainer,
  before: ContainerStatus | undefined,
): ContainerStatus {
  const { id, name, image, imageRef, restartCount } = container;
  const containerID = `${runtimeName}://${id}`;
  const isLost = container.state === "CONTAINER_UNKNOWN" && before?.state.running !== undefined;
  return {
    name,
    state: stateOf(container, containerID, before, wordsMax(pod)),
    lastState: {},
    ready: false,
    // Nobody will see the end of one that is lost: it is counted here.
    restartCount: isLost ? before.restartCount + 1 : restartCount,
    image,
    imageID: imageRef,
    containerID,
  };
}

/** The last words of all containers together have their limit. */
const wordsMax = ({ spec: { containers, initContainers = [] } }: Pod): number =>
  Math.floor(12_288 / Math.max(1, containers.length + initContainers.length));

function stateOf(
  { state, startedAt, finishedAt, exitCode, reason, message }: RuntimeContainer,
  containerID: string,
  before: ContainerStatus | undefined,
  messageCharactersMax: number,
): ContainerStateStatus {
  if (state === "CONTAINER_RUNNING") return { running: { startedAt: timeOf(startedAt) } };
  if (state === "CONTAINER_EXITED") {
    const words = {
      ...(reason === "" ? {} : { reason }),
      ...(message === "" ? {} : { message: message.slice(0, messageCharactersMax) }),
    };
    const times = { startedAt: timeOf(startedAt), finishedAt: timeOf(finishedAt) };
    return { terminated: { exitCode, ...words, ...times, containerID } };
  }
  if (state === "CONTAINER_UNKNOWN" && before?.state.running !== undefined) {
    const words = {
      reason: "ContainerStatusUnknown",
      message: "The container could not be located when the pod was terminated",
    };
    return { terminated: { exitCode: 137, ...words, startedAt: null, finishedAt: null } };
  }
  return { waiting: {} };
}

/** RFC 3339 from nanoseconds since 1970; what has no time yet shows the zero of 1970. */
const timeOf = (nanos: number): string => formatTime(Math.floor(nanos / 1_000_000_000));

/**
 * Whether the next sync starts a container again, as far as the pod's own policy tells: a sidecar has another one, which the
 * published agent does not ask here, so that one of a pod that restarts nothing never shows why it waits.
 * Source: the facts, Restart back-off.
 */
export function shouldRestart(pod: Pod, container: Container, runtimePod: RuntimePod): boolean {
  if (pod.metadata.deletionTimestamp !== undefined) return false;
  const newest = containerNamed(runtimePod, container.name);
  if (newest === undefined) return true;
  if (newest.state === "CONTAINER_RUNNING") return false;
  if (newest.state !== "CONTAINER_EXITED") return true;
  const policy = restartPolicyOf(pod);
  if (policy === "Never") return false;
  return policy === "Always" || newest.exitCode !== 0;
}
