/**
 * Keeps a pod of each DaemonSet on every node that will have it, and replaces those of an old template node by node.
 * Source: the published daemon set controller.
 */
import { isTolerated, type Toleration } from "../../../wire/tolerations.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { jsonEqual } from "../../objects/equality.ts";
import type { Outcome, WorkQueue } from "../../client/work-queue.ts";
import { unixSeconds } from "../event-recorder.ts";
import { taintNames } from "../nodes/node-conditions.ts";
import { requiredNodes } from "../scheduler/terms.ts";
import { claim } from "../shared/claims.ts";
import {
  collectionOf,
  type ControlParts,
  isOfTerminatingNamespace,
  kindRow,
  nodeRow,
  pathTo,
  podRow,
  queueOf,
  scaledValue,
} from "../shared/controller.ts";
import { Expectations } from "../shared/expectations.ts";
import { bodyOf, controllerOf, type Informer, keyOf } from "../shared/informers.ts";
import { isAvailable, isReady } from "../shared/pods.ts";
import { selectorOf } from "../shared/selecting.ts";
import { call, isGood, type Steps } from "../shared/steps.ts";
import type { NodeObject, Pod, PodTemplate, Stored } from "../shared/stored.ts";
import { RevisionHistory } from "./controller-revisions.ts";
import { PodControl, type PodShape } from "./pod-control.ts";
import { revisionLabel } from "./stateful-sets.ts";

interface DaemonSet extends Stored {
  readonly spec: {
    readonly selector: JsonObject;
    readonly template: PodTemplate;
    readonly minReadySeconds?: number;
    readonly revisionHistoryLimit?: number;
    readonly updateStrategy?: {
      readonly type?: string;
      readonly rollingUpdate?: { readonly maxUnavailable?: number | string; readonly maxSurge?: number | string };
    };
  };
  readonly status?: JsonObject & { readonly collisionCount?: number };
}

const row = kindRow("apps/v1", "DaemonSet", "daemonsets");

export class DaemonSetController {
  private readonly parts: ControlParts;
  private readonly sets: Informer<DaemonSet>;
  private readonly pods: Informer<Pod>;
  private readonly nodes: Informer<NodeObject>;
  private readonly control: PodControl;
  private readonly history: RevisionHistory;
  private readonly expectations: Expectations;
  private readonly queue: WorkQueue<string>;
  private readonly tolerations = new WeakMap<DaemonSet, readonly Toleration[]>();

  constructor(parts: ControlParts) {
    const { informers, client } = parts;
    this.parts = parts;
    this.sets = informers.of<DaemonSet>(collectionOf(row));
    this.pods = informers.of<Pod>(collectionOf(podRow));
    this.nodes = informers.of<NodeObject>(collectionOf(nodeRow));
    this.control = new PodControl(client, "daemonset-controller", row);
    this.history = new RevisionHistory(informers, row, revisionLabel);
    this.expectations = new Expectations(client.process.clock);
    this.queue = queueOf(parts, "daemonset", (key) => this.sync(key));
  }

  start(): void {
    const look = (set: DaemonSet): void => this.queue.add(keyOf(set));
    this.sets.hear({
      changed: look,
      gone: (set) => {
        this.expectations.forget(keyOf(set));
        look(set);
      },
    });
    this.nodes.hear({
      changed: (node, before) => {
        const isSame = before !== undefined && jsonEqual(placing(node), placing(before));
        if (!isSame) for (const set of this.sets.all()) look(set);
      },
      gone: () => {
        for (const set of this.sets.all()) look(set);
      },
    });
    this.pods.hear({
      changed: (pod, before) => this.hearOfPod(pod, before === undefined ? "created" : undefined),
      gone: (pod) => this.hearOfPod(pod, "deleted"),
    });
  }

  private hearOfPod(pod: Pod, what: "created" | "deleted" | undefined): void {
    const owner = controllerOf(pod);
    if (owner?.kind !== row.kind) return;
    const key = `${pod.metadata.namespace}/${owner.name}`;
    if (what === "created") this.expectations.created(key);
    if (what === "deleted" || pod.metadata.deletionTimestamp !== undefined)
      this.expectations.deleted(key, pod.metadata.uid);
    this.queue.add(key);
  }

