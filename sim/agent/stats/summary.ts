/**
 * The summary of usage that an agent serves: its node and its pods, by the published names and in their order. What was
 * not read is left out.
 */
import type { CpuUsage, FilesystemReading, MemoryReading, MemoryUsage, SwapUsage } from "../../../wire/cri-messages.ts";
import { formatTime } from "../../../wire/time.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import type { DiskUsage, PodFigures } from "./figures.ts";
import type { NodeReading, PodReading } from "./stats-reader.ts";
import { localBytesOf } from "../eviction/ranking.ts";

export interface SummaryOptions {
  readonly nodeName: string;
  /** Seconds since 1970. */
  readonly startedSeconds: number;
  /** `only_cpu_and_memory`: nothing of disks and processes. */
  readonly onlyCpuAndMemory: boolean;
}

/** `groups` are of programs beside pods. */
export function summaryOf(
  node: NodeReading,
  pods: Iterable<PodReading>,
  options: SummaryOptions,
  groups: readonly JsonObject[] = [],
): JsonObject {
  return { node: nodePart(node, options, groups), pods: [...pods].map((pod) => podPart(pod, node, options)) };
}

function nodePart(
  { machine, images, layout }: NodeReading,
  options: SummaryOptions,
  groups: readonly JsonObject[],
): JsonObject {
  const time = readingTime(machine);
  const startTime = formatTime(options.startedSeconds);
  const memory = machine.memory === undefined ? undefined : memoryPart(time, machine.memory);
  const podsMemory = machine.podsMemory === undefined ? undefined : memoryPart(time, machine.podsMemory);
  const systemContainers = [
    ...groups,
    ...(podsMemory === undefined ? [] : [{ name: "pods", startTime, memory: podsMemory }]),
  ];
  const common = {
    nodeName: options.nodeName,
    systemContainers: systemContainers.length === 0 ? undefined : systemContainers,
    startTime,
    cpu: cpuPart(machine.cpu),
    memory,
    swap: swapPart(machine.swap),
  };
  if (options.onlyCpuAndMemory) return present(common);
  const { rootFilesystem, imageFilesystem, pids } = machine;
  const disk = layout === "one" ? rootFilesystem : imageFilesystem;
  const imageFs = disk === undefined ? undefined : { ...diskPart(time, disk), ...usedPart(images) };
  return present({
    ...common,
    fs: rootFilesystem === undefined ? undefined : diskPart(time, rootFilesystem),
    runtime: imageFs === undefined ? undefined : { imageFs, containerFs: imageFs },
    rlimit: pids === undefined ? undefined : { time, maxpid: pids.max, curproc: pids.running },
  });
}

function podPart({ pod, stats, figures }: PodReading, node: NodeReading, options: SummaryOptions): JsonObject {
  const { linux } = stats;
  const { rootFilesystem, imageFilesystem } = node.machine;
  const layersDisk = node.layout === "one" ? rootFilesystem : imageFilesystem;
  const time = timeOf(node.machine.timestamp);
  const containers = (linux?.containers ?? []).map((each, at) => {
    const { name, rootfs, logs } = figures.containers[at] as PodFigures["containers"][number];
    const parts = { name, cpu: cpuPart(each.cpu), memory: usagePart(each.memory), swap: swapPart(each.swap) };
    if (options.onlyCpuAndMemory) return present(parts);
    return present({ ...parts, rootfs: onDisk(time, layersDisk, rootfs), logs: onDisk(time, rootFilesystem, logs) });
  });
  const common = {
    podRef: { name: pod.name, namespace: pod.namespace, uid: pod.uid },
    containers,
    cpu: cpuPart(linux?.cpu),
    memory: usagePart(linux?.memory),
  };
  if (options.onlyCpuAndMemory) return present(common);
  const whole: DiskUsage = { bytes: localBytesOf(pod.object, figures), inodes: undefined };
  const { processCount } = figures;
  return present({
    ...common,
    volume: figures.volumes.map((use) => ({ ...onDisk(time, rootFilesystem, use), name: use.name })),
    "ephemeral-storage": onDisk(time, rootFilesystem, whole),
    process_stats: processCount === undefined ? undefined : { process_count: processCount },
  });
}

function cpuPart(cpu: CpuUsage | undefined): JsonObject | undefined {
  if (cpu === undefined) return undefined;
  return present({
    time: timeOf(cpu.timestamp),
    usageNanoCores: cpu.usageNanoCores?.value,
    usageCoreNanoSeconds: cpu.usageCoreNanoSeconds?.value,
  });
}

function memoryPart(time: string, reading: MemoryReading): JsonObject {
  return {
    time,
    availableBytes: reading.availableBytes,
    usageBytes: reading.usageBytes,
    workingSetBytes: reading.workingSetBytes,
    rssBytes: reading.rssBytes,
    pageFaults: reading.pageFaults,
    majorPageFaults: reading.majorPageFaults,
  };
}

function usagePart(memory: MemoryUsage | undefined): JsonObject | undefined {
  if (memory === undefined) return undefined;
  return present({
    time: timeOf(memory.timestamp),
    availableBytes: memory.availableBytes?.value,
    usageBytes: memory.usageBytes?.value,
    workingSetBytes: memory.workingSetBytes?.value,
    rssBytes: memory.rssBytes?.value,
    pageFaults: memory.pageFaults?.value,
    majorPageFaults: memory.majorPageFaults?.value,
  });
}

function swapPart(swap: SwapUsage | undefined): JsonObject | undefined {
  if (swap === undefined) return undefined;
  return present({
    time: timeOf(swap.timestamp),
    swapAvailableBytes: swap.swapAvailableBytes?.value,
    swapUsageBytes: swap.swapUsageBytes?.value,
  });
}

function diskPart(time: string, disk: FilesystemReading): JsonObject {
  return {
    time,
    availableBytes: disk.availableBytes,
    capacityBytes: disk.capacityBytes,
    usedBytes: disk.usedBytes,
    inodesFree: disk.inodesFree,
    inodes: disk.inodes,
    inodesUsed: disk.inodesUsed,
  };
}

/** What one user takes of a disk, with what the disk has left for all. */
function onDisk(time: string, disk: FilesystemReading | undefined, use: DiskUsage | undefined): JsonObject | undefined {
  if (use === undefined || disk === undefined) return undefined;
  return present({ ...diskPart(time, disk), usedBytes: use.bytes, inodesUsed: use.inodes });
}

function usedPart({ usedBytes, inodesUsed }: NodeReading["images"]): JsonObject {
  return present({ usedBytes: usedBytes?.value, inodesUsed: inodesUsed?.value });
}

export const readingTime = ({ timestamp }: NodeReading["machine"]): string => timeOf(timestamp);

const timeOf = (nanos: number): string => formatTime(Math.floor(nanos / 1_000_000_000));

function present(fields: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as JsonObject;
}
