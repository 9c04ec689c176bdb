/**
 * What the two halves of an agent know of each other: the one that runs pods (`sources/`, `pods/`, `runtime/`) and the
 * one that answers for the node (`node/`, `eviction/`, `images/`). `agent.ts` puts them together. Shapes only.
 */
import type { Dialect } from "../../wire/dialect.ts";
import type { EvictionSettings } from "../../wire/eviction-thresholds.ts";
import type { JsonObject } from "../contract/http-message.ts";
import type { Micros, Process } from "../kernel/types.ts";
import type { CpuPolicyOptions } from "./resources/cpu-assignment.ts";
import type { TopologyPolicy } from "./resources/hints.ts";
import type { SystemGroup } from "./stats/system-groups.ts";

export interface ApiCall {
  readonly method: string;
  readonly path: string;
  /** Without `?`. */
  readonly query?: string;
  readonly body?: JsonObject;
  /** Of the body. Default `application/json`. */
  readonly contentType?: string;
  /** From now, the wait for the agent's own rate included. Default: a minute. */
  readonly deadlineMicros?: Micros;
}

export interface ApiAnswer {
  /** 0 when no answer came: whether anything happened is unknown. */
  readonly status: number;
  /** Undefined when the answer is no object. */
  readonly object: JsonObject | undefined;
}

/** A way to the API server with a rate of its own. `done` fires once, later than the call, unless the agent dies. */
export interface ApiCaller {
  call(request: ApiCall, done: (answer: ApiAnswer) => void): void;
}

/** Events about objects, through the correlator and the events' own rate. Nothing depends on them: what is refused is lost. */
export interface AgentEvents {
  /** About a pod, or with `container` about one of its containers (`spec.containers{name}`). */
  pod(
    pod: JsonObject,
    type: EventType,
    reason: string,
    message: string,
    more?: { readonly fieldPath?: string; readonly annotations?: Readonly<Record<string, string>> },
  ): void;
  /** About the agent's own node: in namespace `default`, with the node's name for its uid. */
  node(type: EventType, reason: string, message: string): void;
}

export type EventType = "Normal" | "Warning";

export type QosClass = "Guaranteed" | "Burstable" | "BestEffort";

/** A pod that the agent holds and that may still have something running. */
export interface ActivePod {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** As its source has it; shared with the watch cache, frozen. */
  readonly object: JsonObject;
  readonly qos: QosClass;
  /** Missing priority counts 0. */
  readonly priority: number;
  /** Static, mirror, or a priority of 2,000,000,000 or more: never evicted, and admitted under pressure. */
  readonly isCritical: boolean;
  /** What its containers request together, init containers and overhead as the scheduler counts them. */
  readonly requests: PodRequests;
  /** Its containers are being stopped. It is still a candidate for eviction. */
  readonly isTerminating: boolean;
}

export interface PodRequests {
  readonly milliCpu: number;
  readonly memoryBytes: number;
  readonly ephemeralStorageBytes: number;
  readonly pods: 1;
  /** Extended resources and huge pages by name, in whole units. */
  readonly others: Readonly<Record<string, number>>;
}

export interface ActivePods {
  /** Not fully terminated. Ordered by namespace and name; the same array until something changes. */
  active(): readonly ActivePod[];
  /** Whether the agent holds the pod, terminated ones too. */
  has(uid: string): boolean;
  /**
   * Stops a pod for good and gives it this end. `done` fires once: when nothing of it runs any more, or with `slow` after
   * the longer of 10 s and one and a half grace periods. A pod that is not held is done at once.
   */
  kill(uid: string, end: PodEnd, done: (outcome: "stopped" | "slow") => void): void;
  /** Nothing of it is left in the runtime: what an eviction waits for before the next look. */
  isCleanedUp(uid: string): boolean;
}

/**
 * The status that a killed pod gets: phase Failed with this reason and message, shown once nothing of it can be running.
 * Where its containers come to Succeeded by then, that is its end, without reason and message; so does the published
 * agent. The condition stays in either case.
 */
export interface PodEnd {
  readonly reason: string;
  readonly message: string;
  /** Seconds; may only shorten what is left. Floors at 1; the runtime is asked for at least 2. */
  readonly graceSeconds: number;
  /** A condition that the status gets, such as DisruptionTarget. */
  readonly condition?: { readonly type: string; readonly reason: string; readonly message: string };
}

