/** From an agent's settings, as flags and files have them, to what its parts are told. */
import { parseQuantity, quantityAt } from "../../wire/quantity.ts";
import { parseCpuList } from "../../wire/cpu-list.ts";
import { isTrue, nodeIpsIn } from "../configuration/agent/flag-values.ts";
import { isOn } from "../configuration/agent/feature-gates.ts";
import { evictionSettingsOf } from "../configuration/agent/eviction-settings.ts";
import type { AgentSettings } from "../configuration/agent/settings.ts";
import type { AccessSettings } from "./listener/access.ts";
import type { AgentOptions, ManagerOptions, NodeOptions } from "./ports.ts";
import { type BackOffTimes, usualBackOff } from "./runtime/back-off.ts";

/** What the machine is, as far as no flag says it. */
export interface AgentHost {
  readonly hostname: string;
  /** Of its network, where --node-ip does not choose. */
  readonly addresses: readonly string[];
  /** What managers of processors and memory have written down is looked at, though they have nothing to do. */
  readonly hasManagerState?: boolean;
  /** Of the agent's process. Default: none, as in a simulation. */
  readonly processId?: number;
}

export function accessSettingsOf({ flag, number, text }: AgentSettings): AccessSettings {
  return {
    anonymous: flag("anonymous-auth"),
    reviewsTokens: flag("authentication-token-webhook"),
    tokenMicros: number("authentication-token-webhook-cache-ttl"),
    mode: text("authorization-mode") === "Webhook" ? "Webhook" : "AlwaysAllow",
    allowedMicros: number("authorization-webhook-cache-authorized-ttl"),
    deniedMicros: number("authorization-webhook-cache-unauthorized-ttl"),
  };
}

const monitoringMicros = 10_000_000;

export function agentOptionsOf(settings: AgentSettings, host: AgentHost): AgentOptions {
  const { text, flag, number, texts } = settings;
  const hostname = host.hostname.trim().toLowerCase();
  const named = text("hostname-override").trim().toLowerCase();
  const orUndefined = (value: string): string | undefined => (value === "" ? undefined : value);
  const { zeroRates } = settings.rules;
  return {
    nodeName: named === "" ? hostname : named,
    hostname: named === "" ? hostname : named,
    node: nodeOptionsOf(settings, host),
    pods: {
      syncFrequencyMicros: number("sync-frequency"),
      runtimeRequestTimeoutMicros: number("runtime-request-timeout"),
      serializeImagePulls: flag("serialize-image-pulls"),
      parallelImagePullsMax: settings.of("maxParallelImagePulls") as number | undefined,
      registryQps: number("registry-qps"),
      registryBurst: number("registry-burst"),
      deadContainersPerContainerMax: number("maximum-dead-containers-per-container"),
      deadContainersMax: number("maximum-dead-containers"),
      deadContainerAgeMicrosMin: number("minimum-container-ttl-duration"),
      logFilesMax: number("container-log-max-files"),
      logBytesMax: bytesOf(text("container-log-max-size")),
      logCheckMicros: number("containerLogMonitorInterval"),
      logWorkersMax: number("containerLogMaxWorkers"),
      restarts: restartsOf(settings),
      clusterDns: texts("cluster-dns"),
      clusterDomain: text("cluster-domain"),
      rootDir: text("root-dir"),
      logsDir: text("podLogsDir"),
      allowedUnsafeSysctls: texts("allowed-unsafe-sysctls"),
      podCidr: text("pod-cidr"),
      volumePluginDir: text("volume-plugin-dir"),
      kernel: {
        cpuQuota: flag("cpu-cfs-quota"),
        cpuQuotaPeriodMicros: number("cpu-cfs-quota-period"),
        seccompDefault: flag("seccomp-default"),
        cgroupsPerQos: flag("cgroups-per-qos"),
        cgroupRoot: text("cgroup-root").replace(/\/+$/, ""),
        cgroupDriver: text("cgroup-driver") === "systemd" ? "systemd" : "cgroupfs",
      },
      resizes: isOn(settings.gates(), "InPlacePodVerticalScaling"),
      showsAllocated: isOn(settings.gates(), "InPlacePodVerticalScalingAllocatedStatus"),
    },
    sources: {
      manifestPath: orUndefined(text("pod-manifest-path")),
      fileCheckMicros: number("file-check-frequency"),
      manifestUrl: orUndefined(text("manifest-url")),
      manifestUrlHeaders: settings.headers(),
      httpCheckMicros: number("http-check-frequency"),
    },
    client: {
      apiQps: number("svc-api-qps") || zeroRates.apiQps,
      apiBurst: number("svc-api-burst") || zeroRates.apiBurst,
      eventQps: number("event-qps") || zeroRates.eventQps,
      eventBurst: number("event-burst") || zeroRates.eventBurst,
    },
    eviction: evictionSettingsOf(settings),
    evictionMonitoringMicros: monitoringMicros,
    localStorageCapacityIsolation: flag("local-storage-capacity-isolation"),
    images: {
      highThresholdPercent: number("image-gc-high-threshold"),
      lowThresholdPercent: number("image-gc-low-threshold"),
      ageMicrosMin: number("minimum-image-ttl-duration"),
      ageMicrosMax: number("imageMaximumGCAge"),
      podInfraImage: text("pod-infra-container-image"),
    },
    ...managersOf(settings, host.hasManagerState === true),
    ...controlGroupsOf(settings),
    ...systemGroupsOf(settings, host),
  };
}

