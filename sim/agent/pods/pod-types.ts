/** A pod as the agent reads it: views on shared, frozen objects. Only what the agent reads is named. */
import type { Toleration } from "../../../wire/tolerations.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { Metadata } from "../../contract/objects.ts";
import { named } from "../runtime/named.ts";

export interface Pod {
  readonly metadata: Metadata & { readonly name: string; readonly namespace: string; readonly uid: string };
  readonly spec: PodSpec;
  readonly status?: PodStatus;
}

export interface PodSpec {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly ephemeralContainers?: readonly Container[];
  readonly restartPolicy?: "Always" | "OnFailure" | "Never";
  readonly terminationGracePeriodSeconds?: number;
  readonly activeDeadlineSeconds?: number;
  readonly nodeName?: string;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly affinity?: JsonObject;
  readonly tolerations?: readonly Toleration[];
  readonly hostNetwork?: boolean;
  readonly hostPID?: boolean;
  readonly hostIPC?: boolean;
  readonly shareProcessNamespace?: boolean;
  readonly hostname?: string;
  readonly dnsPolicy?: string;
  readonly dnsConfig?: {
    readonly nameservers?: readonly string[];
    readonly searches?: readonly string[];
    readonly options?: readonly { readonly name: string; readonly value?: string }[];
  };
  readonly volumes?: readonly JsonObject[];
  readonly priority?: number;
  readonly overhead?: Readonly<Record<string, string>>;
  readonly readinessGates?: readonly { readonly conditionType: string }[];
  readonly securityContext?: JsonObject;
  readonly runtimeClassName?: string;
  readonly enableServiceLinks?: boolean;
  readonly serviceAccountName?: string;
  readonly imagePullSecrets?: readonly { readonly name?: string }[];
  readonly os?: { readonly name: string };
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly imagePullPolicy?: "Always" | "IfNotPresent" | "Never";
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly workingDir?: string;
  readonly env?: readonly EnvVar[];
  readonly envFrom?: readonly JsonObject[];
  readonly ports?: readonly ContainerPort[];
  readonly resources?: {
    readonly requests?: Readonly<Record<string, string>>;
    readonly limits?: Readonly<Record<string, string>>;
  };
  /** By resource: whether a container of which it changes is started anew. */
  readonly resizePolicy?: readonly { readonly resourceName: string; readonly restartPolicy: string }[];
  readonly restartPolicy?: "Always";
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly startupProbe?: Probe;
  readonly lifecycle?: { readonly postStart?: ProbeAction; readonly preStop?: ProbeAction };
  readonly volumeMounts?: readonly VolumeMount[];
  readonly securityContext?: JsonObject;
  readonly terminationMessagePath?: string;
  readonly terminationMessagePolicy?: string;
  readonly stdin?: boolean;
  readonly stdinOnce?: boolean;
  readonly tty?: boolean;
}

export interface ContainerPort {
  readonly name?: string;
  readonly containerPort: number;
  readonly hostPort?: number;
  readonly hostIP?: string;
  readonly protocol?: "TCP" | "UDP" | "SCTP";
}

export interface EnvVar {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: JsonObject;
}

export interface VolumeMount {
  readonly name: string;
  readonly mountPath: string;
  readonly subPath?: string;
  readonly subPathExpr?: string;
  readonly readOnly?: boolean;
  readonly recursiveReadOnly?: "Disabled" | "IfPossible" | "Enabled";
}

/** What a probe or a hook does. */
export interface ProbeAction {
  readonly exec?: { readonly command?: readonly string[] };
  readonly httpGet?: {
    readonly path?: string;
    readonly port: number | string;
    readonly host?: string;
    readonly scheme?: string;
    readonly httpHeaders?: readonly { readonly name: string; readonly value: string }[];
  };
  readonly tcpSocket?: { readonly port: number | string; readonly host?: string };
  readonly grpc?: { readonly port: number; readonly service?: string };
  readonly sleep?: { readonly seconds: number };
}

export interface Probe extends ProbeAction {
  readonly initialDelaySeconds?: number;
  readonly timeoutSeconds?: number;
  readonly periodSeconds?: number;
  readonly successThreshold?: number;
  readonly failureThreshold?: number;
  readonly terminationGracePeriodSeconds?: number;
}

export interface PodStatus {
  readonly phase?: Phase;
  readonly reason?: string;
  readonly message?: string;
  readonly conditions?: readonly Condition[];
  readonly hostIP?: string;
  readonly hostIPs?: readonly { readonly ip: string }[];
  readonly podIP?: string;
  readonly podIPs?: readonly { readonly ip: string }[];
  readonly startTime?: string;
  readonly initContainerStatuses?: readonly ContainerStatus[];
  readonly containerStatuses?: readonly ContainerStatus[];
  readonly ephemeralContainerStatuses?: readonly ContainerStatus[];
  readonly qosClass?: "Guaranteed" | "Burstable" | "BestEffort";
}

export type Phase = "Pending" | "Running" | "Succeeded" | "Failed" | "Unknown";

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastProbeTime?: string | null;
  readonly lastTransitionTime?: string | null;
}

export interface ContainerStatus {
  readonly name: string;
  readonly state: ContainerStateStatus;
  readonly lastState: ContainerStateStatus;
  readonly ready: boolean;
  readonly restartCount: number;
  readonly image: string;
  readonly imageID: string;
  readonly containerID?: string;
  readonly started?: boolean;
  /** What it has been given: of one that runs, what it really has. */
  readonly resources?: Container["resources"];
  readonly allocatedResources?: Readonly<Record<string, string>>;
  readonly volumeMounts?: readonly VolumeMountStatus[];
}

export interface VolumeMountStatus {
  readonly name: string;
  readonly mountPath: string;
  readonly readOnly?: boolean;
  readonly recursiveReadOnly?: string;
}

/** One of the three, or none. */
export interface ContainerStateStatus {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly running?: { readonly startedAt: string };
  readonly terminated?: Terminated;
}

export interface Terminated {
  readonly exitCode: number;
  readonly reason?: string;
  readonly message?: string;
  readonly startedAt?: string | null;
  readonly finishedAt?: string | null;
  readonly containerID?: string;
}

export const podOf = (object: JsonObject): Pod => object as unknown as Pod;

/** `name_namespace(uid)`, as messages name a pod. */
export const podWords = ({ metadata: { name, namespace, uid } }: Pod): string => `${name}_${namespace}(${uid})`;

export const isTerminalPhase = (phase: string | undefined): boolean => phase === "Succeeded" || phase === "Failed";

/** An init container that runs beside the others. */
export const isSidecar = ({ restartPolicy }: Container): boolean => restartPolicy === "Always";

export const restartPolicyOf = ({ spec: { restartPolicy } }: Pod): "Always" | "OnFailure" | "Never" =>
  restartPolicy ?? "Always";

export const containerOf = (
  { initContainers, containers, ephemeralContainers }: PodSpec,
  name: string,
): Container | undefined => named(initContainers, name) ?? named(containers, name) ?? named(ephemeralContainers, name);

/** Init, regular and ephemeral containers, in the order in which they start. */
export function containersOf({
  initContainers = [],
  containers,
  ephemeralContainers = [],
}: PodSpec): readonly Container[] {
  return [...initContainers, ...containers, ...ephemeralContainers];
}
