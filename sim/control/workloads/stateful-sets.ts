/**
 * Keeps the pods of StatefulSets, each with a name, a number and claims of its own: made in order and taken away from
 * the end, or all at once; updated from the end down to the partition.
 * Source: the published stateful set controller.
 */
import type { JsonObject } from "../../contract/http-message.ts";
import { jsonEqual } from "../../objects/equality.ts";
import type { Outcome, WorkQueue } from "../../client/work-queue.ts";
import { unixSeconds } from "../event-recorder.ts";
import { claim } from "../shared/claims.ts";
import {
  collectionOf,
  type ControlParts,
  controllerReference,
  kindRow,
  messageOf,
  pathTo,
  podRow,
  queueOf,
  scaledValue,
} from "../shared/controller.ts";
import { bodyOf, controllerOf, type Informer, keyOf } from "../shared/informers.ts";
import { isAvailable, isReady, isTerminated } from "../shared/pods.ts";
import { selectorOf } from "../shared/selecting.ts";
import { call, isGood, type Steps } from "../shared/steps.ts";
import type { Condition, ControllerRevision, Pod, PodTemplate, Stored } from "../shared/stored.ts";
import { RevisionHistory, templateIn } from "./controller-revisions.ts";
import { PodControl } from "./pod-control.ts";

interface StatefulSet extends Stored {
  readonly spec: {
    readonly replicas?: number;
    readonly selector: JsonObject;
    readonly template: PodTemplate;
    readonly serviceName?: string;
    readonly podManagementPolicy?: string;
    readonly minReadySeconds?: number;
    readonly revisionHistoryLimit?: number;
    readonly volumeClaimTemplates?: readonly JsonObject[];
    readonly ordinals?: { readonly start?: number };
    readonly updateStrategy?: {
      readonly type?: string;
      readonly rollingUpdate?: { readonly partition?: number; readonly maxUnavailable?: number | string };
    };
    readonly persistentVolumeClaimRetentionPolicy?: { readonly whenDeleted?: string; readonly whenScaled?: string };
  };
  readonly status?: StatefulSetStatus;
}

interface StatefulSetStatus {
  readonly observedGeneration?: number;
  readonly replicas?: number;
  readonly readyReplicas?: number;
  readonly currentReplicas?: number;
  readonly updatedReplicas?: number;
  readonly availableReplicas?: number;
  readonly currentRevision?: string;
  readonly updateRevision?: string;
  readonly collisionCount?: number;
  readonly conditions?: readonly Condition[];
}

/** What one look works with. */
interface Look {
  readonly set: StatefulSet;
  readonly current: ControllerRevision;
  readonly update: ControllerRevision;
  /** By number, as far as they are there. */
  readonly pods: ReadonlyMap<number, Pod>;
}

const row = kindRow("apps/v1", "StatefulSet", "statefulsets");
const claimRow = kindRow("v1", "PersistentVolumeClaim", "persistentvolumeclaims");
export const revisionLabel = "controller-revision-hash";

export class StatefulSetController {
  private readonly parts: ControlParts;
  private readonly sets: Informer<StatefulSet>;
  private readonly pods: Informer<Pod>;
  private readonly claims: Informer<Stored>;
  private readonly control: PodControl;
  private readonly history: RevisionHistory;
  private readonly queue: WorkQueue<string>;

  constructor(parts: ControlParts) {
    const { informers, client } = parts;
    this.parts = parts;
    this.sets = informers.of<StatefulSet>(collectionOf(row));
    this.pods = informers.of<Pod>(collectionOf(podRow));
    this.claims = informers.of<Stored>(collectionOf(claimRow));
    this.control = new PodControl(client, "statefulset-controller", row);
    this.history = new RevisionHistory(informers, row, revisionLabel);
    this.queue = queueOf(parts, "statefulset", (key) => this.sync(key));
  }

  start(): void {
    const look = (set: StatefulSet): void => this.queue.add(keyOf(set));
    this.sets.hear({ changed: look, gone: look });
    const lookAtOwner = (pod: Pod): void => {
      const owner = controllerOf(pod);
      if (owner?.kind === row.kind) this.queue.add(`${pod.metadata.namespace}/${owner.name}`);
      else if (owner === undefined) {
        for (const set of this.sets.inNamespace(pod.metadata.namespace ?? "")) {
          if (selectorOf(set.spec.selector).matches(pod.metadata.labels) && ordinalOf(set, pod) !== undefined)
            look(set);
        }
      }
    };
    this.pods.hear({ changed: lookAtOwner, gone: lookAtOwner });
  }

