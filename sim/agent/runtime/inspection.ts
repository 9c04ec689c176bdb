/** One pod as the runtime has it, in detail. Source: the facts, Container runtime interface (status reads). */
import type { PodSandboxStatus } from "../../../wire/cri-messages.ts";
import type { Micros } from "../../kernel/types.ts";
import type { Task } from "../task.ts";
import { type CriCaller, failureWords, isNotFound } from "./cri-caller.ts";
import {
  labels,
  type RuntimeContainer,
  runtimeContainer,
  type RuntimePod,
  type RuntimeSandbox,
} from "./runtime-pod.ts";

export interface PodName {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
}

/** What is gone meanwhile is left out. */
export function* inspectPod(
  cri: CriCaller,
  pod: PodName,
  beganMicros: Micros,
): Task<RuntimePod | { readonly error: string }> {
  const labelSelector = { [labels.podUid]: pod.uid };
  const listed = yield* cri.ask("ListPodSandbox", { filter: { labelSelector } });
  if (!listed.ok) return { error: failureWords(listed) };
  const sandboxes: RuntimeSandbox[] = [];
  for (const { id } of listed.message.items) {
    const answer = yield* cri.ask("PodSandboxStatus", { podSandboxId: id });
    if (isNotFound(answer)) continue;
    if (!answer.ok) return { error: failureWords(answer) };
    if (answer.message.status !== undefined) sandboxes.push(runtimeSandbox(answer.message.status));
  }
  const found = yield* cri.ask("ListContainers", { filter: { labelSelector } });
  if (!found.ok) return { error: failureWords(found) };
  const containers: RuntimeContainer[] = [];
  for (const { id } of found.message.containers) {
    const answer = yield* cri.ask("ContainerStatus", { containerId: id });
    if (isNotFound(answer)) continue;
    if (!answer.ok) return { error: failureWords(answer) };
    if (answer.message.status === undefined) continue;
    containers.push(yield* withLastWords(cri, runtimeContainer(answer.message.status)));
  }
  sandboxes.sort((one, other) => other.createdAt - one.createdAt || (one.id < other.id ? 1 : -1));
  containers.sort((one, other) => other.createdAt - one.createdAt || other.restartCount - one.restartCount);
  return { ...pod, seenMicros: beganMicros, sandboxes, containers };
}

function runtimeSandbox(status: PodSandboxStatus): RuntimeSandbox {
  const { id, state, createdAt, metadata, linux, network } = status;
  return {
    id,
    state,
    createdAt,
    attempt: metadata?.attempt ?? 0,
    hostNetwork: linux?.namespaces?.options?.network === "NODE",
    ip: network?.ip ?? "",
    additionalIps: network?.additionalIps.map(({ ip }) => ip) ?? [],
  };
}

const messageBytesMax = 4096;
const logTailBytesMax = 2048;

/** What a container wrote down as its last words goes before what the runtime says. */
function* withLastWords(cri: CriCaller, container: RuntimeContainer): Task<RuntimeContainer> {
  const { state, terminationMessagePath, fallsBackToLogs, exitCode, reason, logPath, startedAt } = container;
  if (state !== "CONTAINER_EXITED" || terminationMessagePath === "" || startedAt === 0) return container;
  const left = yield* cri.ask("ReadPath", { path: terminationMessagePath, limit: messageBytesMax });
  if (left.ok && left.message.size > 0) return { ...container, message: text(left.message.content) };
  const isError = exitCode !== 0 || reason === "OOMKilled";
  if (!fallsBackToLogs || !isError) return container;
  const log = yield* cri.ask("ReadPath", { path: logPath, offset: -logTailBytesMax, limit: logTailBytesMax });
  return log.ok && log.message.size > 0 ? { ...container, message: text(log.message.content) } : container;
}

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
