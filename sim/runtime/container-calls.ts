/** Calls about containers. */
import { type CriAnswer, type CriMethod, type CriRequestOf, grpcCode } from "../../wire/cri.ts";
import type { Container, ContainerConfig, ContainerFilter, LinuxContainerResources } from "../../wire/cri-messages.ts";
import { execSync } from "./exec.ts";
import { killContainer, startContainer, stopContainer, tell } from "./container-life.ts";
import { containerStatus, listedContainer, notFound, selects } from "./container-messages.ts";
import { openLog } from "./container-log.ts";
import type { ContainerRecord, SandboxRecord } from "./records.ts";
import type { RuntimeState } from "./runtime-state.ts";

export type CallHandler<M extends CriMethod> = (
  state: RuntimeState,
  message: CriRequestOf<M>,
  answer: (answer: CriAnswer<M>) => void,
) => void;

type ContainerMethod =
  | "CreateContainer"
  | "StartContainer"
  | "StopContainer"
  | "RemoveContainer"
  | "ListContainers"
  | "ContainerStatus"
  | "UpdateContainerResources"
  | "ReopenContainerLog"
  | "ExecSync"
  | "Exec"
  | "Attach"
  | "PortForward"
  | "CheckpointContainer";

const failed = (text: string, code: number = grpcCode.unknown): CriAnswer & { readonly ok: false } => ({
  ok: false,
  code,
  text,
});
const unimplemented = (method: string): CriAnswer & { readonly ok: false } =>
  failed(`unknown method ${method} for service runtime.v1.RuntimeService`, grpcCode.unimplemented);