/** Source: the published agent: two gates shorten the waits, and what a file says under one of them counts. */
function restartsOf(settings: AgentSettings): BackOffTimes {
  const gates = settings.gates();
  const times = isOn(gates, "ReduceDefaultCrashLoopBackOffDecay")
    ? { firstMicros: 1_000_000, mostMicros: 60_000_000 }
    : usualBackOff;
  if (!isOn(gates, "KubeletCrashLoopBackOffMax")) return times;
  const given = settings.of("crashLoopBackOff.maxContainerRestartPeriod") as number | undefined;
  const mostMicros = given ?? usualBackOff.mostMicros;
  return { firstMicros: Math.min(times.firstMicros, mostMicros), mostMicros };
}

/** Left out where no flag asks for a limit. */
function controlGroupsOf({ text, texts, number, map }: AgentSettings): Pick<AgentOptions, "controlGroups"> {
  const percent = map("qos-reserved")["memory"];
  const podPidsMax = number("pod-max-pids");
  const isReserved = texts("enforce-node-allocatable").some((level) => level.includes("-reserved"));
  if (percent === undefined && podPidsMax < 0 && !isReserved) return {};
  const controlGroups = {
    memoryPercent: percent === undefined ? undefined : Number.parseInt(percent, 10),
    podPidsMax,
    systemReservedGroup: text("system-reserved-cgroup"),
    serviceReservedGroup: text("svc-reserved-cgroup"),
  };
  return { controlGroups };
}

/** Groups of programs beside pods; left out where no flag names one. */
function systemGroupsOf(
  { text, rules }: AgentSettings,
  { processId }: AgentHost,
): Pick<AgentOptions, "systemGroups" | "ownGroup"> {
  const own = text("nodeagent-cgroups");
  const named = [
    { name: rules.dialect === "kubernetes" ? "kubelet" : "nodeagent", path: own },
    { name: "runtime", path: text("runtime-cgroups") },
    { name: "misc", path: text("system-cgroups") },
  ];
  const systemGroups = named.filter(({ path }) => path !== "");
  if (systemGroups.length === 0) return {};
  return { systemGroups, ...(own === "" || processId === undefined ? {} : { ownGroup: { path: own, processId } }) };
}

