/**
 * Keeps as many pods of a template as a ReplicaSet or a ReplicationController wants: takes on what its selector
 * chooses, makes what is missing, deletes what is too much, and says in the status what there is.
 * Source: the published replica set controller, which is also the replication controllers'.
 */
import { formatTime } from "../../../wire/time.ts";
import type { LabelSelector } from "../../../wire/selectors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { OwnerReference } from "../../contract/objects.ts";
import { jsonEqual } from "../../objects/equality.ts";
import type { ControlAnswer } from "../../client/control-client.ts";
import { unixSeconds } from "../event-recorder.ts";
import type { Outcome, WorkQueue } from "../../client/work-queue.ts";
import { claim } from "../shared/claims.ts";
import {
  collectionOf,
  type ControlParts,
  isOfTerminatingNamespace,
  type KindRow,
  kindRow,
  messageOf,
  pathTo,
  podRow,
  queueOf,
} from "../shared/controller.ts";
import { Expectations } from "../shared/expectations.ts";
import { bodyOf, controllerOf, type Informer, keyOf } from "../shared/informers.ts";
import { isActive, isAvailable, isReady } from "../shared/pods.ts";
import { selectorOf } from "../shared/selecting.ts";
import { call, isGood, type Steps } from "../shared/steps.ts";
import type { Condition, Pod, ReplicaSet, ReplicaStatus } from "../shared/stored.ts";
import { PodControl } from "./pod-control.ts";
import { inOrderOfGoing } from "./scale-down-rank.ts";

/** What differs between the two kinds. */
export interface ReplicaKind {
  readonly row: KindRow;
  readonly component: string;
  readonly queue: string;
}

export const replicaSets: ReplicaKind = {
  row: kindRow("apps/v1", "ReplicaSet", "replicasets"),
  component: "replicaset-controller",
  queue: "replicaset",
};

export const replicationControllers: ReplicaKind = {
  row: kindRow("v1", "ReplicationController", "replicationcontrollers"),
  component: "replication-controller",
  queue: "replicationmanager",
};

/** The most pods that are made or deleted in one look at a set. */
const burstMax = 500;

export class ReplicaSetController {
  private readonly parts: ControlParts;
  private readonly kind: ReplicaKind;
  private readonly sets: Informer<ReplicaSet>;
  private readonly pods: Informer<Pod>;
  private readonly control: PodControl;
  private readonly expectations: Expectations;
  private readonly queue: WorkQueue<string>;

  constructor(parts: ControlParts, kind: ReplicaKind) {
    const { client, informers } = parts;
    this.parts = parts;
    this.kind = kind;
    this.sets = informers.of<ReplicaSet>(collectionOf(kind.row));
    this.pods = informers.of<Pod>(collectionOf(podRow));
    this.control = new PodControl(client, kind.component, kind.row);
    this.expectations = new Expectations(client.process.clock);
    this.queue = queueOf(parts, kind.queue, (key) => this.sync(key));
  }

  start(): void {
    this.sets.hear({
      changed: (set) => this.queue.add(keyOf(set)),
      gone: (set) => {
        this.expectations.forget(keyOf(set));
        this.queue.add(keyOf(set));
      },
    });
    this.pods.hear({ changed: (pod, before) => this.hearOfPod(pod, before), gone: (pod) => this.hearOfEnd(pod) });
  }

  private hearOfPod(pod: Pod, before: Pod | undefined): void {
    const set = this.ownerOf(pod);
    if (before === undefined && set !== undefined) this.expectations.created(keyOf(set));
    if (pod.metadata.deletionTimestamp !== undefined) {
      this.hearOfEnd(pod);
      return;
    }
    const former = before === undefined ? undefined : this.ownerOf(before);
    if (former !== undefined && former !== set) this.queue.add(keyOf(former));
    if (set !== undefined) {
      this.queue.add(keyOf(set));
      // It becomes available later, and nothing tells of that.
      const { minReadySeconds = 0 } = set.spec;
      const isFresh = before !== undefined && !isReady(before) && isReady(pod);
      if (isFresh && minReadySeconds > 0) this.queue.addAfter(keyOf(set), (minReadySeconds + 1) * 1_000_000);
    } else if (controllerOf(pod) === undefined) this.offer(pod);
  }

