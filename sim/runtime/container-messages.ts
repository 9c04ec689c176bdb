/** Records as the messages that callers get. What does not change is built once and handed out again. */
import type { CriAnswer } from "../../wire/cri.ts";
import type { Container, ContainerStatus, PodSandbox, PodSandboxStatus } from "../../wire/cri-messages.ts";
import type { ContainerRecord, SandboxRecord } from "./records.ts";
import type { RuntimeState } from "./runtime-state.ts";

const none = Object.freeze({});

export function listedSandbox(state: RuntimeState, record: SandboxRecord): PodSandbox {
  record.listed ??= {
    id: record.id,
    ...(record.config.metadata === undefined ? {} : { metadata: record.config.metadata }),
    state: record.ready ? "SANDBOX_READY" : "SANDBOX_NOTREADY",
    createdAt: state.unixNanos(record.createdMicros),
    labels: record.config.labels ?? none,
    annotations: record.config.annotations ?? none,
    runtimeHandler: record.handler,
  };
  return record.listed;
}

export function listedContainer(state: RuntimeState, record: ContainerRecord): Container {
  const { config } = record;
  record.listed ??= {
    id: record.id,
    podSandboxId: record.sandbox.id,
    ...(config.metadata === undefined ? {} : { metadata: config.metadata }),
    ...(config.image === undefined ? {} : { image: config.image }),
    imageRef: record.image.id,
    state: record.state,
    createdAt: state.unixNanos(record.createdMicros),
    labels: config.labels ?? none,
    annotations: config.annotations ?? none,
    imageId: record.image.id,
  };
  return record.listed;
}

export function sandboxStatus(state: RuntimeState, record: SandboxRecord): PodSandboxStatus {
  const { config } = record;
  const options = config.linux?.securityContext?.namespaceOptions;
  return {
    id: record.id,
    ...(config.metadata === undefined ? {} : { metadata: config.metadata }),
    state: record.ready ? "SANDBOX_READY" : "SANDBOX_NOTREADY",
    createdAt: state.unixNanos(record.createdMicros),
    network: { ip: record.ready ? record.ip : "", additionalIps: [] },
    linux: { namespaces: options === undefined ? {} : { options } },
    labels: config.labels ?? none,
    annotations: config.annotations ?? none,
    runtimeHandler: record.handler,
  };
}

export function containerStatus(state: RuntimeState, record: ContainerRecord): ContainerStatus {
  const { config, image } = record;
  const stamp = (micros: number): number => (micros < 0 ? 0 : state.unixNanos(micros));
  return {
    id: record.id,
    ...(config.metadata === undefined ? {} : { metadata: config.metadata }),
    state: record.state,
    createdAt: state.unixNanos(record.createdMicros),
    startedAt: stamp(record.startedMicros),
    finishedAt: stamp(record.finishedMicros),
    exitCode: record.exitCode,
    image: { image: image.tags[0] ?? image.id },
    imageRef: image.digests[0] ?? image.id,
    reason: record.reason,
    message: record.message,
    labels: config.labels ?? none,
    annotations: config.annotations ?? none,
    mounts: config.mounts ?? [],
    logPath: record.logPath,
    ...(record.resources === undefined ? {} : { resources: { linux: record.resources } }),
    imageId: image.id,
    user: {
      linux: {
        uid: config.linux?.securityContext?.runAsUser?.value ?? image.row.user ?? 0,
        gid: config.linux?.securityContext?.runAsGroup?.value ?? 0,
        supplementalGroups: config.linux?.securityContext?.supplementalGroups ?? [],
      },
    },
    stopSignal: config.stopSignal ?? "SIGTERM",
  };
}

/** The answer that containerd gives where an id is unknown. */
export const notFound = (what: string, id: string): CriAnswer & { readonly ok: false } => ({
  ok: false,
  code: 5,
  text: `an error occurred when try to find ${what} "${id}": not found`,
});

/** Whether labels have all that a selector asks for. */
export function selects(
  selector: Readonly<Record<string, string>> | undefined,
  labels: Readonly<Record<string, string>> | undefined,
): boolean {
  for (const key in selector) if (labels?.[key] !== selector[key]) return false;
  return true;
}
