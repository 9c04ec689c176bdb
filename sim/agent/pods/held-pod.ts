/** A pod that the agent holds: what its source says, where its worker is, what the runtime shows and what was told. */
import type { JsonObject } from "../../contract/http-message.ts";
import type { Cancel, Micros } from "../../kernel/types.ts";
import { qosClass } from "../../kinds/core/pods/qos.ts";
import type { ActivePod, PodEnd, PodRequests, QosClass } from "../ports.ts";
import { requestedResources, requestTotal } from "../runtime/container-config.ts";
import { emptyPod, type RuntimePod } from "../runtime/runtime-pod.ts";
import type { StartReason } from "./container-statuses.ts";
import type { MadeVolumes } from "../runtime/volumes.ts";
import { type Allocation, type Resources, resourcesBefore, withAllocation } from "./allocation.ts";
import { type Pod, podOf, type PodStatus } from "./pod-types.ts";

export type PodSource = "api" | "file" | "http";

/** What a finished sync saw; the same again needs no other. */
export interface Steady {
  readonly object: JsonObject;
  readonly runtimePod: RuntimePod;
  readonly probeVersion: number;
}

/** A probe of one of its containers, and what it has found. */
export interface HeldProbe {
  readonly kind: ProbeKind;
  /** Of the container. */
  readonly name: string;
  /** Of the container that the result is about; empty: none yet. */
  readonly containerId: string;
  /** Undefined: nothing is known yet. */
  readonly result: boolean | undefined;
  trigger(): void;
  stop(): void;
}

/** Volumes of one pod. */
export interface Mounting {
  isDone: boolean;
  /** An exception has ended it before it was done: it is begun anew with the next sync. */
  isBroken: boolean;
  whenDone: (() => void) | undefined;
  /** Those that follow objects. */
  readonly made: MadeVolumes;
  /** Of which pod they were made. */
  object: JsonObject;
  /** Something that they were made of is no longer as it was. */
  isStale: boolean;
  isRemaking: boolean;
  /** When they are to be made anew; Infinity: nothing says so. */
  dueMicros: Micros;
  cancelTask: Cancel;
  cancelMinding: readonly Cancel[];
}

export type ProbeKind = "startup" | "readiness" | "liveness";

const criticalPriority = 2_000_000_000;

export class HeldPod implements ActivePod {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  readonly source: PodSource;
  /** When the agent first saw it. */
  readonly seenMicros: Micros;
  /** With the resources that it has been given. */
  object: JsonObject;
  /** As its source has it, where that asks for other resources than it has been given. */
  wanted: JsonObject | undefined;
  /** What running containers have, where it is not yet what they have been given. */
  actuated: Map<string, Resources> | undefined;
  /** Why what is wanted is not given. */
  resizeRefusal: { readonly reason: string; readonly message: string } | undefined;
  /** Why running containers could not get what they have been given. */
  resizeError: string | undefined;
  qos: QosClass = "BestEffort";
  priority = 0;
  requests: PodRequests = { milliCpu: 0, memoryBytes: 0, ephemeralStorageBytes: 0, pods: 1, others: {} };

  // The worker's.
  state: "syncing" | "terminating" | "terminated" = "syncing";
  /** Whether it is known that the pod may run here; a rejected pod never starts. */
  isRejected = false;
  /** It has been let in or refused. */
  isTaken = false;
  /** Others are being stopped so that it can run. */
  awaitsRoom = false;
  running: Cancel | undefined;
  isWaiting = false;
  hasPending = false;
  isFinished = false;
  /** The source has it no more. */
  isGone = false;
  lastSyncMicros: Micros = -1;
  dueMicros: Micros = Infinity;
  /** Seconds; 0: nobody has asked for its end. */
  graceSeconds = 0;
  isEvicted = false;
  ends: PodEnd[] | undefined;
  whenStopped: (() => void)[] | undefined;
  steady: Steady | undefined;
  /** Its volumes; undefined before the first sync, and where it has none. */
  mounting: Mounting | undefined;