/** Why a pod may not run here. The pod ends Failed, with `Pod was rejected: ` before the message. */
export interface Rejection {
  readonly reason: string;
  readonly message: string;
}

/** Dead containers and sandboxes. */
export interface ContainerGarbage {
  /** Removes every dead container that nobody needs, at once; what node-level reclaim asks for. */
  deleteUnused(done: () => void): void;
  /** References and ids of images that any container uses, running or dead, as of the last relist. */
  imagesInUse(): ReadonlySet<string>;
}

/** What the agent thinks of its container runtime, for the node's Ready condition. */
export interface RuntimeHealth {
  /** Empty: the runtime answers and is ready. Otherwise what is wrong, as the Ready condition's message has it. */
  errors(): readonly string[];
  /** Undefined: the runtime has its network. */
  networkError(): string | undefined;
  /** Of the last answer to Version; undefined before the first. */
  version(): { readonly name: string; readonly version: string } | undefined;
  /** Calls `listener` each time when one of the answers above has changed. */
  onChange(listener: () => void): void;
}

/** All that a part of the agent may touch. */
export interface AgentContext {
  readonly process: Process;
  readonly dialect: Dialect;
  readonly options: AgentOptions;
  /** Undefined in standalone mode. */
  readonly api: ApiCaller | undefined;
  /** Draws on no rate. Undefined in standalone mode. */
  readonly heartbeat: ApiCaller | undefined;
  readonly events: AgentEvents;
  readonly pods: ActivePods;
  readonly garbage: ContainerGarbage;
  readonly runtime: RuntimeHealth;
}

/** The half that answers for the node, as the half that runs pods sees it. */
export interface NodeSide {
  start(): void;
  /** As the API server has it, or in standalone mode as it would be registered; undefined before the first is known. */
  node(): JsonObject | undefined;
  /** Asked for each pod that comes, before all other admission. */
  admit(pod: ActivePod): Rejection | undefined;
  /** Pods were added, changed or have ended: the node's status may depend on it. */
  podsChanged?(): void;
}

/** What an agent is told: fields of its configuration file and flags, parsed and validated. */
export interface AgentOptions {
  /** Lower case. */
  readonly nodeName: string;
  /** As the machine calls itself: the node's address of type Hostname. */
  readonly hostname: string;
  readonly node: NodeOptions;
  readonly pods: PodOptions;
  readonly sources: SourceOptions;
  readonly client: ClientOptions;
  readonly eviction: EvictionSettings;
  /** How often thresholds are looked at. Default 10 s. */
  readonly evictionMonitoringMicros: Micros;
  /** Local-storage limits of pods and volumes are watched. Default true. */
  readonly localStorageCapacityIsolation: boolean;
  readonly images: ImageOptions;
  /** Processors and memory for single containers. Undefined: nobody gives any, and nothing is written down of it. */
  readonly managers?: ManagerOptions;
  /** Undefined: no flag asks for any. */
  readonly controlGroups?: ControlGroupOptions;
  /** Groups of programs beside pods, which the summary tells of. Default: none are known. */
  readonly systemGroups?: readonly SystemGroup[];
  /** The agent itself is put into it. */
  readonly ownGroup?: { readonly path: string; readonly processId: number };
}

/** Limits that are written into control groups of the machine. */
export interface ControlGroupOptions {
  /** So much of the memory that higher classes of service request is out of reach for lower ones. Undefined: not said. */
  readonly memoryPercent: number | undefined;
  /** Negative: as many as the node. */
  readonly podPidsMax: number;
  /** Empty: not told. */
  readonly systemReservedGroup: string;
  readonly serviceReservedGroup: string;
}

/** Of the managers of processors, of memory and of what lies close together. */
export interface ManagerOptions {
  readonly cpuPolicy: "none" | "static";
  readonly cpuOptions: CpuPolicyOptions;
  /** Kept for others: these, and not so many as are reserved. Ascending; empty: not told. */
  readonly reservedCpus: readonly number[];
  readonly reconcileMicros: Micros;
  /** Containers with processors of their own are held to no quota. */
  readonly exclusiveWithoutQuota: boolean;
  readonly memoryPolicy: "None" | "Static";
  /** Quantities by resource. */
  readonly reservedMemory: readonly { readonly numaNode: number; readonly limits: Readonly<Record<string, string>> }[];
  readonly topologyPolicy: TopologyPolicy;
  readonly topologyScope: "container" | "pod";
  readonly prefersClosest: boolean;
  readonly numaNodesMax: number;
}