/** Left out where no policy gives anything to anybody. */
function managersOf(settings: AgentSettings, hasState: boolean): Pick<AgentOptions, "managers"> {
  const { text, number } = settings;
  const [cpuPolicy, memoryPolicy] = [text("cpu-manager-policy") || "none", text("memory-manager-policy") || "None"];
  const topologyPolicy = text("topology-manager-policy") || "none";
  if (!hasState && cpuPolicy === "none" && memoryPolicy === "None" && topologyPolicy === "none") return {};
  const [cpu, topology] = [settings.map("cpu-manager-policy-options"), settings.map("topology-manager-policy-options")];
  const isOnIn = (options: Readonly<Record<string, string>>, name: string): boolean => isTrue(options[name]);
  const managers: ManagerOptions = {
    cpuPolicy: cpuPolicy as ManagerOptions["cpuPolicy"],
    cpuOptions: {
      wholeCoresOnly: isOnIn(cpu, "full-pcpus-only"),
      acrossNuma: isOnIn(cpu, "distribute-cpus-across-numa"),
      acrossCores: isOnIn(cpu, "distribute-cpus-across-cores"),
      bySocket: isOnIn(cpu, "align-by-socket"),
      strictReservation: isOnIn(cpu, "strict-cpu-reservation"),
      byCache: isOnIn(cpu, "prefer-align-cpus-by-uncorecache"),
    },
    reservedCpus: coresOf(text("reserved-cpus")),
    reconcileMicros: number("cpu-manager-reconcile-period"),
    exclusiveWithoutQuota: isOn(settings.gates(), "DisableCPUQuotaWithExclusiveCPUs"),
    memoryPolicy: memoryPolicy as ManagerOptions["memoryPolicy"],
    reservedMemory: settings.reservedMemory(),
    topologyPolicy: topologyPolicy as ManagerOptions["topologyPolicy"],
    topologyScope: text("topology-manager-scope") === "pod" ? "pod" : "container",
    prefersClosest: isOnIn(topology, "prefer-closest-numa-nodes"),
    numaNodesMax: Number(topology["max-allowable-numa-nodes"] ?? "8"),
  };
  return { managers };
}

function nodeOptionsOf(settings: AgentSettings, { addresses }: AgentHost): NodeOptions {
  const { text, flag, number } = settings;
  const cores = coresOf(text("reserved-cpus")).length;
  const [system, service] = [settings.map("system-reserved"), settings.map("svc-reserved")];
  const { cpu: _, ...serviceRest } = service;
  const ips = nodeIpsIn(text("node-ip")).filter((ip) => !["::", "0.0.0.0"].includes(ip));
  return {
    register: flag("register-node"),
    registerSchedulable: flag("register-schedulable"),
    labels: settings.map("node-labels"),
    taints: settings.taints(),
    nodeIps: ips.length > 0 ? ips : addresses,
    providerId: text("provider-id"),
    cloudProvider: text("cloud-provider") === "external" ? "external" : "",
    statusUpdateMicros: number("node-status-update-frequency"),
    statusReportMicros: number("nodeStatusReportFrequency"),
    leaseDurationSeconds: number("nodeLeaseDurationSeconds"),
    statusImagesMax: number("node-status-max-images"),
    podsMax: number("max-pods"),
    podsPerCore: number("pods-per-core"),
    // Reserved cores take the place of what both lists say of cpu.
    systemReserved: cores === 0 ? system : { ...system, cpu: String(cores) },
    serviceReserved: cores === 0 ? service : serviceRest,
    enforceNodeAllocatable: settings.texts("enforce-node-allocatable"),
    allocatableIgnoresEviction: flag("experimental-allocatable-ignore-eviction"),
    servingPort: number("port"),
    controllerAttachDetach: flag("enable-controller-attach-detach"),
  };
}

/** Of a list with ranges, which has been checked. */
function coresOf(text: string): readonly number[] {
  const read = parseCpuList(text);
  return "cpus" in read ? read.cpus : [];
}

function bytesOf(text: string): number {
  const quantity = parseQuantity(text);
  return "error" in quantity ? 0 : Number(quantityAt(quantity, 0));
}
