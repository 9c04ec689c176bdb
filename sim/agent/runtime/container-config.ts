/**
 * What the runtime is told of a sandbox and of a container. Source: the recorded RunPodSandbox and CreateContainer
 * (labels, annotations, paths, resources), and the published agent's rules for shares, quotas and scores.
 */
import type {
  ContainerConfig,
  KeyValue,
  LinuxContainerResources,
  Mount,
  NamespaceOption,
  PodSandboxConfig,
} from "../../../wire/cri-messages.ts";
import { parseQuantity, quantityAt } from "../../../wire/quantity.ts";
import type { KernelOptions, QosClass } from "../ports.ts";
import { type Container, containersOf, isSidecar, type Pod } from "../pods/pod-types.ts";
import { type DnsFacts, podDns } from "./pod-dns.ts";
import type { ProcessWords, Values } from "./process-words.ts";
import { annotations, labels } from "./runtime-pod.ts";

export interface NodeFacts extends DnsFacts {
  readonly rootDir: string;
  readonly logsDir: string;
  readonly volumePluginDir: string;
  readonly memoryCapacityBytes: number;
  readonly kernel: KernelOptions;
}

/**
 * Paths live as long as their pods: joined, each is one text; a template would leave a tree of its pieces, which takes twice the
 * memory and is gone through at each collection.
 */
export const podDirectory = (node: NodeFacts, uid: string): string => [node.rootDir, "pods", uid].join("/");

function logDirectory({ logsDir }: NodeFacts, { metadata: { name, namespace, uid } }: Pod): string {
  return [logsDir, [namespace, name, uid].join("_")].join("/");
}

const logPath = (container: string, restartCount: number): string => `${container}/${restartCount}.log`;

/** `seen`: annotations that say where the agent has the pod from. */
export function sandboxConfig(
  node: NodeFacts,
  pod: Pod,
  qos: QosClass,
  attempt: number,
  seen: Readonly<Record<string, string>>,
): PodSandboxConfig {
  const { name, namespace, uid } = pod.metadata;
  const milliCpu = requestTotal(pod, "cpu", -3);
  const ports = pod.spec.hostNetwork === true ? [] : pod.spec.containers.flatMap(({ ports: each = [] }) => each);
  const sysctls = sysctlsOf(pod);
  return {
    metadata: attempt === 0 ? { name, uid, namespace } : { name, uid, namespace, attempt },
    ...(pod.spec.hostNetwork === true ? {} : { hostname: pod.spec.hostname ?? name.slice(0, 63) }),
    logDirectory: logDirectory(node, pod),
    dnsConfig: podDns(node, pod),
    ...(ports.length === 0
      ? {}
      : {
          portMappings: ports.map(({ protocol = "TCP", containerPort, hostPort, hostIP }) => ({
            protocol,
            containerPort,
            ...(hostPort === undefined ? {} : { hostPort }),
            ...(hostIP === undefined ? {} : { hostIp: hostIP }),
          })),
        }),
    labels: {
      ...pod.metadata.labels,
      [labels.podUid]: uid,
      [labels.podNamespace]: namespace,
      [labels.podName]: name,
    },
    annotations: { ...pod.metadata.annotations, ...seen },
    linux: {
      ...(node.kernel.cgroupsPerQos ? { cgroupParent: cgroupParent(node.kernel, qos, uid) } : {}),
      securityContext: { namespaceOptions: namespaceOptions(pod), seccomp: {} },
      ...(sysctls === undefined ? {} : { sysctls }),
      overhead: {},
      resources: { ...periodOf(node.kernel), cpuShares: shares(milliCpu) },
    },
  };
}

export interface ContainerParts {
  readonly restartCount: number;
  readonly imageRef: string;
  readonly hash: string;
  readonly envs: Iterable<KeyValue>;
  readonly values: Values;
  readonly mounts: readonly Mount[];
  /** Counts what its process is given. */
  readonly words: ProcessWords;
  /** Processors and memory that it may use; left out: any. */
  readonly places?: ContainerPlaces;
}

export interface ContainerPlaces extends Pick<LinuxContainerResources, "cpusetCpus" | "cpusetMems"> {
  /** Its processors are its own: no quota is needed. */
  readonly isFreeOfQuota: boolean;
}

