/** Objects as controllers read them: what a server has validated and defaulted, in the few fields that matter here. */
import type { Taint as PlainTaint, Toleration } from "../../../wire/tolerations.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import type { Metadata } from "../../contract/objects.ts";

export type StoredMetadata = Metadata & { readonly name: string; readonly uid: string };

export interface Stored {
  readonly metadata: StoredMetadata;
}

/** `status` is `True`, `False` or `Unknown`. */
export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string | null;
  readonly lastUpdateTime?: string;
  readonly lastHeartbeatTime?: string | null;
  readonly lastProbeTime?: string | null;
  readonly observedGeneration?: number;
}

export interface Taint extends PlainTaint {
  readonly timeAdded?: string;
}

export interface ContainerPort {
  readonly name?: string;
  readonly containerPort: number;
  readonly hostPort?: number;
  readonly hostIP?: string;
  readonly protocol?: string;
}

export interface Container {
  readonly name: string;
  readonly image?: string;
  readonly restartPolicy?: string;
  readonly ports?: readonly ContainerPort[];
  readonly resources?: {
    readonly requests?: Readonly<Record<string, string>>;
    readonly limits?: Readonly<Record<string, string>>;
  };
}

export interface PodSpec {
  readonly nodeName?: string;
  readonly hostname?: string;
  readonly subdomain?: string;
  readonly hostNetwork?: boolean;
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly overhead?: Readonly<Record<string, string>>;
  readonly nodeSelector?: Readonly<Record<string, string>>;
  readonly affinity?: JsonObject;
  readonly tolerations?: readonly Toleration[];
  readonly topologySpreadConstraints?: readonly JsonObject[];
  readonly priority?: number;
  readonly preemptionPolicy?: string;
  readonly schedulerName?: string;
  readonly schedulingGates?: readonly JsonObject[];
  readonly restartPolicy?: string;
  readonly terminationGracePeriodSeconds?: number;
  readonly volumes?: readonly JsonObject[];
  readonly serviceAccountName?: string;
}

export interface ContainerStatus {
  readonly name: string;
  readonly ready?: boolean;
  readonly restartCount?: number;
  readonly state?: { readonly terminated?: { readonly exitCode: number; readonly finishedAt?: string | null } };
}

export interface PodStatus {
  readonly phase?: string;
  readonly reason?: string;
  readonly conditions?: readonly Condition[];
  readonly podIP?: string;
  readonly podIPs?: readonly { readonly ip: string }[];
  readonly startTime?: string;
  readonly nominatedNodeName?: string;
  readonly containerStatuses?: readonly ContainerStatus[];
  readonly initContainerStatuses?: readonly ContainerStatus[];
}

export interface Pod extends Stored {
  readonly spec: PodSpec;
  readonly status?: PodStatus;
}

export interface PodTemplate {
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
  };
  readonly spec: PodSpec;
}

export interface NodeObject extends Stored {
  readonly spec?: {
    readonly unschedulable?: boolean;
    readonly taints?: readonly Taint[];
    readonly providerID?: string;
    readonly podCIDR?: string;
  };
  readonly status?: {
    readonly allocatable?: Readonly<Record<string, string>>;
    readonly capacity?: Readonly<Record<string, string>>;
    readonly conditions?: readonly Condition[];
    readonly images?: readonly { readonly names?: readonly string[]; readonly sizeBytes?: number }[];
    readonly addresses?: readonly { readonly type: string; readonly address: string }[];
  };
}

export interface ReplicaStatus {
  readonly replicas?: number;
  readonly fullyLabeledReplicas?: number;
  readonly readyReplicas?: number;
  readonly availableReplicas?: number;
  readonly observedGeneration?: number;
  readonly conditions?: readonly Condition[];
}

export interface ReplicaSet extends Stored {
  readonly spec: {
    readonly replicas?: number;
    readonly minReadySeconds?: number;
    /** A LabelSelector; of a replication controller a plain map. */
    readonly selector?: JsonObject;
    readonly template: PodTemplate;
  };
  readonly status?: ReplicaStatus;
}

export interface Deployment extends Stored {
  readonly spec: {
    readonly replicas?: number;
    readonly minReadySeconds?: number;
    readonly paused?: boolean;
    readonly progressDeadlineSeconds?: number;
    readonly revisionHistoryLimit?: number;
    readonly selector: JsonObject;
    readonly strategy?: {
      readonly type?: string;
      readonly rollingUpdate?: { readonly maxSurge?: number | string; readonly maxUnavailable?: number | string };
    };
    readonly template: PodTemplate;
  };
  readonly status?: ReplicaStatus & {
    readonly updatedReplicas?: number;
    readonly unavailableReplicas?: number;
    readonly collisionCount?: number;
  };
}

export interface ControllerRevision extends Stored {
  readonly revision: number;
  readonly data?: Json;
}