  private *sync(key: string): Steps<Outcome> {
    const set = this.sets.get(key);
    if (set === undefined || set.metadata.deletionTimestamp !== undefined) return "done";
    const history = yield* this.history.of(set);
    const present = history === undefined ? undefined : yield* this.history.present(set, history);
    if (history === undefined || present === undefined) return "again";
    const { namespace = "", uid } = set.metadata;
    const candidates = [...this.pods.controlledBy(uid), ...this.pods.orphansIn(namespace)];
    const selector = selectorOf(set.spec.selector);
    const pods = yield* claim({ owner: set, ownerRow: row, candidates, row: podRow, selector });
    if (pods === undefined) return "again";
    const hash = this.history.hashOf(present);
    const byNode = Map.groupBy(pods, nodeFor);
    let isDone = true;
    if (this.expectations.isMet(key)) {
      isDone = yield* this.manage(key, set, byNode, hash);
      if (isDone && this.expectations.isMet(key)) isDone = yield* this.roll(key, set, byNode, hash);
      const inUse = new Set(
        pods.map((pod) => `${set.metadata.name}-${pod.metadata.labels?.[revisionLabel]}`).concat(present.metadata.name),
      );
      yield* this.history.truncate(history, inUse, set.spec.revisionHistoryLimit ?? 10);
    }
    const isWritten = yield* this.writeStatus(set, byNode, hash);
    const { minReadySeconds = 0 } = set.spec;
    if (minReadySeconds > 0) this.queue.addAfter(key, minReadySeconds * 1_000_000);
    return isDone && isWritten ? "done" : "again";
  }

  /** One on each node that is to have it, none elsewhere; one that has failed makes room for another. */
  private *manage(
    key: string,
    set: DaemonSet,
    byNode: ReadonlyMap<string, readonly Pod[]>,
    hash: string,
  ): Steps<boolean> {
    const missing: string[] = [];
    const going: Pod[] = [];
    for (const node of this.nodes.all()) {
      const { name } = node.metadata;
      const { should, mayStay } = this.judge(set, node);
      const pods = byNode.get(name) ?? [];
      const alive = pods.filter((pod) => pod.metadata.deletionTimestamp === undefined);
      const failed = alive.filter((pod) => pod.status?.phase === "Failed");
      const running = alive.filter((pod) => pod.status?.phase !== "Failed");
      if (!mayStay) {
        for (const pod of alive) going.push(pod);
        continue;
      }
      for (const pod of failed) {
        const message = `Found failed daemon pod ${keyOf(pod)} on node ${name}, will try to kill it`;
        this.control.tell(set, "Warning", "FailedDaemonPod", message);
        going.push(pod);
      }
      if (should && pods.length === 0) missing.push(name);
      // The oldest stays.
      const byAge = [...running].sort((left, right) =>
        (left.metadata.creationTimestamp ?? "") < (right.metadata.creationTimestamp ?? "") ? -1 : 1,
      );
      for (const pod of byAge.slice(1)) going.push(pod);
    }
    for (const [name, pods] of byNode) {
      if (this.nodes.get(name) !== undefined) continue;
      // Its node is gone, and with it a pod that is bound there only by affinity.
      for (const pod of pods)
        if ((pod.spec.nodeName ?? "") === "" && pod.metadata.deletionTimestamp === undefined) going.push(pod);
    }
    return yield* this.change(key, set, missing, going, hash);
  }

  private *change(
    key: string,
    set: DaemonSet,
    missing: readonly string[],
    going: readonly Pod[],
    hash: string,
  ): Steps<boolean> {
    if (missing.length === 0 && going.length === 0) return true;
    this.expectations.expect(
      key,
      missing.length,
      going.map(({ metadata }) => metadata.uid),
    );
    const shapes = missing.map((node) => this.shapeFor(set, node, hash));
    const { count, refused } = yield* this.control.createMany(set, set.spec.template, shapes);
    this.expectations.created(key, missing.length - count);
    const problem = yield* this.control.deleteMany(set, going);
    if (problem !== undefined) this.expectations.forget(key);
    return problem === undefined && (refused === undefined || isOfTerminatingNamespace(refused));
  }