export function containerConfig(
  node: NodeFacts,
  pod: Pod,
  container: Container,
  qos: QosClass,
  { restartCount, imageRef, hash, envs, values, mounts, words, places }: ContainerParts,
): ContainerConfig {
  const { name, namespace, uid, deletionGracePeriodSeconds } = pod.metadata;
  const { terminationGracePeriodSeconds } = pod.spec;
  const security = container.securityContext ?? {};
  const runAsUser = (security["runAsUser"] ?? pod.spec.securityContext?.["runAsUser"]) as number | undefined;
  return {
    metadata: restartCount === 0 ? { name: container.name } : { name: container.name, attempt: restartCount },
    image: { image: imageRef, userSpecifiedImage: container.image },
    command: (container.command ?? []).map((word) => words.expand(word, values)),
    args: (container.args ?? []).map((word) => words.expand(word, values)),
    ...(container.workingDir === undefined ? {} : { workingDir: container.workingDir }),
    envs,
    mounts,
    labels: {
      [labels.containerName]: container.name,
      [labels.podUid]: uid,
      [labels.podNamespace]: namespace,
      [labels.podName]: name,
    },
    annotations: {
      [annotations.hash]: hash,
      [annotations.restartCount]: String(restartCount),
      [annotations.terminationMessagePath]: container.terminationMessagePath ?? "/dev/termination-log",
      [annotations.terminationMessagePolicy]: container.terminationMessagePolicy ?? "File",
      ...(terminationGracePeriodSeconds === undefined
        ? {}
        : { [annotations.podTerminationGracePeriod]: String(terminationGracePeriodSeconds) }),
      ...(deletionGracePeriodSeconds === undefined
        ? {}
        : { [annotations.podDeletionGracePeriod]: String(deletionGracePeriodSeconds) }),
      ...(container.lifecycle?.preStop === undefined
        ? {}
        : { [annotations.preStopHandler]: JSON.stringify(container.lifecycle.preStop) }),
      ...(container.ports === undefined || container.ports.length === 0
        ? {}
        : { [annotations.ports]: JSON.stringify(container.ports) }),
    },
    logPath: logPath(container.name, restartCount),
    ...(container.stdin === true ? { stdin: true } : {}),
    ...(container.stdinOnce === true ? { stdinOnce: true } : {}),
    ...(container.tty === true ? { tty: true } : {}),
    linux: {
      resources: linuxResources(node, pod, container, qos, places),
      securityContext: {
        namespaceOptions: namespaceOptions(pod),
        ...(runAsUser === undefined ? {} : { runAsUser: { value: runAsUser } }),
        ...(security["privileged"] === true ? { privileged: true } : {}),
        ...(security["readOnlyRootFilesystem"] === true ? { readonlyRootfs: true } : {}),
        ...(security["allowPrivilegeEscalation"] === false ? { noNewPrivs: true } : {}),
        seccomp: { profileType: node.kernel.seccompDefault ? "RuntimeDefault" : "Unconfined" },
      },
    },
  };
}

function namespaceOptions({ spec }: Pod): NamespaceOption {
  return {
    ...(spec.hostNetwork === true ? { network: "NODE" as const } : {}),
    pid: spec.hostPID === true ? "NODE" : spec.shareProcessNamespace === true ? "POD" : "CONTAINER",
    ...(spec.hostIPC === true ? { ipc: "NODE" as const } : {}),
    usernsOptions: { mode: "NODE" },
  };
}

const periodOf = ({ cpuQuota, cpuQuotaPeriodMicros: cpuPeriod }: KernelOptions): { readonly cpuPeriod?: number } =>
  cpuQuota ? { cpuPeriod } : {};

