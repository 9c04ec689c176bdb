/**
 * Gives each pod a node: takes the most important one that waits, places it among what it knows of the cluster, and
 * writes the binding while it goes on with the next. What cannot be placed waits for something that may help, and may
 * push less important pods away.
 * Source: the published scheduler.
 *
 * Simplification: volumes place no pod, since nothing is attached; there are no extenders.
 */
import type { Dialect } from "../../../wire/dialect.ts";
import { formatTime } from "../../../wire/time.ts";
import type { ControlClient } from "../../client/control-client.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { Micros, Prng } from "../../kernel/types.ts";
import { jsonEqual } from "../../objects/equality.ts";
import { unixSeconds } from "../event-recorder.ts";
import { taintNames } from "../nodes/node-conditions.ts";
import { collectionOf, kindRow, messageOf as refusalText, nodeRow, pathTo, podRow } from "../shared/controller.ts";
import { bodyOf, type Informer, type Informers } from "../shared/informers.ts";
import { isTerminated } from "../shared/pods.ts";
import { call, isGood, runSteps, type Steps } from "../shared/steps.ts";
import type { NodeObject, Pod, Stored } from "../shared/stored.ts";
import { ClusterView } from "./cluster-view.ts";
import type { Plugin } from "./refusal.ts";
import { messageOf, Placer, type Unplaced } from "./placing.ts";
import { type PodNeeds, podNeeds } from "./pod-needs.ts";
import { type Budget, preemptionFor } from "./preemption.ts";
import { SchedulingEvents } from "./scheduling-events.ts";
import { SchedulingQueue } from "./scheduling-queue.ts";
import { later } from "../shared/later.ts";

export interface SchedulerOptions {
  readonly client: ControlClient;
  readonly informers: Informers;
  readonly dialect: Dialect;
  /** Pods that name this one are its own. Default `default-scheduler`. */
  readonly name?: string;
  /** From one pod to the next. Default 200 µs. */
  readonly cycleMicros?: Micros;
}

const budgetRow = kindRow("policy/v1", "PodDisruptionBudget", "poddisruptionbudgets");
const namespaceRow = kindRow("v1", "Namespace", "namespaces");

const afterDeparture: ReadonlySet<Plugin> = new Set([
  "NodePorts",
  "NodeResourcesFit",
  "PodTopologySpread",
  "InterPodAffinity",
]);
const afterArrival: ReadonlySet<Plugin> = new Set(["PodTopologySpread", "InterPodAffinity"]);

export class Scheduler {
  private readonly client: ControlClient;
  private readonly name: string;
  private readonly cycleMicros: Micros;
  private readonly view: ClusterView;
  private readonly placer: Placer;
  private readonly queue: SchedulingQueue;
  private readonly events: SchedulingEvents;
  private readonly pods: Informer<Pod>;
  private readonly nodes: Informer<NodeObject>;
  private readonly budgets: Informer<Budget>;
  private readonly namespaces: Informer<Stored>;
  private readonly informers: Informers;
  private readonly prng: Prng;
  private isOpen = false;
  private planned = false;

  constructor({ client, informers, dialect, name = "default-scheduler", cycleMicros = 200 }: SchedulerOptions) {
    const zone = `topology.${dialect.labelSuffix}/zone`;
    this.client = client;
    this.name = name;
    this.cycleMicros = cycleMicros;
    this.informers = informers;
    this.prng = client.process.prng.stream("preemption");
    this.pods = informers.of<Pod>(collectionOf(podRow));
    this.nodes = informers.of<NodeObject>(collectionOf(nodeRow));
    this.budgets = informers.of<Budget>(collectionOf(budgetRow));
    this.namespaces = informers.of<Stored>(collectionOf(namespaceRow));
    this.view = new ClusterView({
      zoneLabels: [`topology.${dialect.labelSuffix}/region`, zone],
      unschedulableTaint: taintNames(dialect).unschedulable,
      namespaceLabels: (namespace) => this.namespaces.get(namespace)?.metadata.labels ?? {},
    });
    this.placer = new Placer(this.view, client.process.prng.stream("scheduler"), { zone });
    this.queue = new SchedulingQueue(client.process.clock, () => this.plan());
    this.events = new SchedulingEvents(client, dialect, name);
  }

  start(): void {
    this.nodes.hear({
      changed: (node, before) => {
        if (before !== undefined && !isOther(node, before)) return;
        this.view.setNode(node);
        this.queue.happened(undefined);
      },
      gone: ({ metadata }) => this.view.removeNode(metadata.name),
    });
    this.pods.hear({ changed: (pod, before) => this.hear(pod, before), gone: (pod) => this.forget(pod) });
    this.namespaces.hear({
      changed: (namespace, before) => {
        if (jsonEqual(bodyOf(namespace.metadata.labels ?? {}), bodyOf(before?.metadata.labels ?? {}))) return;
        this.view.counts.forgetChoices();
        this.queue.happened(afterArrival);
      },
      gone: () => {},
    });
    this.informers.onceSynced(() => {
      this.isOpen = true;
      this.plan();
    });
  }