  private hearOfEnd(pod: Pod): void {
    const set = this.ownerOf(pod);
    if (set === undefined) return;
    this.expectations.deleted(keyOf(set), pod.metadata.uid);
    this.queue.add(keyOf(set));
  }

  /** An orphan, to every set that would have it. */
  private offer(pod: Pod): void {
    for (const set of this.sets.inNamespace(pod.metadata.namespace ?? "")) {
      const selector = this.selectorOf(set);
      if (!selector.empty && selector.matches(pod.metadata.labels)) this.queue.add(keyOf(set));
    }
  }

  private ownerOf(pod: Pod): ReplicaSet | undefined {
    const controller = controllerOf(pod);
    return controller === undefined ? undefined : this.named(controller, pod.metadata.namespace ?? "");
  }

  private named({ kind, name, uid }: OwnerReference, namespace: string): ReplicaSet | undefined {
    if (kind !== this.kind.row.kind) return undefined;
    const set = this.sets.get(`${namespace}/${name}`);
    return set?.metadata.uid === uid ? set : undefined;
  }

  private selectorOf({ spec }: ReplicaSet): LabelSelector {
    return selectorOf(spec.selector);
  }

  /** 1. Whose pods are whose. 2. As many as there should be. 3. The status. */
  private *sync(key: string): Steps<Outcome> {
    const set = this.sets.get(key);
    if (set === undefined) return "done";
    const needsLook = this.expectations.isMet(key);
    const { namespace = "", uid } = set.metadata;
    const candidates = [...this.pods.controlledBy(uid), ...this.pods.orphansIn(namespace)].filter(isActive);
    const selector = this.selectorOf(set);
    const pods = yield* claim({ owner: set, ownerRow: this.kind.row, candidates, row: podRow, selector });
    if (pods === undefined) return "again";
    let failure: Failure | undefined;
    if (needsLook && set.metadata.deletionTimestamp === undefined) failure = yield* this.manage(key, set, pods);
    const status = this.statusOf(set, pods, failure);
    const written = yield* this.writeStatus(set, status);
    if (failure !== undefined || !written) return "again";
    const { minReadySeconds = 0, replicas = 1 } = set.spec;
    if (minReadySeconds > 0 && status.readyReplicas === replicas && status.availableReplicas !== replicas) {
      this.queue.addAfter(key, minReadySeconds * 1_000_000);
    }
    return "done";
  }

  private *manage(key: string, set: ReplicaSet, pods: readonly Pod[]): Steps<Failure | undefined> {
    const difference = pods.length - (set.spec.replicas ?? 1);
    if (difference < 0) {
      const wanted = Math.min(-difference, burstMax);
      this.expectations.expect(key, wanted, []);
      const shapes = new Array<object>(wanted).fill({});
      const { count, refused } = yield* this.control.createMany(set, set.spec.template, shapes);
      this.expectations.created(key, wanted - count);
      if (refused === undefined || isOfTerminatingNamespace(refused)) return undefined;
      return { reason: "FailedCreate", answer: refused };
    }
    if (difference === 0) return undefined;
    const going = this.going(set, pods, Math.min(difference, burstMax));
    const uids = going.map(({ metadata }) => metadata.uid);
    this.expectations.expect(key, 0, uids);
    const refused = yield* this.control.deleteMany(set, going);
    if (refused === undefined) return undefined;
    for (const uid of uids) this.expectations.deleted(key, uid);
    return { reason: "FailedDelete", answer: refused };
  }