  private *sync(key: string): Steps<Outcome> {
    const set = this.sets.get(key);
    if (set === undefined || set.metadata.deletionTimestamp !== undefined) return "done";
    const { namespace = "", uid } = set.metadata;
    const orphans = this.pods.orphansIn(namespace).filter((pod) => ordinalOf(set, pod) !== undefined);
    const candidates = [...this.pods.controlledBy(uid), ...orphans];
    const selector = selectorOf(set.spec.selector);
    const pods = yield* claim({ owner: set, ownerRow: row, candidates, row: podRow, selector });
    const history = yield* this.history.of(set);
    if (pods === undefined || history === undefined) return "again";
    const update = yield* this.history.present(set, history);
    if (update === undefined) return "again";
    const current = history.find(({ metadata }) => metadata.name === set.status?.currentRevision) ?? update;
    const numbered = new Map(
      pods.flatMap((pod): [number, Pod][] => {
        const ordinal = ordinalOf(set, pod);
        return ordinal === undefined ? [] : [[ordinal, pod]];
      }),
    );
    const look: Look = { set, current, update, pods: numbered };
    const isDone = yield* this.manage(look);
    const isWritten = yield* this.writeStatus(look);
    const inUse = new Set([
      current.metadata.name,
      update.metadata.name,
      ...pods.map(({ metadata }) => metadata.labels?.[revisionLabel] ?? ""),
    ]);
    yield* this.history.truncate(history, inUse, set.spec.revisionHistoryLimit ?? 10);
    const { minReadySeconds = 0 } = set.spec;
    if (minReadySeconds > 0 && pods.some((pod) => isReady(pod) && !this.isAvailable(set, pod))) {
      this.queue.addAfter(key, minReadySeconds * 1_000_000);
    }
    return isDone && isWritten ? "done" : "again";
  }

  /**
   * In order, one step a look: a pod that has ended is replaced, one that is missing is made, and the next waits until the
   * one before is available. Then what is too much goes, from the end, and then what is of an old revision.
   */
  private *manage(look: Look): Steps<boolean> {
    const { set, pods } = look;
    const first = set.spec.ordinals?.start ?? 0;
    const end = first + (set.spec.replicas ?? 1);
    const isParallel = set.spec.podManagementPolicy === "Parallel";
    let mayGoOn = true;
    for (let ordinal = first; ordinal < end && mayGoOn; ordinal++) {
      const pod = pods.get(ordinal);
      if (pod === undefined) {
        if (!(yield* this.make(look, ordinal))) return false;
        mayGoOn = isParallel;
      } else if (isTerminated(pod) && pod.metadata.deletionTimestamp === undefined) {
        if ((yield* this.control.deleteMany(set, [pod])) !== undefined) return false;
        mayGoOn = isParallel;
      } else if (!isParallel) mayGoOn = pod.metadata.deletionTimestamp === undefined && this.isAvailable(set, pod);
    }
    if (!mayGoOn) return true;
    const condemned = [...pods]
      .filter(([ordinal]) => ordinal < first || ordinal >= end)
      .sort(([left], [right]) => right - left);
    for (const [, pod] of condemned) {
      if (pod.metadata.deletionTimestamp === undefined) {
        if ((yield* this.control.deleteMany(set, [pod])) !== undefined) return false;
      }
      if (!isParallel) return true;
    }
    return condemned.length > 0 && !isParallel ? true : yield* this.roll(look, first, end);
  }

  private *roll({ set, update, pods }: Look, first: number, end: number): Steps<boolean> {
    const { type = "RollingUpdate", rollingUpdate = {} } = set.spec.updateStrategy ?? {};
    if (type === "OnDelete") return true;
    const partition = rollingUpdate.partition ?? 0;
    const most = Math.max(1, scaledValue(rollingUpdate.maxUnavailable ?? 1, end - first, "up"));
    let unavailable = 0;
    for (let ordinal = first; ordinal < end; ordinal++) {
      const pod = pods.get(ordinal);
      if (pod === undefined || pod.metadata.deletionTimestamp !== undefined || !this.isAvailable(set, pod))
        unavailable++;
    }
    for (let ordinal = end - 1; ordinal >= Math.max(first, partition); ordinal--) {
      const pod = pods.get(ordinal);
      if (pod === undefined) return true;
      const isOld = pod.metadata.labels?.[revisionLabel] !== update.metadata.name;
      const isOut = pod.metadata.deletionTimestamp !== undefined || !this.isAvailable(set, pod);
      if (isOld && pod.metadata.deletionTimestamp === undefined) {
        // One that is out of service already costs nothing more.
        if (!isOut && unavailable >= most) return true;
        if ((yield* this.control.deleteMany(set, [pod])) !== undefined) return false;
        if (!isOut) unavailable++;
      } else if (isOut && unavailable >= most) return true;
    }
    return true;
  }

  private *make(look: Look, ordinal: number): Steps<boolean> {
    const { set, current, update } = look;
    const { name } = set.metadata;
    const first = set.spec.ordinals?.start ?? 0;
    const { rollingUpdate } = set.spec.updateStrategy ?? {};
    const keepsOld =
      current !== update && ordinal < Math.max(rollingUpdate?.partition ?? 0, first + this.oldCount(look));
    const revision = keepsOld ? current : update;
    const podName = `${name}-${ordinal}`;
    if (!(yield* this.makeClaims(set, ordinal))) return false;
    const { labelSuffix } = this.parts.dialect;
    const template = revision === update ? set.spec.template : templateIn(revision);
    const volumes = (set.spec.volumeClaimTemplates ?? []).map((each) => {
      const volume = nameOf(each);
      return { name: volume, persistentVolumeClaim: { claimName: `${volume}-${podName}` } };
    });
    const others = (template.spec.volumes ?? []).filter(
      (volume) => !volumes.some((own) => own.name === volume["name"]),
    );
    const { count, refused } = yield* this.control.createMany(set, template, [
      {
        name: podName,
        labels: {
          [`statefulset.${labelSuffix}/pod-name`]: podName,
          [`apps.${labelSuffix}/pod-index`]: String(ordinal),
          [revisionLabel]: revision.metadata.name,
        },
        spec: bodyOf({ hostname: podName, subdomain: set.spec.serviceName ?? "", volumes: [...volumes, ...others] }),
      },
    ]);
    return count === 1 || refused?.status === 409;
  }