  private hear(pod: Pod, before: Pod | undefined): void {
    const { nodeName = "" } = pod.spec;
    const { uid } = pod.metadata;
    if (isTerminated(pod)) {
      this.forget(pod);
      return;
    }
    if (nodeName === "") {
      this.hearOfWaiting(pod, before);
      return;
    }
    this.queue.remove(uid);
    this.view.unpromise(uid);
    const isSame = this.view.placeOf(uid) === nodeName && before !== undefined && samePlacing(pod, before);
    if (isSame) return;
    this.view.place(podNeeds(pod), nodeName);
    this.queue.happened(before !== undefined && before.spec.nodeName === nodeName ? afterDeparture : afterArrival);
  }

  private hearOfWaiting(pod: Pod, before: Pod | undefined): void {
    const { uid, deletionTimestamp } = pod.metadata;
    const isMine = (pod.spec.schedulerName ?? this.name) === this.name;
    const isGated = (pod.spec.schedulingGates ?? []).length > 0;
    if (!isMine || isGated || deletionTimestamp !== undefined) {
      this.queue.remove(uid);
      this.view.unpromise(uid);
      return;
    }
    // What it has placed and the server has not confirmed is not placed again.
    if (this.view.placeOf(uid) !== undefined) return;
    const needs = podNeeds(pod);
    const { nominatedNodeName = "" } = pod.status ?? {};
    if (nominatedNodeName === "") this.view.unpromise(uid);
    else this.view.promise(needs, nominatedNodeName);
    const isOnlyStatus = before !== undefined && this.queue.has(uid) && samePlacing(pod, before);
    if (isOnlyStatus) this.queue.refresh(needs);
    else this.queue.add(needs);
  }

  private forget({ metadata: { uid } }: Pod): void {
    this.queue.remove(uid);
    this.view.unpromise(uid);
    if (this.view.placeOf(uid) === undefined) return;
    this.view.displace(uid);
    this.queue.happened(afterDeparture);
  }

  private plan(): void {
    if (this.planned || !this.isOpen) return;
    this.planned = true;
    let pod: PodNeeds | undefined;
    const next = (): void => {
      this.planned = false;
      pod = this.queue.take();
      if (pod === undefined) return;
      this.schedule(pod);
      this.plan();
    };
    later(this.client.process, this.cycleMicros, next, () => {
      if (pod !== undefined) this.queue.failed(pod.uid, new Set()); // later again
      this.plan();
    });
  }

  private schedule(pod: PodNeeds): void {
    const placing = this.placer.place(pod);
    if ("node" in placing) this.bind(pod, placing.node);
    else this.fail(pod, placing);
  }

  /** It counts as placed at once. */
  private bind(pod: PodNeeds, node: string): void {
    this.view.place(pod, node);
    this.client.process.trace("bind", `${pod.namespace}/${pod.name}`, node);
    const { namespace, name, uid } = pod;
    const path = `${pathTo(podRow, pod.pod)}/binding`;
    const body = {
      apiVersion: "v1",
      kind: "Binding",
      metadata: { name, namespace, uid },
      target: { kind: "Node", name: node },
    };
    this.client.call({ method: "POST", path, body }, (answer) => {
      if (isGood(answer)) {
        this.queue.remove(uid);
        this.view.unpromise(uid);
        const note = `Successfully assigned ${namespace}/${name} to ${node}`;
        this.events.tell(pod.pod, "Normal", "Scheduled", "Binding", note);
        return;
      }
      // Whether it was bound after all, what the server tells of the pod will say.
      const present = this.pods.get(`${namespace}/${name}`);
      const isBound = present?.metadata.uid === uid && (present.spec.nodeName ?? "") !== "";
      if (!isBound) this.view.displace(uid);
      if (answer.status === 404) {
        this.queue.remove(uid);
        return;
      }
      this.queue.failed(uid, new Set());
      this.queue.happened(afterDeparture);
      const note = `running Bind plugin "DefaultBinder": ${refusalText(answer)}`;
      this.events.tell(pod.pod, "Warning", "FailedScheduling", "Scheduling", note);
    });
  }

