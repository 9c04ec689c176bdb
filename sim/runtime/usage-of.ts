/** What containers use: what their processes hold, what their image's model says, and what was set for them or their pod. */
import type { Micros } from "../kernel/types.ts";
import type { TreeUse } from "./file-tree.ts";
import { INODES_OF_IMAGE } from "./images.ts";
import { type ContainerRecord, type ContainerUse, podKey, type SandboxRecord, type UsageSetting } from "./records.ts";
import type { RuntimeState } from "./runtime-state.ts";
import { amountAt, firstAbove, totalUntil, type UsageModel } from "./usage-model.ts";

/** What a container's page cache and kernel structures come to, beside its processes. */
const BASE_BYTES = 356_352;

/** What all containers that run use together; remembered while nothing moves it. */
export function totalUse(state: RuntimeState): ContainerUse {
  if (state.totalUse !== undefined) return state.totalUse;
  let total = nothingInUse;
  let isSteady = true;
  for (const container of state.containers.values()) {
    if (container.box === undefined) continue;
    total = addedUse(total, useOf(state, container));
    if (container.use === undefined) isSteady = false;
  }
  if (isSteady) state.totalUse = total;
  return total;
}

const nothingInUse: ContainerUse = {
  workingSetBytes: 0,
  rssBytes: 0,
  cpuNanos: 0,
  nanoCores: 0,
  pids: 0,
  layer: { bytes: 0, inodes: 0 },
};

export const addedUse = (a: ContainerUse, b: ContainerUse): ContainerUse => ({
  workingSetBytes: a.workingSetBytes + b.workingSetBytes,
  rssBytes: a.rssBytes + b.rssBytes,
  cpuNanos: a.cpuNanos + b.cpuNanos,
  nanoCores: a.nanoCores + b.nanoCores,
  pids: a.pids + b.pids,
  layer: { bytes: a.layer.bytes + b.layer.bytes, inodes: a.layer.inodes + b.layer.inodes },
});

/** What one uses; remembered until its processes do something, where no model makes it move by itself. */
export function useOf(state: RuntimeState, container: ContainerRecord): ContainerUse {
  if (container.use !== undefined) return container.use;
  const use = measuredUse(state, container);
  if (isSteady(state, container)) container.use = use;
  return use;
}

/** Nothing is said of what it uses, by settings or by its image, but what stays the same. */
function isSteady(state: RuntimeState, container: ContainerRecord): boolean {
  if (container.box === undefined || Object.keys(container.usage).length > 0) return false;
  if (state.settings.size > 0 && state.settings.has(podKey(container.sandbox.config))) return false;
  const { memory, cpu } = container.image.row.runs ?? {};
  return cpu === undefined && (memory === undefined || memory.is === "constant");
}

function measuredUse(state: RuntimeState, container: ContainerRecord): ContainerUse {
  const { box } = container;
  const pod = podSetting(state, container);
  const own = container.usage;
  const modelledMemory =
    amount(state, own.memory, own.sinceMicros) +
    amount(state, pod?.memory, pod?.sinceMicros) +
    (own.memory === undefined && pod?.memory === undefined ? imageMemory(state, container) : 0);
  const processes = box?.memoryBytes ?? 0;
  const cpu = cpuModel(container, pod);
  let cpuNanos = (box?.cpuMicros ?? 0) * 1000;
  let nanoCores = 0;
  if (cpu !== undefined) {
    const began = Math.max(container.startedMicros, cpu.sinceMicros);
    const age = Math.max(0, state.nowMicros - began);
    cpuNanos += totalUntil(cpu.model, age);
    nanoCores = amountAt(cpu.model, age);
  }
  return {
    workingSetBytes: BASE_BYTES + processes + modelledMemory,
    rssBytes: processes + modelledMemory,
    // A process that waits has used a little, to have started at all.
    cpuNanos: cpuNanos + 15_000_000,
    nanoCores,
    pids:
      (box?.processes.size ?? 0) +
      amount(state, own.pids, own.sinceMicros) +
      amount(state, pod?.pids, pod?.sinceMicros),
    layer: layerOf(state, container),
  };
}

/** The writable layer: its files, and what is said of it. */
function layerOf(state: RuntimeState, container: ContainerRecord): TreeUse {
  const files = container.files?.layer?.use("/");
  const pod = podSetting(state, container);
  const own = container.usage;
  return {
    bytes:
      (files?.bytes ?? 0) +
      amount(state, own.layerBytes, own.sinceMicros) +
      amount(state, pod?.layerBytes, pod?.sinceMicros),
    inodes:
      (files?.inodes ?? 0) +
      amount(state, own.layerInodes, own.sinceMicros) +
      amount(state, pod?.layerInodes, pod?.sinceMicros),
  };
}

