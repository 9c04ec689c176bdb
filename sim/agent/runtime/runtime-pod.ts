/** What the agent knows of a pod in the runtime, as of its last look. */
import type { ContainerState, ContainerStatus, PodSandboxState } from "../../../wire/cri-messages.ts";
import type { Micros } from "../../kernel/types.ts";
import { named } from "./named.ts";

/** Source: the published labels and annotations of sandboxes and containers, as recorded. */
export const labels = {
  podName: "io.kubernetes.pod.name",
  podNamespace: "io.kubernetes.pod.namespace",
  podUid: "io.kubernetes.pod.uid",
  containerName: "io.kubernetes.container.name",
} as const;

export const annotations = {
  hash: "io.kubernetes.container.hash",
  restartCount: "io.kubernetes.container.restartCount",
  terminationMessagePath: "io.kubernetes.container.terminationMessagePath",
  terminationMessagePolicy: "io.kubernetes.container.terminationMessagePolicy",
  podTerminationGracePeriod: "io.kubernetes.pod.terminationGracePeriod",
  podDeletionGracePeriod: "io.kubernetes.pod.deletionGracePeriod",
  preStopHandler: "io.kubernetes.container.preStopHandler",
  ports: "io.kubernetes.container.ports",
} as const;

export interface RuntimeSandbox {
  readonly id: string;
  readonly state: PodSandboxState;
  readonly createdAt: number;
  readonly attempt: number;
  readonly hostNetwork: boolean;
  /** Empty: it has none. */
  readonly ip: string;
  readonly additionalIps: readonly string[];
}

export interface RuntimeContainer {
  readonly id: string;
  readonly sandboxId: string;
  readonly name: string;
  readonly state: ContainerState;
  /** Nanoseconds since 1970, rounded below a microsecond; 0: not yet. */
  readonly createdAt: number;
  readonly startedAt: number;
  readonly finishedAt: number;
  readonly exitCode: number;
  readonly reason: string;
  readonly message: string;
  /** As the user wrote it, and as the runtime resolved it. */
  readonly image: string;
  readonly imageRef: string;
  readonly hash: string;
  readonly restartCount: number;
  readonly logPath: string;
  /** Where the machine keeps what the container leaves as its last words; empty: nowhere. */
  readonly terminationMessagePath: string;
  readonly fallsBackToLogs: boolean;
}

/** Sandboxes and containers, each the newest first. */
export interface RuntimePod {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  /** When the look began. */
  readonly seenMicros: Micros;
  readonly sandboxes: readonly RuntimeSandbox[];
  readonly containers: readonly RuntimeContainer[];
}

export function emptyPod(uid: string, name: string, namespace: string, seenMicros: Micros): RuntimePod {
  return { uid, name, namespace, seenMicros, sandboxes: [], containers: [] };
}

/** The newest container of this name. */
export function containerNamed(pod: RuntimePod, name: string): RuntimeContainer | undefined {
  return named(pod.containers, name);
}

export function runtimeContainer(status: ContainerStatus, sandboxId: string): RuntimeContainer {
  const { id, state, createdAt, startedAt, finishedAt, exitCode, reason, message, imageRef, logPath } = status;
  return {
    id,
    sandboxId,
    name: status.labels[labels.containerName] ?? status.metadata?.name ?? "",
    state,
    createdAt,
    startedAt,
    finishedAt,
    exitCode,
    reason,
    message,
    image: status.image?.userSpecifiedImage || status.image?.image || "",
    imageRef,
    hash: status.annotations[annotations.hash] ?? "",
    restartCount: Number(status.annotations[annotations.restartCount] ?? 0),
    logPath,
    terminationMessagePath: hostPathOf(status),
    fallsBackToLogs: status.annotations[annotations.terminationMessagePolicy] === "FallbackToLogsOnError",
  };
}

function hostPathOf({ annotations: written, mounts }: ContainerStatus): string {
  const path = written[annotations.terminationMessagePath];
  if (path === undefined || path === "") return "";
  return mounts.find(({ containerPath }) => containerPath === path)?.hostPath ?? "";
}

export interface SandboxNeed {
  readonly create: boolean;
  readonly attempt: number;
  /** Of the sandbox that is there, if any. */
  readonly id: string;
}

/** Whether a pod needs a new sandbox. Source: the facts, Starting. */
export function sandboxNeed(hostNetwork: boolean, { sandboxes }: RuntimePod): SandboxNeed {
  const [newest] = sandboxes;
  if (newest === undefined) return { create: true, attempt: 0, id: "" };
  const { attempt, id } = newest;
  const next = { create: true, attempt: attempt + 1, id };
  if (sandboxes.filter(({ state }) => state === "SANDBOX_READY").length > 1) return next;
  if (newest.state !== "SANDBOX_READY") return next;
  if (newest.hostNetwork !== hostNetwork) return { ...next, id: "" };
  if (!hostNetwork && newest.ip === "") return next;
  return { create: false, attempt, id };
}