export interface NodeOptions {
  readonly register: boolean;
  readonly registerSchedulable: boolean;
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly { readonly key: string; readonly value?: string; readonly effect: string }[];
  /** Empty: not told. */
  readonly nodeIps: readonly string[];
  readonly providerId: string;
  /** `external`: registered with the taint that an external provider removes. */
  readonly cloudProvider: "" | "external";
  readonly statusUpdateMicros: Micros;
  readonly statusReportMicros: Micros;
  readonly leaseDurationSeconds: number;
  /** -1: no cap. */
  readonly statusImagesMax: number;
  readonly podsMax: number;
  /** 0: not bounded by cores. */
  readonly podsPerCore: number;
  /** Quantities by resource. */
  readonly systemReserved: Readonly<Record<string, string>>;
  readonly serviceReserved: Readonly<Record<string, string>>;
  readonly enforceNodeAllocatable: readonly string[];
  /** What pods can be given is not less by the hard eviction thresholds. */
  readonly allocatableIgnoresEviction: boolean;
  /** Devices that the machine has, in whole units by resource, such as `example.com/gpu`. Default: none. */
  readonly extendedResources?: Readonly<Record<string, string>>;
  readonly servingPort: number;
  readonly controllerAttachDetach: boolean;
}

export interface PodOptions {
  readonly syncFrequencyMicros: Micros;
  readonly runtimeRequestTimeoutMicros: Micros;
  readonly serializeImagePulls: boolean;
  /** Undefined: no bound, when pulls are not serialized. */
  readonly parallelImagePullsMax: number | undefined;
  /** Per second; 0 is unlimited. */
  readonly registryQps: number;
  readonly registryBurst: number;
  readonly deadContainersPerContainerMax: number;
  /** Negative: no bound. */
  readonly deadContainersMax: number;
  readonly deadContainerAgeMicrosMin: Micros;
  readonly logFilesMax: number;
  /** Negative: never rotated. */
  readonly logBytesMax: number;
  /** Between looks at logs, and how many are rotated side by side. */
  readonly logCheckMicros: Micros;
  readonly logWorkersMax: number;
  /** Between restarts of a container that ends again and again. Default: 10 s, twice as long each time, 300 s at most. */
  readonly restarts?: { readonly firstMicros: Micros; readonly mostMicros: Micros };
  readonly clusterDns: readonly string[];
  readonly clusterDomain: string;
  readonly rootDir: string;
  readonly logsDir: string;
  readonly allowedUnsafeSysctls: readonly string[];
  /** Addresses of pods where there is no server. Empty: the runtime's own. */
  readonly podCidr: string;
  /** Programs of others that mount volumes, each in a folder `vendor~driver`. */
  readonly volumePluginDir: string;
  readonly kernel: KernelOptions;
  /** Running pods can get other resources, and statuses tell what containers have. */
  readonly resizes: boolean;
  /** Statuses tell what containers have been given beside what they have. */
  readonly showsAllocated: boolean;
}

/** What the runtime is told that only a kernel can see to. */
export interface KernelOptions {
  /** Containers are held to their limits of CPU by quota. */
  readonly cpuQuota: boolean;
  readonly cpuQuotaPeriodMicros: Micros;
  /** Containers that ask for no profile have the runtime's own, and not none. */
  readonly seccompDefault: boolean;
  /** Each class of service and each pod has a control group, below `cgroupRoot`. */
  readonly cgroupsPerQos: boolean;
  /** Empty: the root. */
  readonly cgroupRoot: string;
  readonly cgroupDriver: "cgroupfs" | "systemd";
}

export interface SourceOptions {
  /** A file or a directory. Undefined: no such source. */
  readonly manifestPath: string | undefined;
  readonly fileCheckMicros: Micros;
  readonly manifestUrl: string | undefined;
  readonly manifestUrlHeaders: readonly (readonly [name: string, value: string])[];
  readonly httpCheckMicros: Micros;
}

/** Rates per second; each bucket starts full. */
export interface ClientOptions {
  readonly apiQps: number;
  readonly apiBurst: number;
  readonly eventQps: number;
  readonly eventBurst: number;
}

export interface ImageOptions {
  readonly highThresholdPercent: number;
  readonly lowThresholdPercent: number;
  readonly ageMicrosMin: Micros;
  /** 0: unused images have no greatest age. */
  readonly ageMicrosMax: Micros;
  /** Never collected. */
  readonly podInfraImage: string;
}
