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
  for (const { id, podSandboxId } of found.message.containers) {
    const answer = yield* cri.ask("ContainerStatus", { containerId: id });
    if (isNotFound(answer)) continue;
    if (!answer.ok) return { error: failureWords(answer) };
    if (answer.message.status === undefined) continue;
    containers.push(yield* withLastWords(cri, runtimeContainer(answer.message.status, podSandboxId)));
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
const fallbackBytesMax = 2048;
const fallbackLinesMax = 80;
/** Of a log's end: with the times and streams that stand before each line. */
const logTailBytesMax = 3 * fallbackBytesMax + 64 * fallbackLinesMax;

/** What the runtime says, and what a container wrote down as its last words. Source: the published agent's limits and order. */
function* withLastWords(cri: CriCaller, container: RuntimeContainer): Task<RuntimeContainer> {
  const { state, terminationMessagePath, fallsBackToLogs, exitCode, logPath, startedAt, message } = container;
  if (state !== "CONTAINER_EXITED" || startedAt === 0) return container;
  let words = terminationMessagePath === "" ? "" : text(yield* endOf(cri, terminationMessagePath, messageBytesMax));
  if (words === "" && fallsBackToLogs && exitCode !== 0 && logPath !== "")
    words = loggedWords(text(yield* endOf(cri, logPath, logTailBytesMax)));
  if (words === "") return container;
  return { ...container, message: message === "" ? words : `${message}: ${words}` };
}

/** So many bytes at most; none where there is no such file. */
function* endOf(cri: CriCaller, path: string, bytesMax: number): Task<Uint8Array> {
  const first = yield* cri.ask("ReadPath", { path, limit: bytesMax });
  if (!first.ok) return new Uint8Array();
  const { size, content } = first.message;
  if (size <= bytesMax) return content;
  const last = yield* cri.ask("ReadPath", { path, offset: size - bytesMax, limit: bytesMax });
  return last.ok ? last.message.content : content;
}

/** The last lines of a log, without what stands before each. */
function loggedWords(log: string): string {
  let words = "";
  const lines = log.split("\n").slice(-fallbackLinesMax - 1);
  for (const line of lines) {
    const match = /^\S+ (?:stdout|stderr) ([FP])\S* (.*)$/s.exec(line);
    if (match !== null) words += `${match[2]}${match[1] === "P" ? "" : "\n"}`;
  }
  const bytes = new TextEncoder().encode(words);
  return text(bytes.subarray(Math.max(0, bytes.length - fallbackBytesMax)));
}

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