  private fail(pod: PodNeeds, unplaced: Unplaced): void {
    const nodeCount = this.view.nodes().length;
    let message = messageOf(unplaced, nodeCount);
    let nominated: string | undefined;
    if (nodeCount > 0) {
      const preemption = preemptionFor(pod, unplaced, this.view, [...this.budgets.all()], this.prng);
      if ("problem" in preemption) message += ` preemption: ${preemption.problem}`;
      else {
        nominated = preemption.node;
        this.preempt(pod, preemption.node, preemption.victims);
      }
    }
    // Without nodes, only one that comes can help.
    const plugins: ReadonlySet<Plugin> = nodeCount === 0 ? new Set(["NodeAffinity"]) : unplaced.plugins;
    this.queue.failed(pod.uid, plugins);
    this.events.tell(pod.pod, "Warning", "FailedScheduling", "Scheduling", message);
    this.writeFailure(pod, message, nominated);
  }

  private preempt(pod: PodNeeds, node: string, victims: readonly PodNeeds[]): void {
    this.view.promise(pod, node);
    // Less important pods that were promised this place look for another.
    for (const other of [...(this.view.promisedOn(node) ?? [])]) {
      if (other.priority >= pod.priority) continue;
      this.view.unpromise(other.uid);
      this.patchStatus(other, { nominatedNodeName: null });
    }
    for (const victim of victims) runSteps(this.client, this.evict(pod, node, victim), () => {});
  }

  private *evict(pod: PodNeeds, node: string, victim: PodNeeds): Steps<void> {
    if (victim.pod.metadata.deletionTimestamp !== undefined) return;
    const path = pathTo(podRow, victim.pod);
    const condition = {
      type: "DisruptionTarget",
      status: "True",
      reason: "PreemptionByScheduler",
      message: `${this.name}: preempting to accommodate a higher priority pod`,
      lastTransitionTime: this.now(),
    };
    const body = bodyOf({ metadata: { uid: victim.uid }, status: { conditions: [condition] } });
    const contentType = "application/strategic-merge-patch+json";
    const marked = yield* call({ method: "PATCH", path: `${path}/status`, contentType, body });
    if (!isGood(marked)) return;
    const options = bodyOf({ apiVersion: "v1", kind: "DeleteOptions", preconditions: { uid: victim.uid } });
    const answer = yield* call({ method: "DELETE", path, body: options });
    if (!isGood(answer)) return;
    const preemptor = { apiVersion: "v1", kind: "Pod", namespace: pod.namespace, name: pod.name, uid: pod.uid };
    const note = `Preempted by pod ${pod.uid} on node ${node}`;
    this.events.tell(victim.pod, "Normal", "Preempted", "Preempting", note, preemptor);
  }

  private writeFailure(pod: PodNeeds, message: string, nominated: string | undefined): void {
    const { conditions = [], nominatedNodeName } = pod.pod.status ?? {};
    const old = conditions.find(({ type }) => type === "PodScheduled");
    const isSaid = old?.status === "False" && old.reason === "Unschedulable" && old.message === message;
    const isPromised = nominated === undefined || nominated === nominatedNodeName;
    if (isSaid && isPromised) return;
    const lastTransitionTime = old?.status === "False" ? (old.lastTransitionTime ?? this.now()) : this.now();
    const condition = {
      type: "PodScheduled",
      status: "False",
      reason: "Unschedulable",
      message,
      lastProbeTime: null,
      lastTransitionTime,
    };
    this.patchStatus(pod, {
      conditions: [condition],
      ...(nominated === undefined ? {} : { nominatedNodeName: nominated }),
    });
  }

  /** What becomes of it is heard of. */
  private patchStatus(pod: PodNeeds, status: JsonObject): void {
    const body = { metadata: { uid: pod.uid }, status };
    const contentType = "application/strategic-merge-patch+json";
    this.client.call({ method: "PATCH", path: `${pathTo(podRow, pod.pod)}/status`, contentType, body }, () => {});
  }

  private now(): string {
    return formatTime(unixSeconds(this.client.process.clock));
  }
}

/** What a scheduler minds of a pod: status tells it nothing. */
function samePlacing(left: Pod, right: Pod): boolean {
  const isGoing = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined;
  return (
    isGoing(left) === isGoing(right) &&
    jsonEqual(bodyOf(left.metadata.labels ?? {}), bodyOf(right.metadata.labels ?? {})) &&
    jsonEqual(bodyOf(left.spec), bodyOf(right.spec))
  );
}

/** A change of a node that may make room or take it. Heartbeats are none. */
function isOther(node: NodeObject, before: NodeObject): boolean {
  const seen = ({ metadata, spec, status }: NodeObject): JsonObject =>
    bodyOf({
      labels: metadata.labels ?? {},
      spec: spec ?? {},
      allocatable: status?.allocatable ?? {},
      images: status?.images ?? [],
    });
  return !jsonEqual(seen(node), seen(before));
}
