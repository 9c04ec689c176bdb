/** From an agent's settings, as flags and files have them, to what its parts are told. */
import { parseQuantity, quantityAt } from "../../wire/quantity.ts";
import { evictionSettingsOf } from "../configuration/agent/eviction-settings.ts";
import type { AgentSettings } from "../configuration/agent/settings.ts";
import type { AccessSettings } from "./listener/access.ts";
import type { AgentOptions, NodeOptions } from "./ports.ts";

/** What the machine is, as far as no flag says it. */
export interface AgentHost {
  readonly hostname: string;
  /** Of its network, where --node-ip does not choose. */
  readonly addresses: readonly string[];
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
      clusterDns: texts("cluster-dns"),
      clusterDomain: text("cluster-domain"),
      rootDir: text("root-dir"),
      logsDir: text("podLogsDir"),
      allowedUnsafeSysctls: texts("allowed-unsafe-sysctls"),
      podCidr: text("pod-cidr"),
      kernel: {
        cpuQuota: flag("cpu-cfs-quota"),
        cpuQuotaPeriodMicros: number("cpu-cfs-quota-period"),
        seccompDefault: flag("seccomp-default"),
        cgroupsPerQos: flag("cgroups-per-qos"),
        cgroupRoot: text("cgroup-root").replace(/\/+$/, ""),
        cgroupDriver: text("cgroup-driver") === "systemd" ? "systemd" : "cgroupfs",
      },
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
  };
}

function nodeOptionsOf(settings: AgentSettings, { addresses }: AgentHost): NodeOptions {
  const { text, flag, number } = settings;
  const cores = coreCount(text("reserved-cpus"));
  const [system, service] = [settings.map("system-reserved"), settings.map("svc-reserved")];
  const { cpu: _, ...serviceRest } = service;
  const ips = text("node-ip")
    .split(",")
    .map((ip) => ip.trim())
    .filter((ip) => /^[\d.]+$|:/.test(ip) && !["::", "0.0.0.0"].includes(ip));
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
function coreCount(text: string): number {
  const cores = new Set<number>();
  for (const part of text.split(",").filter((each) => each !== "")) {
    const [first = 0, last = first] = part.split("-").map(Number);
    for (let core = first; core <= Math.min(last, first + coresMax); core++) cores.add(core);
  }
  return cores.size;
}

/** No machine has more. */
const coresMax = 100_000;

function bytesOf(text: string): number {
  const quantity = parseQuantity(text);
  return "error" in quantity ? 0 : Number(quantityAt(quantity, 0));
}
