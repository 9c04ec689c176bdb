/** Statistics of containers and pods, computed from what is used when they are asked for. */
import type {
  ContainerStats,
  ContainerStatsFilter,
  CpuUsage,
  MemoryUsage,
  PodSandboxStats,
} from "../../wire/cri-messages.ts";
import { type CallHandler, find } from "./container-calls.ts";
import { notFound, selects } from "./container-messages.ts";
import { imageMountpoint } from "./machine.ts";
import { type ContainerRecord, type ContainerUse, podKey, type SandboxRecord } from "./records.ts";
import type { RuntimeState } from "./runtime-state.ts";
import { findSandbox } from "./sandbox-calls.ts";
import { addedUse, isHidden, limitOf, useOf } from "./usage-of.ts";

type StatsMethod =
  | "ContainerStats"
  | "ListContainerStats"
  | "PodSandboxStats"
  | "ListPodSandboxStats"
  | "ListMetricDescriptors"
  | "ListPodSandboxMetrics";

const none = Object.freeze({});

export const statsCalls: { readonly [M in StatsMethod]: CallHandler<M> } = {
  ContainerStats(state, { containerId = "" }, answer) {
    const container = find(state, containerId);
    if (container === undefined) answer(notFound("container", containerId));
    else answer({ ok: true, message: { stats: statsOf(state, container) } });
  },

  ListContainerStats(state, { filter }, answer) {
    const stats: ContainerStats[] = [];
    for (const container of candidates(state, filter)) {
      if (
        container.box !== undefined &&
        selects(filter?.labelSelector, container.config.labels) &&
        !isHidden(state, container)
      ) {
        stats.push(statsOf(state, container));
      }
    }
    answer({ ok: true, message: { stats } });
  },

  PodSandboxStats(state, { podSandboxId = "" }, answer) {
    const sandbox = findSandbox(state, podSandboxId);
    if (sandbox === undefined) answer(notFound("sandbox", podSandboxId));
    else answer({ ok: true, message: { stats: podStats(state, sandbox) } });
  },

  ListPodSandboxStats(state, { filter }, answer) {
    const stats: PodSandboxStats[] = [];
    for (const sandbox of state.sandboxes.values()) {
      if (!sandbox.ready || !selects(filter?.labelSelector, sandbox.config.labels)) continue;
      if (filter?.id === undefined || filter.id === "" || filter.id === sandbox.id)
        stats.push(podStats(state, sandbox));
    }
    answer({ ok: true, message: { stats } });
  },

  ListMetricDescriptors: (_state, _message, answer) => answer(unimplemented("ListMetricDescriptors")),
  ListPodSandboxMetrics: (_state, _message, answer) => answer(unimplemented("ListPodSandboxMetrics")),
};

const unimplemented = (method: string) =>
  ({ ok: false, code: 12, text: `unknown method ${method} for service runtime.v1.RuntimeService` }) as const;

function candidates(state: RuntimeState, filter: ContainerStatsFilter | undefined): Iterable<ContainerRecord> {
  if (filter?.id !== undefined && filter.id !== "") {
    const one = find(state, filter.id);
    return one === undefined ? [] : [one];
  }
  if (filter?.podSandboxId !== undefined && filter.podSandboxId !== "") {
    return findSandbox(state, filter.podSandboxId)?.containers ?? [];
  }
  return state.containers.values();
}

/** When figures were taken: now, or at the last of the intervals at which they are. */
function takenAt(state: RuntimeState): number {
  const every = state.options.figuresMicros ?? 0;
  return state.unixNanos(every === 0 ? state.nowMicros : state.nowMicros - (state.nowMicros % every));
}

function statsOf(state: RuntimeState, container: ContainerRecord): ContainerStats {
  return state.lies.of(podKey(container.sandbox.config), container.id, trueStatsOf(state, container));
}

function trueStatsOf(state: RuntimeState, container: ContainerRecord): ContainerStats {
  const known = container.figures;
  const timestamp = takenAt(state);
  if (known !== undefined && known.timestamp === timestamp && (state.options.figuresMicros ?? 0) > 0)
    return known.stats;
  const { config } = container;
  const use = useOf(state, container);
  const stats: ContainerStats = {
    attributes: {
      id: container.id,
      ...(config.metadata === undefined ? {} : { metadata: config.metadata }),
      labels: config.labels ?? none,
      annotations: config.annotations ?? none,
    },
    cpu: cpuUsage(use, timestamp),
    memory: memoryUsage(use, limitOf(container), timestamp),
    writableLayer: {
      timestamp,
      fsId: { mountpoint: imageMountpoint },
      usedBytes: { value: use.layer.bytes },
      inodesUsed: { value: use.layer.inodes },
    },
    swap: { timestamp, swapAvailableBytes: { value: 0 }, swapUsageBytes: { value: 0 } },
  };
  if ((state.options.figuresMicros ?? 0) > 0) container.figures = { timestamp, stats };
  return stats;
}

const cpuUsage = (use: ContainerUse, timestamp: number): CpuUsage => ({
  timestamp,
  usageCoreNanoSeconds: { value: use.cpuNanos },
  usageNanoCores: { value: use.nanoCores },
});

const memoryUsage = (use: ContainerUse, limitBytes: number | undefined, timestamp: number): MemoryUsage => ({
  timestamp,
  workingSetBytes: { value: use.workingSetBytes },
  availableBytes: { value: limitBytes === undefined ? 0 : Math.max(0, limitBytes - use.workingSetBytes) },
  usageBytes: { value: use.workingSetBytes },
  rssBytes: { value: use.rssBytes },
  pageFaults: { value: Math.floor(use.workingSetBytes / 4096) },
  majorPageFaults: { value: 0 },
});

function podStats(state: RuntimeState, sandbox: SandboxRecord): PodSandboxStats {
  return state.lies.of(podKey(sandbox.config), sandbox.id, truePodStats(state, sandbox));
}

function truePodStats(state: RuntimeState, sandbox: SandboxRecord): PodSandboxStats {
  const timestamp = takenAt(state);
  const running = sandbox.containers.filter((container) => container.box !== undefined && !isHidden(state, container));
  const sum: ContainerUse = {
    workingSetBytes: 0,
    rssBytes: 0,
    cpuNanos: 0,
    nanoCores: 0,
    pids: 1,
    layer: { bytes: 0, inodes: 0 },
  };
  const total = running.reduce((all, container) => addedUse(all, useOf(state, container)), sum);
  return {
    attributes: {
      id: sandbox.id,
      ...(sandbox.config.metadata === undefined ? {} : { metadata: sandbox.config.metadata }),
      labels: sandbox.config.labels ?? none,
      annotations: sandbox.config.annotations ?? none,
    },
    linux: {
      cpu: cpuUsage(total, timestamp),
      memory: memoryUsage(total, undefined, timestamp),
      network: { timestamp, defaultInterface: traffic, interfaces: [] },
      process: { timestamp, processCount: { value: total.pids } },
      containers: running.map((container) => trueStatsOf(state, container)),
    },
  };
}

const zero = { value: 0 };
const traffic = { name: "eth0", rxBytes: zero, rxErrors: zero, txBytes: zero, txErrors: zero };