  // The runtime's.
  runtimePod: RuntimePod;
  reasons: Map<string, StartReason> | undefined;
  probes: HeldProbe[] | undefined;
  probeVersion = 0;

  // What was told.
  status: PodStatus | undefined;
  statusVersion = 0;
  pushedVersion = 0;
  isPushing = false;
  /** Of the API object, as the server last answered. */
  pushed: JsonObject | undefined;
  /** Of a static pod: its image at the API server. */
  mirror: JsonObject | undefined;

  constructor(object: JsonObject, source: PodSource, nowMicros: Micros) {
    const { uid, namespace, name } = podOf(object).metadata;
    this.uid = uid;
    this.namespace = namespace;
    this.name = name;
    this.source = source;
    this.seenMicros = nowMicros;
    this.object = object;
    this.runtimePod = emptyPod(uid, name, namespace, -1);
    this.adopt(object);
  }

  get pod(): Pod {
    return podOf(this.object);
  }

  get isStatic(): boolean {
    return this.source !== "api";
  }

  get isTerminating(): boolean {
    return this.state !== "syncing" || this.graceSeconds > 0;
  }

  get isCritical(): boolean {
    return this.isStatic || this.priority >= criticalPriority;
  }

  /** `name_namespace`: what mirrors and static pods are known by. */
  get fullName(): string {
    return `${this.name}_${this.namespace}`;
  }

  /** What the source says. */
  get asked(): JsonObject {
    return this.wanted ?? this.object;
  }

  /** Takes over what the source says now, but for resources: other ones than it has are only wanted. */
  adopt(object: JsonObject): void {
    const pod = podOf(object);
    if (this.qosKnown && podOf(this.asked).spec === pod.spec) {
      if (this.wanted === undefined) this.object = object;
      else this.hold(object, resourcesBefore(this.pod, pod));
      return;
    }
    if (this.qosKnown) this.hold(object, resourcesBefore(this.pod, pod));
    else this.object = object;
    this.qosKnown = true;
    this.qos = pod.status?.qosClass ?? qosClass(pod.spec as unknown as JsonObject);
    this.priority = pod.spec.priority ?? 0;
    this.requests = requestsOf(this.pod);
  }

  /** It has these resources, whatever its source asks for. */
  hold(object: JsonObject, given: Allocation): void {
    this.wanted = given.size === 0 ? undefined : object;
    this.object = withAllocation(object, given);
    if (this.wanted === undefined) this.resizeRefusal = undefined;
    this.requests = requestsOf(this.pod);
  }

  /** It is given what it wants. What it had until now, by container. */
  take(): Allocation {
    const { wanted, pod } = this;
    if (wanted === undefined) return new Map();
    const before = resourcesBefore(pod, podOf(wanted));
    this.hold(wanted, new Map());
    this.resizeError = undefined;
    return before;
  }

  /** As it would be with what it wants. */
  get asWanted(): ActivePod {
    const { uid, namespace, name, qos, priority, isCritical, isTerminating, asked } = this;
    const requests = requestsOf(podOf(asked));
    return { uid, namespace, name, object: asked, qos, priority, isCritical, isTerminating, requests };
  }

  private qosKnown = false;
}

const standard = new Set(["cpu", "memory", "ephemeral-storage"]);
const noOthers: Readonly<Record<string, number>> = Object.freeze({});

function requestsOf(pod: Pod): PodRequests {
  const others = [...requestedResources(pod)].filter((name) => !standard.has(name));
  return {
    milliCpu: requestTotal(pod, "cpu", -3),
    memoryBytes: requestTotal(pod, "memory", 0),
    ephemeralStorageBytes: requestTotal(pod, "ephemeral-storage", 0),
    pods: 1,
    others:
      others.length === 0 ? noOthers : Object.fromEntries(others.map((name) => [name, requestTotal(pod, name, 0)])),
  };
}