export const containerCalls: { readonly [M in ContainerMethod]: CallHandler<M> } = {
  CreateContainer(state, { podSandboxId = "", config }, answer) {
    const sandbox = state.sandboxes.get(podSandboxId);
    const name = config?.metadata?.name ?? "";
    if (sandbox === undefined) {
      answer(failed(`failed to find sandbox id "${podSandboxId}": not found`, grpcCode.notFound));
      return;
    }
    if (config === undefined || name === "") {
      answer(failed("container config must include metadata with a name"));
      return;
    }
    if (!sandbox.ready) {
      answer(failed(`sandbox container "${podSandboxId}" is not running`));
      return;
    }
    const key = reservedNameOf(sandbox, config);
    const holder = state.reserved.get(key);
    if (holder !== undefined) {
      answer(failed(`failed to reserve container name "${key}": name "${key}" is reserved for "${holder}"`));
      return;
    }
    const reference = config.image?.image ?? "";
    const image = state.images.find(reference);
    if (image === undefined) {
      answer(failed(`failed to resolve image "${reference}": not found`, grpcCode.notFound));
      return;
    }
    const id = state.newId();
    state.reserved.set(key, id);
    state.later("CreateContainer", () => {
      if (!state.sandboxes.has(sandbox.id) || !sandbox.ready) {
        state.reserved.delete(key);
        answer(failed(`sandbox container "${podSandboxId}" is not running`));
        return;
      }
      const container = addContainer(state, { id, sandbox, config, image, createdMicros: state.nowMicros });
      state.applySetting(container);
      state.changed(container);
      tell(state, "CONTAINER_CREATED_EVENT", container, sandbox);
      answer({ ok: true, message: { containerId: id } });
    });
  },

  StartContainer(state, { containerId = "" }, answer) {
    const container = find(state, containerId);
    if (container === undefined) {
      answer(notFound("container", containerId));
      return;
    }
    if (container.state !== "CONTAINER_CREATED" || container.starting !== undefined || container.removing) {
      const is = container.removing
        ? "in removing state, can't be started"
        : `not in created state: it is ${stateWord(container)}`;
      answer(failed(`failed to start container "${containerId}": container is ${is}`));
      return;
    }
    if (!container.sandbox.ready) {
      answer(failed(`sandbox container "${container.sandbox.id}" is not running`));
      return;
    }
    const call = {};
    container.starting = call;
    state.later("StartContainer", () => {
      if (container.starting !== call) {
        answer(failed(`failed to start container "${containerId}": context canceled`));
        return;
      }
      container.starting = undefined;
      if (!state.containers.has(container.id) || !container.sandbox.ready) {
        answer(failed(`sandbox container "${container.sandbox.id}" is not running`));
        return;
      }
      const wrong = startContainer(state, container);
      answer(wrong === undefined ? { ok: true, message: {} } : failed(wrong));
    });
  },

  StopContainer(state, { containerId = "", timeout = 0 }, answer) {
    const container = find(state, containerId);
    if (container === undefined) {
      answer({ ok: true, message: {} });
      return;
    }
    stopContainer(state, container, Math.max(0, timeout) * 1_000_000, () =>
      state.later("StopContainer", () => answer({ ok: true, message: {} })),
    );
  },

  RemoveContainer(state, { containerId = "" }, answer) {
    const container = find(state, containerId);
    if (container === undefined) {
      answer({ ok: true, message: {} });
      return;
    }
    if (container.removing) {
      answer(
        failed(`failed to set removing state for container "${containerId}": container is already in removing state`),
      );
      return;
    }
    if (container.starting !== undefined) {
      answer(
        failed(
          `failed to set removing state for container "${containerId}": container is in starting state, can't be removed`,
        ),
      );
      return;
    }
    container.removing = true;
    killContainer(state, container);
    state.later("RemoveContainer", () => {
      dropContainer(state, container);
      answer({ ok: true, message: {} });
    });
  },

  ListContainers(state, { filter }, answer) {
    answer({ ok: true, message: { containers: listContainers(state, filter) }, generation: state.generation });
  },

  ContainerStatus(state, { containerId = "", verbose = false }, answer) {
    const container = find(state, containerId);
    if (container === undefined) {
      answer(notFound("container", containerId));
      return;
    }
    const info = verbose
      ? {
          info: JSON.stringify({
            sandboxID: container.sandbox.id,
            pid: container.box === undefined ? 0 : 1,
            config: container.config,
          }),
        }
      : {};
    answer({ ok: true, message: { status: containerStatus(state, container), info } });
  },

  UpdateContainerResources(state, { containerId = "", linux }, answer) {
    const container = find(state, containerId);
    if (container === undefined) {
      answer(notFound("container", containerId));
      return;
    }
    container.resources = { ...container.resources, ...given(linux ?? {}) };
    state.changed(container);
    if (container.box !== undefined) state.schedule(container, state.nowMicros);
    answer({ ok: true, message: {} });
  },

  ReopenContainerLog(state, { containerId = "" }, answer) {
    const container = find(state, containerId);
    if (container === undefined) answer(notFound("container", containerId));
    else if (container.box === undefined) answer(failed("container is not running"));
    else {
      // The file is found by its name at each write, so that one that was moved away is left alone; it exists from now on.
      if (container.logPath !== "") openLog(state, container.logPath);
      answer({ ok: true, message: {} });
    }
  },

  ExecSync(state, message, answer) {
    const container = find(state, message.containerId ?? "");
    if (container === undefined) answer(notFound("container", message.containerId ?? ""));
    else execSync(state, container, message, answer);
  },

  Exec(state, message, answer) {
    const container = find(state, message.containerId ?? "");
    if (state.options.streams === undefined) answer(unimplemented("Exec"));
    else if (container === undefined) answer(notFound("container", message.containerId ?? ""));
    else if (container.box === undefined) answer(failed(`container is in ${container.state} state`));
    else answer({ ok: true, message: { url: state.options.streams.url("exec", message) } });
  },

  Attach(state, message, answer) {
    const container = find(state, message.containerId ?? "");
    if (state.options.streams === undefined) answer(unimplemented("Attach"));
    else if (container === undefined) answer(notFound("container", message.containerId ?? ""));
    else if (container.box === undefined) answer(failed(`container is in ${container.state} state`));
    else answer({ ok: true, message: { url: state.options.streams.url("attach", message) } });
  },

  PortForward(state, message, answer) {
    const sandbox = state.sandboxes.get(message.podSandboxId ?? "");
    if (state.options.streams === undefined) answer(unimplemented("PortForward"));
    else if (sandbox === undefined) answer(notFound("sandbox", message.podSandboxId ?? ""));
    else if (!sandbox.ready) answer(failed(`sandbox container "${sandbox.id}" is not running`));
    else answer({ ok: true, message: { url: state.options.streams.url("portforward", message) } });
  },

  CheckpointContainer(_state, _message, answer) {
    answer(unimplemented("CheckpointContainer"));
  },
};