export function linuxResources(
  node: NodeFacts,
  pod: Pod,
  container: Container,
  qos: QosClass,
  places: ContainerPlaces | undefined,
): LinuxContainerResources {
  const { requests = {}, limits = {} } = container.resources ?? {};
  const milliRequest = amount(requests["cpu"], -3) ?? amount(limits["cpu"], -3) ?? 0;
  const milliLimit = amount(limits["cpu"], -3);
  const memoryLimitInBytes = amount(limits["memory"], 0);
  const { cpuQuotaPeriodMicros: period } = node.kernel;
  const isHeld = node.kernel.cpuQuota && places?.isFreeOfQuota !== true;
  return {
    ...(isHeld ? periodOf(node.kernel) : {}),
    ...(milliLimit === undefined || !isHeld
      ? {}
      : { cpuQuota: Math.max(1000, Math.floor((milliLimit * period) / 1000)) }),
    cpuShares: shares(milliRequest),
    ...(memoryLimitInBytes === undefined ? {} : { memoryLimitInBytes }),
    oomScoreAdj: oomScore(node, pod, container, qos),
    hugepageLimits: [{ pageSize: "2MB" }, { pageSize: "1GB" }],
    ...(places?.cpusetCpus === undefined ? {} : { cpusetCpus: places.cpusetCpus }),
    ...(places?.cpusetMems === undefined ? {} : { cpusetMems: places.cpusetMems }),
  };
}

/** How willing the kernel is to kill it. Source: the facts, QoS and allocatable. */
function oomScore(node: NodeFacts, pod: Pod, container: Container, qos: QosClass): number {
  if (qos === "Guaranteed" || (pod.spec.priority ?? 0) >= 2_000_000_000) return -997;
  if (qos === "BestEffort") return 1000;
  const request = amount(container.resources?.requests?.["memory"], 0) ?? 0;
  const score = 1000 - Math.floor((1000 * request) / Math.max(node.memoryCapacityBytes, 1));
  return Math.min(999, Math.max(3, score));
}

const shares = (milliCpu: number): number => Math.max(2, Math.floor((milliCpu * 1024) / 1000));

/** Of the driver systemd a unit's name, which says the whole way by itself. */
export function cgroupParent({ cgroupRoot, cgroupDriver }: KernelOptions, qos: QosClass, uid: string): string {
  const tier = qos === "Guaranteed" ? [] : [qos.toLowerCase()];
  if (cgroupDriver === "cgroupfs") return [cgroupRoot, "kubepods", ...tier, `pod${uid}`].join("/");
  const root = cgroupRoot.split("/").filter((part) => part !== "");
  return `${[...root, "kubepods", ...tier, `pod${uid.replaceAll("-", "_")}`].join("-")}.slice`;
}

function sysctlsOf({ spec }: Pod): Readonly<Record<string, string>> | undefined {
  const listed = spec.securityContext?.["sysctls"] as readonly { name: string; value: string }[] | undefined;
  return listed === undefined ? undefined : Object.fromEntries(listed.map(({ name, value }) => [name, value]));
}

/** In units of `10^scale`, rounded up; undefined for what is not there or is no quantity. */
export function amount(text: string | number | undefined, scale: number): number | undefined {
  if (text === undefined) return undefined;
  const quantity = parseQuantity(String(text));
  return "error" in quantity ? undefined : Number(quantityAt(quantity, scale));
}

/** What a pod requests: its containers with its sidecars, or its greatest moment of initialization, and its overhead. */
export function requestTotal(pod: Pod, resource: string, scale: number): number {
  const of = ({ resources }: Container): number =>
    amount(resources?.requests?.[resource] ?? resources?.limits?.[resource], scale) ?? 0;
  let sidecars = 0;
  let peak = 0;
  for (const init of pod.spec.initContainers ?? []) {
    if (isSidecar(init)) sidecars += of(init);
    peak = Math.max(peak, sidecars + (isSidecar(init) ? 0 : of(init)));
  }
  const regular = pod.spec.containers.reduce((sum, container) => sum + of(container), 0) + sidecars;
  return Math.max(regular, peak) + (amount(pod.spec.overhead?.[resource], scale) ?? 0);
}

/** Names of all resources that a pod requests. */
export function requestedResources({ spec }: Pod): ReadonlySet<string> {
  const names = new Set(Object.keys(spec.overhead ?? {}));
  for (const { resources } of containersOf(spec)) {
    for (const name of Object.keys(resources?.requests ?? {})) names.add(name);
    for (const name of Object.keys(resources?.limits ?? {})) names.add(name);
  }
  return names;
}
