/** Calls about pod sandboxes. */
import { grpcCode } from "../../wire/cri.ts";
import type { PodSandbox, PodSandboxConfig, PodSandboxFilter } from "../../wire/cri-messages.ts";
import type { CallHandler } from "./container-calls.ts";
import { killContainer, tell } from "./container-life.ts";
import { containerStatus, listedSandbox, notFound, sandboxStatus, selects } from "./container-messages.ts";
import { dropContainer } from "./container-calls.ts";
import { addressAt, podNetworkOf } from "./pod-network.ts";
import type { SandboxRecord } from "./records.ts";
import type { RuntimeState } from "./runtime-state.ts";

type SandboxMethod =
  | "RunPodSandbox"
  | "StopPodSandbox"
  | "RemovePodSandbox"
  | "PodSandboxStatus"
  | "ListPodSandbox"
  | "UpdatePodSandboxResources";

export const sandboxCalls: { readonly [M in SandboxMethod]: CallHandler<M> } = {
  RunPodSandbox(state, { config, runtimeHandler = "" }, answer) {
    const { name = "", namespace = "", uid = "" } = config?.metadata ?? {};
    if (config === undefined || name === "" || namespace === "" || uid === "") {
      answer({
        ok: false,
        code: grpcCode.unknown,
        text: "sandbox config must include metadata with name, namespace and uid",
      });
      return;
    }
    if (runtimeHandler !== "" && !(state.options.runtimeHandlers ?? []).includes(runtimeHandler)) {
      answer({
        ok: false,
        code: grpcCode.unknown,
        text: `failed to get sandbox runtime: no runtime for "${runtimeHandler}" is configured`,
      });
      return;
    }
    const key = reservedNameOf(config);
    const holder = state.reserved.get(key);
    if (holder !== undefined) {
      answer({
        ok: false,
        code: grpcCode.unknown,
        text: `failed to reserve sandbox name "${key}": name "${key}" is reserved for "${holder}"`,
      });
      return;
    }
    if (!state.conditions.networkReady && config.linux?.securityContext?.namespaceOptions?.network !== "NODE") {
      answer({
        ok: false,
        code: grpcCode.unknown,
        text: "failed to setup network for sandbox: cni plugin not initialized",
      });
      return;
    }
    const id = state.newId();
    state.reserved.set(key, id);
    state.later("RunPodSandbox", () => {
      const isHost = config.linux?.securityContext?.namespaceOptions?.network === "NODE";
      const record: SandboxRecord = {
        id,
        config,
        handler: runtimeHandler,
        createdMicros: state.nowMicros,
        ip: isHost ? "" : nextAddress(state),
        ready: true,
        containers: [],
        listed: undefined,
      };
      state.sandboxes.set(id, record);
      state.addresses.add(record.ip);
      if (config.logDirectory !== undefined && config.logDirectory !== "") {
        state.machine.host.makeDirectories(config.logDirectory, state.nowMicros);
      }
      state.changed(record);
      tell(state, "CONTAINER_CREATED_EVENT", undefined, record);
      tell(state, "CONTAINER_STARTED_EVENT", undefined, record);
      answer({ ok: true, message: { podSandboxId: id } });
    });
  },

  StopPodSandbox(state, { podSandboxId = "" }, answer) {
    state.later("StopPodSandbox", () => {
      const record = findSandbox(state, podSandboxId);
      if (record !== undefined) stopSandbox(state, record);
      answer({ ok: true, message: {} });
    });
  },

  RemovePodSandbox(state, { podSandboxId = "" }, answer) {
    state.later("RemovePodSandbox", () => {
      const record = findSandbox(state, podSandboxId);
      if (record !== undefined) {
        stopSandbox(state, record);
        for (const container of [...record.containers]) dropContainer(state, container);
        state.sandboxes.delete(record.id);
        state.reserved.delete(reservedNameOf(record.config));
        state.changed(record);
        tell(state, "CONTAINER_DELETED_EVENT", undefined, record);
      }
      answer({ ok: true, message: {} });
    });
  },

  PodSandboxStatus(state, { podSandboxId = "", verbose = false }, answer) {
    const record = findSandbox(state, podSandboxId);
    if (record === undefined) {
      answer(notFound("sandbox", podSandboxId));
      return;
    }
    answer({
      ok: true,
      message: {
        status: sandboxStatus(state, record),
        info: verbose ? { info: JSON.stringify({ config: record.config }) } : {},
        containersStatuses: record.containers.map((container) => containerStatus(state, container)),
        timestamp: state.unixNanos(state.nowMicros),
      },
    });
  },

  ListPodSandbox(state, { filter }, answer) {
    answer({ ok: true, message: { items: listSandboxes(state, filter) }, generation: state.generation });
  },

  UpdatePodSandboxResources(state, { podSandboxId = "" }, answer) {
    if (findSandbox(state, podSandboxId) === undefined) answer(notFound("sandbox", podSandboxId));
    else answer({ ok: true, message: {} });
  },
};

export const reservedNameOf = ({ metadata = {} }: PodSandboxConfig): string =>
  [metadata.name, metadata.namespace, metadata.uid, metadata.attempt ?? 0].join("_");

/** By id, or by its beginning where that is unique. */
export function findSandbox(state: RuntimeState, id: string): SandboxRecord | undefined {
  return state.sandboxes.get(id) ?? byPrefix(state.sandboxes, id);
}

function byPrefix<T>(records: ReadonlyMap<string, T>, id: string): T | undefined {
  if (id.length < 4 || id.length >= 64) return undefined;
  let found: T | undefined;
  for (const [key, record] of records) {
    if (!key.startsWith(id)) continue;
    if (found !== undefined) return undefined;
    found = record;
  }
  return found;
}

function stopSandbox(state: RuntimeState, record: SandboxRecord): void {
  for (const container of record.containers) killContainer(state, container);
  if (!record.ready) return;
  record.ready = false;
  state.addresses.delete(record.ip);
  state.changed(record);
  tell(state, "CONTAINER_STOPPED_EVENT", undefined, record);
}

function listSandboxes(state: RuntimeState, filter: PodSandboxFilter | undefined): readonly PodSandbox[] {
  const wanted = filter?.state === undefined ? undefined : (filter.state.state ?? "SANDBOX_READY");
  const isWhole = (filter?.id ?? "") === "" && Object.keys(filter?.labelSelector ?? {}).length === 0;
  const key = `sandboxes ${wanted ?? ""}`;
  const known = isWhole ? state.lists.get(key) : undefined;
  if (known?.generation === state.generation) return known.items as readonly PodSandbox[];
  const items: PodSandbox[] = [];
  for (const record of state.sandboxes.values()) {
    if (filter?.id !== undefined && filter.id !== "" && !record.id.startsWith(filter.id)) continue;
    if (wanted !== undefined && record.ready !== (wanted === "SANDBOX_READY")) continue;
    if (!selects(filter?.labelSelector, record.config.labels)) continue;
    items.push(listedSandbox(state, record));
  }
  if (isWhole) state.lists.set(key, { generation: state.generation, items });
  return items;
}

/** The next of 10.88.0.0/16, or of what was set: addresses are not given again until all have been. */
function nextAddress(state: RuntimeState): string {
  const network = podNetworkOf(state.podNetwork ?? state.options.podNetwork ?? "10.88");
  if (network === undefined) return "";
  for (let tried = 0; tried < network.size; tried++) {
    state.addressCount = (state.addressCount + 1) % (network.size - 1);
    if (state.addressCount < 2) state.addressCount = 2;
    const address = addressAt(network, state.addressCount);
    if (!state.addresses.has(address)) return address;
  }
  return "";
}
