/** What an agent does when nobody says otherwise. Source: document 3, Options; the facts where they differ. */
import type { AgentOptions } from "./ports.ts";

const second = 1_000_000;

export function defaultAgentOptions(nodeName: string): AgentOptions {
  return {
    nodeName,
    hostname: nodeName,
    node: {
      register: true,
      registerSchedulable: true,
      labels: {},
      taints: [],
      nodeIps: [],
      providerId: "",
      cloudProvider: "",
      statusUpdateMicros: 10 * second,
      statusReportMicros: 300 * second,
      leaseDurationSeconds: 40,
      statusImagesMax: 50,
      podsMax: 110,
      podsPerCore: 0,
      systemReserved: {},
      serviceReserved: {},
      enforceNodeAllocatable: ["pods"],
      servingPort: 10_250,
      allocatableIgnoresEviction: false,
      controllerAttachDetach: true,
    },
    pods: {
      syncFrequencyMicros: 60 * second,
      runtimeRequestTimeoutMicros: 120 * second,
      serializeImagePulls: true,
      parallelImagePullsMax: undefined,
      registryQps: 5,
      registryBurst: 10,
      deadContainersPerContainerMax: 1,
      deadContainersMax: -1,
      deadContainerAgeMicrosMin: 0,
      logFilesMax: 5,
      logBytesMax: 10 * 1024 * 1024,
      clusterDns: [],
      clusterDomain: "",
      rootDir: "/var/lib/nodeagent",
      logsDir: "/var/log/pods",
      allowedUnsafeSysctls: [],
    },
    sources: {
      manifestPath: undefined,
      fileCheckMicros: 20 * second,
      manifestUrl: undefined,
      manifestUrlHeaders: [],
      httpCheckMicros: 20 * second,
    },
    client: { apiQps: 50, apiBurst: 100, eventQps: 50, eventBurst: 100 },
    eviction: {},
    evictionMonitoringMicros: 10 * second,
    localStorageCapacityIsolation: true,
    images: {
      highThresholdPercent: 85,
      lowThresholdPercent: 80,
      ageMicrosMin: 120 * second,
      ageMicrosMax: 0,
      podInfraImage: "",
    },
  };
}