  /** How many pods of the current revision a rolling update has left so far. */
  private oldCount({ set, current }: Look): number {
    return current.metadata.name === set.status?.currentRevision ? (set.status.currentReplicas ?? 0) : 0;
  }

  private *makeClaims(set: StatefulSet, ordinal: number): Steps<boolean> {
    const { name, namespace = "" } = set.metadata;
    for (const template of set.spec.volumeClaimTemplates ?? []) {
      const claimName = `${nameOf(template)}-${name}-${ordinal}`;
      if (this.claims.get(`${namespace}/${claimName}`) !== undefined) continue;
      const { metadata = {}, ...others } = template as { readonly metadata?: JsonObject };
      const labels = {
        ...(metadata["labels"] as object | undefined),
        ...(set.spec.selector["matchLabels"] as object | undefined),
      };
      const { apiVersion, kind } = claimRow;
      const retention = set.spec.persistentVolumeClaimRetentionPolicy?.whenDeleted === "Delete";
      const owner = retention ? { ownerReferences: [{ ...controllerReference(row, set), controller: true }] } : {};
      const body = bodyOf({
        ...others,
        apiVersion,
        kind,
        metadata: { ...metadata, name: claimName, namespace, labels, ...owner },
      });
      const answer = yield* call({ method: "POST", path: collectionOf(claimRow, namespace), body });
      if (isGood(answer)) {
        const message = `create Claim ${claimName} Pod ${name}-${ordinal} in StatefulSet ${name} success`;
        this.control.tell(set, "Normal", "SuccessfulCreate", message);
      } else if (answer.status !== 409) {
        const message = `create Claim ${claimName} for Pod ${name}-${ordinal} in StatefulSet ${name} failed error: ${messageOf(answer)}`;
        this.control.tell(set, "Warning", "FailedCreate", message);
        return false;
      }
    }
    return true;
  }

  private *writeStatus({ set, current, update, pods }: Look): Steps<boolean> {
    const alive = [...pods.values()].filter(
      (pod) => !isTerminated(pod) || pod.metadata.deletionTimestamp !== undefined,
    );
    const ofRevision = ({ metadata }: ControllerRevision): number =>
      alive.filter(
        (pod) => pod.metadata.deletionTimestamp === undefined && pod.metadata.labels?.[revisionLabel] === metadata.name,
      ).length;
    const ready = alive.filter(isReady);
    const updated = ofRevision(update);
    const replicas = set.spec.replicas ?? 1;
    const isThrough = updated === replicas && ready.length === replicas && alive.length === replicas;
    const now: StatefulSetStatus = {
      observedGeneration: set.metadata.generation ?? 0,
      replicas: alive.length,
      ...nonZero("readyReplicas", ready.length),
      ...nonZero("currentReplicas", isThrough ? updated : ofRevision(current)),
      ...nonZero("updatedReplicas", updated),
      availableReplicas: alive.filter((pod) => this.isAvailable(set, pod)).length,
      currentRevision: (isThrough ? update : current).metadata.name,
      updateRevision: update.metadata.name,
      collisionCount: set.status?.collisionCount ?? 0,
      ...(set.status?.conditions === undefined ? {} : { conditions: set.status.conditions }),
    };
    if (jsonEqual(bodyOf(set.status ?? {}), bodyOf(now))) return true;
    const { apiVersion, kind } = row;
    const body = bodyOf({ ...set, apiVersion, kind, status: now });
    const answer = yield* call({ method: "PUT", path: `${pathTo(row, set)}/status`, body });
    return isGood(answer) || answer.status === 404;
  }

  private isAvailable(set: StatefulSet, pod: Pod): boolean {
    return isAvailable(pod, set.spec.minReadySeconds ?? 0, unixSeconds(this.parts.client.process.clock));
  }
}

const nameOf = (template: JsonObject): string =>
  String((template["metadata"] as JsonObject | undefined)?.["name"] ?? "");

const nonZero = (key: string, count: number): object => (count === 0 ? {} : { [key]: count });

/** The number in a pod's name, where it is one of the set's. */
function ordinalOf({ metadata: { name } }: StatefulSet, { metadata }: Pod): number | undefined {
  if (!metadata.name.startsWith(`${name}-`)) return undefined;
  const number = metadata.name.slice(name.length + 1);
  return /^(0|[1-9]\d{0,8})$/.test(number) ? Number(number) : undefined;
}