/** Logs and volumes that are only said to be there, of a sandbox. */
export function volumesOf(state: RuntimeState, sandbox: SandboxRecord): TreeUse {
  const setting = state.settings.get(podKey(sandbox.config));
  return {
    bytes: amount(state, setting?.volumeBytes, setting?.sinceMicros),
    inodes: amount(state, setting?.volumeInodes, setting?.sinceMicros),
  };
}

/** What models, and images, put on the disks beside files. */
export function addedByModels(state: RuntimeState): { readonly root: TreeUse; readonly image: TreeUse } {
  let rootBytes = 0;
  let rootInodes = 0;
  let imageBytes = state.images.usedBytes;
  let imageInodes = state.images.stored.size * INODES_OF_IMAGE;
  for (const container of state.modelled) {
    const pod = podSetting(state, container);
    const own = container.usage;
    imageBytes += amount(state, own.layerBytes, own.sinceMicros) + amount(state, pod?.layerBytes, pod?.sinceMicros);
    imageInodes += amount(state, own.layerInodes, own.sinceMicros) + amount(state, pod?.layerInodes, pod?.sinceMicros);
    rootBytes += amount(state, pod?.volumeBytes, pod?.sinceMicros);
    rootInodes += amount(state, pod?.volumeInodes, pod?.sinceMicros);
  }
  return { root: { bytes: rootBytes, inodes: rootInodes }, image: { bytes: imageBytes, inodes: imageInodes } };
}

/** When its models take it above its limit; Infinity: never. */
export function nextAboveLimit(state: RuntimeState, container: ContainerRecord): Micros {
  const limit = limitOf(container);
  const { box } = container;
  if (limit === undefined || box === undefined) return Infinity;
  const model = container.usage.memory ?? podSetting(state, container)?.memory ?? serviceMemory(container);
  if (model === undefined) return Infinity;
  const since = memorySince(state, container);
  const free = limit - BASE_BYTES - box.memoryBytes;
  if (free < 0) return state.nowMicros;
  const found = firstAbove(model, free, Math.max(0, state.nowMicros - since));
  if (found === undefined) return Infinity;
  return since + ("at" in found ? found.at : found.until);
}

/** Bytes; undefined: it has none. */
export function limitOf(container: ContainerRecord): number | undefined {
  const limit = container.resources?.memoryLimitInBytes ?? 0;
  return limit > 0 ? limit : undefined;
}

/** The pod's figures count for the first of its containers that runs. */
function podSetting(state: RuntimeState, container: ContainerRecord): UsageSetting | undefined {
  if (state.settings.size === 0) return undefined;
  const setting = state.settings.get(podKey(container.sandbox.config));
  if (setting === undefined) return undefined;
  const first = container.sandbox.containers.find(({ box }) => box !== undefined);
  return first === container ? setting : undefined;
}

/** Statistics leave out what is hidden, and containers of hidden pods. */
export const isHidden = (state: RuntimeState, container: ContainerRecord): boolean =>
  container.usage.hidden === true || state.settings.get(podKey(container.sandbox.config))?.hidden === true;

function cpuModel(
  container: ContainerRecord,
  pod: UsageSetting | undefined,
): { readonly model: UsageModel; readonly sinceMicros: Micros } | undefined {
  if (container.box === undefined) return undefined;
  if (container.usage.cpu !== undefined)
    return { model: container.usage.cpu, sinceMicros: container.usage.sinceMicros ?? 0 };
  if (pod?.cpu !== undefined) return { model: pod.cpu, sinceMicros: pod.sinceMicros ?? 0 };
  const model = container.image.row.runs?.cpu;
  return model === undefined || !container.isService ? undefined : { model, sinceMicros: container.startedMicros };
}

const serviceMemory = (container: ContainerRecord): UsageModel | undefined =>
  container.isService ? container.image.row.runs?.memory : undefined;

function imageMemory(state: RuntimeState, container: ContainerRecord): number {
  const model = container.box === undefined ? undefined : serviceMemory(container);
  return model === undefined ? 0 : amountAt(model, state.nowMicros - container.startedMicros);
}

function memorySince(state: RuntimeState, container: ContainerRecord): Micros {
  if (container.usage.memory !== undefined) return container.usage.sinceMicros ?? 0;
  const pod = podSetting(state, container);
  return pod?.memory !== undefined ? (pod.sinceMicros ?? 0) : container.startedMicros;
}

const amount = (state: RuntimeState, model: UsageModel | undefined, sinceMicros: Micros | undefined): number =>
  model === undefined ? 0 : amountAt(model, Math.max(0, state.nowMicros - (sinceMicros ?? 0)));