  /** The scheduler puts it on that node and no other. */
  private shapeFor(set: DaemonSet, node: string, hash: string): PodShape {
    const { affinity = {} } = set.spec.template.spec;
    const { nodeAffinity = {} } = affinity as { readonly nodeAffinity?: JsonObject };
    const matchFields = [{ key: "metadata.name", operator: "In", values: [node] }];
    const required = nodeAffinity["requiredDuringSchedulingIgnoredDuringExecution"] as JsonObject | undefined;
    const terms = (required?.["nodeSelectorTerms"] ?? [{}]) as readonly JsonObject[];
    const nodeSelectorTerms = terms.map((term) => ({ ...term, matchFields }));
    const bound = { ...nodeAffinity, requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } };
    const spec = bodyOf({ affinity: { ...affinity, nodeAffinity: bound }, tolerations: this.tolerationsOf(set) });
    return { labels: { [revisionLabel]: hash }, spec };
  }

  private tolerationsOf(set: DaemonSet): readonly Toleration[] {
    let tolerations = this.tolerations.get(set);
    if (tolerations === undefined) this.tolerations.set(set, (tolerations = this.allTolerations(set)));
    return tolerations;
  }

  private allTolerations({ spec }: DaemonSet): readonly Toleration[] {
    const names = taintNames(this.parts.dialect);
    const of = (key: string, effect: string): Toleration => ({ key, operator: "Exists", effect });
    return [
      ...(spec.template.spec.tolerations ?? []),
      of(names.notReady, "NoExecute"),
      of(names.unreachable, "NoExecute"),
      of(names.diskPressure, "NoSchedule"),
      of(names.memoryPressure, "NoSchedule"),
      of(names.pidPressure, "NoSchedule"),
      of(names.unschedulable, "NoSchedule"),
      ...(spec.template.spec.hostNetwork === true ? [of(names.networkUnavailable, "NoSchedule")] : []),
    ];
  }

  private judge(set: DaemonSet, node: NodeObject): { readonly should: boolean; readonly mayStay: boolean } {
    const { spec } = set.spec.template;
    const { name, labels = {} } = node.metadata;
    const isNamed = spec.nodeName === undefined || spec.nodeName === "" || spec.nodeName === name;
    const isChosen = requiredNodes(spec.nodeSelector, spec.affinity)?.({ name, labels }) ?? true;
    if (!isNamed || !isChosen) return { should: false, mayStay: false };
    const tolerations = this.tolerationsOf(set);
    const refused = (node.spec?.taints ?? []).filter(
      (taint) => taint.effect !== "PreferNoSchedule" && !isTolerated(taint, tolerations),
    );
    return { should: refused.length === 0, mayStay: refused.every(({ effect }) => effect !== "NoExecute") };
  }

  /** Pods of old templates go while enough nodes are served. */
  private *roll(
    key: string,
    set: DaemonSet,
    byNode: ReadonlyMap<string, readonly Pod[]>,
    hash: string,
  ): Steps<boolean> {
    const { type = "RollingUpdate", rollingUpdate = {} } = set.spec.updateStrategy ?? {};
    if (type !== "RollingUpdate") return true;
    const nodes = [...this.nodes.all()].filter((node) => this.judge(set, node).should);
    const surge = scaledValue(rollingUpdate.maxSurge ?? 0, nodes.length, "up");
    // Where a second pod may stand beside the old one, the old one goes once the new one serves.
    const most = Math.max(surge > 0 ? 0 : 1, scaledValue(rollingUpdate.maxUnavailable ?? 1, nodes.length, "up"));
    let unavailable = 0;
    let beside = 0;
    const old: Pod[] = [];
    const going: Pod[] = [];
    const added: string[] = [];
    for (const { metadata } of nodes) {
      const pods = (byNode.get(metadata.name) ?? []).filter((pod) => pod.metadata.deletionTimestamp === undefined);
      const isNew = (pod: Pod): boolean => pod.metadata.labels?.[revisionLabel] === hash;
      const former = pods.find((pod) => !isNew(pod));
      const served = pods.some((pod) => this.isAvailable(set, pod));
      if (!served) unavailable++;
      if (former === undefined) continue;
      if (pods.some((pod) => isNew(pod))) {
        beside++;
        if (pods.some((pod) => isNew(pod) && this.isAvailable(set, pod))) going.push(former);
      } else if (!this.isAvailable(set, former)) going.push(former);
      else old.push(former);
    }
    if (surge > 0) for (const pod of old.slice(0, Math.max(0, surge - beside))) added.push(nodeFor(pod));
    else for (const pod of old.slice(0, Math.max(0, most - unavailable))) going.push(pod);
    return yield* this.change(key, set, added, going, hash);
  }

  private *writeStatus(set: DaemonSet, byNode: ReadonlyMap<string, readonly Pod[]>, hash: string): Steps<boolean> {
    const counts = { desired: 0, scheduled: 0, misscheduled: 0, ready: 0, available: 0, updated: 0 };
    for (const node of this.nodes.all()) {
      const { should } = this.judge(set, node);
      const pods = byNode.get(node.metadata.name) ?? [];
      if (should) counts.desired++;
      if (pods.length === 0) continue;
      if (!should) {
        counts.misscheduled++;
        continue;
      }
      counts.scheduled++;
      if (pods.some((pod) => isReady(pod))) counts.ready++;
      if (pods.some((pod) => this.isAvailable(set, pod))) counts.available++;
      if (pods.some((pod) => pod.metadata.labels?.[revisionLabel] === hash)) counts.updated++;
    }
    const optional = (name: string, count: number): object => (count === 0 ? {} : { [name]: count });
    const status = bodyOf({
      currentNumberScheduled: counts.scheduled,
      numberMisscheduled: counts.misscheduled,
      desiredNumberScheduled: counts.desired,
      numberReady: counts.ready,
      observedGeneration: set.metadata.generation ?? 0,
      ...optional("updatedNumberScheduled", counts.updated),
      ...optional("numberAvailable", counts.available),
      ...optional("numberUnavailable", counts.desired - counts.available),
      ...optional("collisionCount", set.status?.collisionCount ?? 0),
    });
    if (jsonEqual(bodyOf(set.status ?? {}), status)) return true;
    const { apiVersion, kind } = row;
    const answer = yield* call({
      method: "PUT",
      path: `${pathTo(row, set)}/status`,
      body: bodyOf({ ...set, apiVersion, kind, status }),
    });
    return isGood(answer) || answer.status === 404;
  }

  private isAvailable(set: DaemonSet, pod: Pod): boolean {
    return isAvailable(pod, set.spec.minReadySeconds ?? 0, unixSeconds(this.parts.client.process.clock));
  }
}

/** What of a node decides who runs there. */
const placing = ({ metadata, spec }: NodeObject): JsonObject =>
  bodyOf({ labels: metadata.labels ?? {}, taints: spec?.taints ?? [] });

/** The node it is on, or that it is meant for. */
function nodeFor({ spec }: Pod): string {
  if (spec.nodeName !== undefined && spec.nodeName !== "") return spec.nodeName;
  const { nodeAffinity } = (spec.affinity ?? {}) as { readonly nodeAffinity?: JsonObject };
  const required = nodeAffinity?.["requiredDuringSchedulingIgnoredDuringExecution"] as JsonObject | undefined;
  const [term] = (required?.["nodeSelectorTerms"] ?? []) as readonly JsonObject[];
  const [field] = (term?.["matchFields"] ?? []) as readonly JsonObject[];
  return ((field?.["values"] as readonly string[] | undefined) ?? [])[0] ?? "";
}