  private going(set: ReplicaSet, pods: readonly Pod[], count: number): readonly Pod[] {
    if (count >= pods.length) return pods;
    const crowds = new Map<string, number>();
    for (const pod of this.related(set)) {
      const { nodeName = "" } = pod.spec;
      if (isActive(pod)) crowds.set(nodeName, (crowds.get(nodeName) ?? 0) + 1);
    }
    const ordered = inOrderOfGoing(pods, {
      costAnnotation: `controller.${this.parts.dialect.labelSuffix}/pod-deletion-cost`,
      crowdOf: ({ spec }) => crowds.get(spec.nodeName ?? "") ?? 0,
      nowSeconds: this.nowSeconds(),
    });
    return ordered.slice(0, count);
  }

  /** Pods of all sets with the same owner. */
  private *related(set: ReplicaSet): Generator<Pod> {
    const owner = controllerOf(set);
    const sets = owner === undefined ? [set] : this.sets.controlledBy(owner.uid);
    for (const { metadata } of sets) yield* this.pods.controlledBy(metadata.uid);
  }

  private statusOf(set: ReplicaSet, pods: readonly Pod[], failure: Failure | undefined): ReplicaStatus {
    const { minReadySeconds = 0, template } = set.spec;
    const labels = Object.entries(template.metadata?.labels ?? {});
    const now = this.nowSeconds();
    let full = 0;
    let ready = 0;
    let available = 0;
    for (const pod of pods) {
      if (labels.every(([key, value]) => pod.metadata.labels?.[key] === value)) full++;
      if (!isReady(pod)) continue;
      ready++;
      if (isAvailable(pod, minReadySeconds, now)) available++;
    }
    const conditions = withFailure(set.status?.conditions ?? [], failure, formatTime(now));
    return {
      replicas: pods.length,
      ...(full === 0 ? {} : { fullyLabeledReplicas: full }),
      ...(ready === 0 ? {} : { readyReplicas: ready }),
      ...(available === 0 ? {} : { availableReplicas: available }),
      ...(set.metadata.generation === undefined ? {} : { observedGeneration: set.metadata.generation }),
      ...(conditions.length === 0 ? {} : { conditions }),
    };
  }

  /** Tried a second time on the set as it is now, as the real controller does. */
  private *writeStatus(set: ReplicaSet, status: ReplicaStatus): Steps<boolean> {
    const { apiVersion, kind } = this.kind.row;
    const path = pathTo(this.kind.row, set);
    if (jsonEqual(bodyOf(set.status ?? {}), bodyOf(status))) return true;
    const body = bodyOf({ ...set, apiVersion, kind, status });
    const answer = yield* call({ method: "PUT", path: `${path}/status`, body });
    if (isGood(answer) || answer.status === 404) return true;
    const { object } = yield* call({ method: "GET", path });
    const fresh = object as unknown as ReplicaSet | undefined;
    if (fresh?.metadata?.uid !== set.metadata.uid) return true;
    const again = bodyOf({ ...(object as JsonObject), status });
    return isGood(yield* call({ method: "PUT", path: `${path}/status`, body: again }));
  }

  private nowSeconds(): number {
    return unixSeconds(this.parts.client.process.clock);
  }
}

interface Failure {
  readonly reason: "FailedCreate" | "FailedDelete";
  readonly answer: ControlAnswer;
}

function withFailure(
  conditions: readonly Condition[],
  failure: Failure | undefined,
  now: string,
): readonly Condition[] {
  const type = "ReplicaFailure";
  const old = conditions.find((condition) => condition.type === type);
  if (failure === undefined) return old === undefined ? conditions : conditions.filter((each) => each !== old);
  const { reason, answer } = failure;
  if (old?.status === "True" && old.reason === reason) return conditions;
  const lastTransitionTime = old?.status === "True" ? (old.lastTransitionTime ?? now) : now;
  const made: Condition = { type, status: "True", lastTransitionTime, reason, message: messageOf(answer) };
  return [...conditions.filter((each) => each !== old), made];
}