const reservedNameOf = ({ config: { metadata: pod = {} } }: SandboxRecord, { metadata = {} }: ContainerConfig) =>
  [metadata.name, pod.name, pod.namespace, pod.uid, metadata.attempt ?? 0].join("_");

/** A container that has been created and was not started yet. */
export function addContainer(
  state: RuntimeState,
  of: Pick<ContainerRecord, "id" | "sandbox" | "config" | "image" | "createdMicros">,
): ContainerRecord {
  const { id, sandbox, config } = of;
  const directory = sandbox.config.logDirectory ?? "";
  const logPath = config.logPath ?? "";
  const container: ContainerRecord = {
    ...of,
    state: "CONTAINER_CREATED",
    startedMicros: -1,
    finishedMicros: -1,
    exitCode: 0,
    reason: "",
    message: "",
    resources: config.linux?.resources,
    box: undefined,
    files: undefined,
    isService: false,
    removing: false,
    starting: undefined,
    usage: {},
    wakeMicros: Infinity,
    waiters: [],
    logPath: directory === "" || logPath === "" ? "" : [directory, logPath].join("/"),
    logRest: { 1: "", 2: "" },
    stdin: undefined,
    watchers: undefined,
    reservedName: reservedNameOf(sandbox, config),
    listed: undefined,
  };
  state.containers.set(id, container);
  sandbox.containers.push(container);
  return container;
}

/** By id, or by its beginning where that is unique. */
export function find(state: RuntimeState, id: string): ContainerRecord | undefined {
  const known = state.containers.get(id);
  if (known !== undefined || id.length < 4 || id.length >= 64) return known;
  const found = [...state.containers.values()].filter((container) => container.id.startsWith(id));
  return found.length === 1 ? found[0] : undefined;
}

/** Takes a container out of the runtime, with its writable layer. It does not run any more. */
export function dropContainer(state: RuntimeState, container: ContainerRecord): void {
  if (!state.containers.delete(container.id)) return;
  killContainer(state, container);
  const { containers } = container.sandbox;
  containers.splice(containers.indexOf(container), 1);
  state.modelled.delete(container);
  state.reserved.delete(container.reservedName);
  const layer = container.files?.layer;
  if (layer !== undefined) for (const name of [...layer.root.entries.keys()]) layer.remove(`/${name}`, state.nowMicros);
  state.changed(container);
  tell(state, "CONTAINER_DELETED_EVENT", container, container.sandbox);
}

/** What an update says: zero values are what it leaves as it is. */
const given = (resources: LinuxContainerResources): LinuxContainerResources =>
  Object.fromEntries(
    Object.entries(resources).filter(
      ([, value]) => value !== 0 && value !== "" && (typeof value !== "object" || Object.keys(value).length > 0),
    ),
  );

const stateWord = ({ state }: ContainerRecord): string => state.replace("CONTAINER_", "").toLowerCase();

function listContainers(state: RuntimeState, filter: ContainerFilter | undefined): readonly Container[] {
  const wanted = filter?.state === undefined ? undefined : (filter.state.state ?? "CONTAINER_CREATED");
  const isWhole =
    (filter?.id ?? "") === "" &&
    (filter?.podSandboxId ?? "") === "" &&
    Object.keys(filter?.labelSelector ?? {}).length === 0;
  const key = `containers ${wanted ?? ""}`;
  const known = isWhole ? state.lists.get(key) : undefined;
  if (known?.generation === state.generation) return known.items as readonly Container[];
  const items: Container[] = [];
  for (const container of state.containers.values()) {
    if (filter?.id !== undefined && filter.id !== "" && !container.id.startsWith(filter.id)) continue;
    if (
      filter?.podSandboxId !== undefined &&
      filter.podSandboxId !== "" &&
      container.sandbox.id !== filter.podSandboxId
    )
      continue;
    if (wanted !== undefined && container.state !== wanted) continue;
    if (!selects(filter?.labelSelector, container.config.labels)) continue;
    items.push(listedContainer(state, container));
  }
  if (isWhole) state.lists.set(key, { generation: state.generation, items });
  return items;
}
