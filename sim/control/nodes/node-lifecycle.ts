/**
 * Watches whether nodes are heard of. A node that renews neither lease nor status for the grace period is Unknown; what
 * its conditions say becomes taints, those that evict at a rate for each zone, slower or not at all where much of a zone
 * or every zone is gone.
 * Source: the published node lifecycle controller; the facts on what a real one did when leases stopped.
 */
import { groupInDialect } from "../../../wire/dialect.ts";
import { formatTime } from "../../../wire/time.ts";
import type { Micros } from "../../kernel/types.ts";
import { EventRecorder, unixSeconds } from "../event-recorder.ts";
import type { Outcome, WorkQueue } from "../../client/work-queue.ts";
import {
  collectionOf,
  type ControlParts,
  type KindRow,
  kindRow,
  nodeRow,
  pathTo,
  podRow,
  queueOf,
  subjectOf,
} from "../shared/controller.ts";
import { bodyOf, type Informer, keyOf } from "../shared/informers.ts";
import { conditionOf, secondsOf } from "../shared/pods.ts";
import { call, callAll, isGood, runSteps, type Steps } from "../shared/steps.ts";
import type { Condition, NodeObject, Pod, Stored, Taint } from "../shared/stored.ts";
import { TokenBucket } from "../shared/token-bucket.ts";
import {
  isTaint,
  nodeCondition,
  schedulingTaintsOf,
  type TaintNames,
  taintNames,
  taintsOf,
} from "./node-conditions.ts";
import { later } from "../shared/later.ts";

interface Lease extends Stored {
  readonly spec?: { readonly renewTime?: string | null };
}

/** When a node was last heard of. */
interface Health {
  heardMicros: Micros;
  heartbeat: string;
  renewal: string;
}

type ZoneState = "normal" | "partial" | "full";

interface Zone {
  state: ZoneState;
  bucket: TokenBucket | undefined;
  /** Nodes that wait for their evicting taint, in the order of coming in. */
  readonly waiting: Set<string>;
}

export interface NodeLifecycleOptions {
  /** Default 50 s. */
  readonly gracePeriodMicros?: Micros;
  /** Of a node that has never been heard of. Default 60 s. */
  readonly startupGracePeriodMicros?: Micros;
  /** Nodes of a zone that get an evicting taint in 1,000 s. Default 100: one in ten seconds. */
  readonly evictionsPerKilosecond?: number;
  /** The same where most of a large zone is gone. Default 10. */
  readonly secondaryEvictionsPerKilosecond?: number;
}

const monitorMicros: Micros = 5_000_000;
const evictionMicros: Micros = 100_000;
const retryMicros: Micros = 50_000;
/** Of zones up to this size, nothing is evicted while most is gone. */
const largeZoneNodes = 50;
const unhealthyPercent = 55;
const watchedTypes = ["Ready", "MemoryPressure", "DiskPressure", "PIDPressure"];

/** What is known of a node: what its present version says, and when it was heard of. */
interface Known {
  node: NodeObject;
  ready: Condition | undefined;
  zone: string;
  readonly leaseKey: string;
  /** Undefined before the first look. */
  health: Health | undefined;
}

export class NodeLifecycle {
  private readonly parts: ControlParts;
  private readonly options: Required<NodeLifecycleOptions>;
  private readonly names: TaintNames;
  private readonly zoneLabels: readonly string[];
  private readonly leaseNamespace: string;
  private readonly nodes: Informer<NodeObject>;
  private readonly leases: Informer<Lease>;
  private readonly podsOn: (node: string) => readonly Pod[];
  private readonly events: EventRecorder;
  private readonly queue: WorkQueue<string>;
  private readonly known = new Map<string, Known>();
  private readonly zones = new Map<string, Zone>();
  private isMonitoring = false;
  private areAllLost = false;

  constructor(parts: ControlParts, options: NodeLifecycleOptions = {}) {
    const { client, dialect, informers } = parts;
    this.parts = parts;
    this.options = {
      gracePeriodMicros: 50_000_000,
      startupGracePeriodMicros: 60_000_000,
      evictionsPerKilosecond: 100,
      secondaryEvictionsPerKilosecond: 10,
      ...options,
    };
    this.names = taintNames(dialect);
    this.zoneLabels = [`topology.${dialect.labelSuffix}/region`, `topology.${dialect.labelSuffix}/zone`];
    this.leaseNamespace = dialect.systemNamespaces.nodeLease;
    this.nodes = informers.of<NodeObject>(collectionOf(nodeRow));
    const leaseRow: KindRow = kindRow(`${groupInDialect(dialect, "coordination.svc.io")}/v1`, "Lease", "leases");
    this.leases = informers.of<Lease>(collectionOf(leaseRow));
    this.podsOn = informers.of<Pod>(collectionOf(podRow)).indexed(({ spec }) => spec.nodeName);
    this.events = new EventRecorder(client, "node-controller");
    this.queue = queueOf(parts, "node_lifecycle_controller", (name) => this.taintByConditions(name));
  }

  start(): void {
    const { informers, client } = this.parts;
    this.nodes.hear({
      changed: (node) => this.queue.add(keyOf(node)),
      gone: (node) => {
        const { name } = node.metadata;
        this.known.delete(name);
        for (const { waiting } of this.zones.values()) waiting.delete(name);
        this.events.tell(
          this.subject(node),
          "Normal",
          "RemovingNode",
          `Node ${name} event: Removing Node ${name} from Controller`,
        );
      },
    });
    informers.onceSynced(() => {
      this.monitorAfter(0);
      later(client.process, evictionMicros, () => this.evict());
    });
  }

  /** Nodes name themselves by their name in events, not by their uid. */
  private subject(node: NodeObject) {
    return { ...subjectOf(nodeRow, node), namespace: "" };
  }

  private monitorAfter(delayMicros: Micros): void {
    later(
      this.parts.client.process,
      delayMicros,
      () => this.monitor(),
      () => {
        this.isMonitoring = false;
      },
    );
  }

  /** Every five seconds: who has not been heard of, and how the zones are. */
  private monitor(): void {
    this.monitorAfter(monitorMicros);
    if (this.isMonitoring) return;
    this.isMonitoring = true;
    runSteps(this.parts.client, this.monitorAll(), () => {
      this.isMonitoring = false;
    });
  }

  private *monitorAll(): Steps<void> {
    const counts = new Map<string, { ready: number; not: number }>();
    for (const node of [...this.nodes.all()]) {
      const known = this.factsOf(node);
      const { ready: before, zone } = known;
      const heard = this.heard(known);
      const now = heard ?? (yield* this.silence(node));
      if (now === undefined) continue;
      let count = counts.get(zone);
      if (count === undefined) counts.set(zone, (count = { ready: 0, not: 0 }));
      if (now.status === "True") count.ready++;
      else count.not++;
      this.planEviction(node, now, zone);
      if (now.status !== "True" && before?.status === "True") yield* this.tellOfLoss(node);
    }
    this.judgeZones(counts);
  }

  /** The Ready condition of a node that has been heard of, or of which it is said already that it has not. */
  private heard(known: Known): Condition | undefined {
    const { node, ready, leaseKey } = known;
    const { clock } = this.parts.client.process;
    const now = clock.nowMicros();
    const heartbeat = ready?.lastHeartbeatTime ?? "";
    const renewal = this.leases.get(leaseKey)?.spec?.renewTime ?? "";
    let { health } = known;
    if (health === undefined) {
      const { name, creationTimestamp } = node.metadata;
      // A node without a condition counts from its creation.
      const sinceCreation = Math.max(0, unixSeconds(clock) - secondsOf(creationTimestamp)) * 1_000_000;
      health = { heardMicros: ready === undefined ? now - sinceCreation : now, heartbeat, renewal };
      known.health = health;
      this.events.tell(
        this.subject(node),
        "Normal",
        "RegisteredNode",
        `Node ${name} event: Registered Node ${name} in Controller`,
      );
    } else if (health.heartbeat !== heartbeat || health.renewal < renewal) {
      health.heardMicros = now;
      health.heartbeat = heartbeat;
      if (renewal > health.renewal) health.renewal = renewal;
    }
    const { gracePeriodMicros, startupGracePeriodMicros } = this.options;
    const grace = ready === undefined ? startupGracePeriodMicros : gracePeriodMicros;
    const fallback: Condition = ready ?? { type: "Ready", status: "Unknown" };
    if (now - health.heardMicros <= grace) return fallback;
    return silenced(node, formatTime(unixSeconds(clock))) === node.status?.conditions ? fallback : undefined;
  }

  /** Makes the conditions of a silent node Unknown. Undefined when that could not be written. */
  private *silence(node: NodeObject): Steps<Condition | undefined> {
    const { clock } = this.parts.client.process;
    const conditions = silenced(node, formatTime(unixSeconds(clock)));
    const { apiVersion, kind } = nodeRow;
    const body = bodyOf({ ...node, apiVersion, kind, status: { ...node.status, conditions } });
    const answer = yield* call({ method: "PUT", path: `${pathTo(nodeRow, node)}/status`, body });
    if (!isGood(answer)) return undefined;
    // What was just written is no sign of life.
    const health = this.known.get(node.metadata.name)?.health;
    if (health === undefined) return undefined;
    health.heartbeat = nodeCondition(answer.object as unknown as NodeObject, "Ready")?.lastHeartbeatTime ?? "";
    return nodeCondition(answer.object as unknown as NodeObject, "Ready");
  }

  /** Nobody knows any more how the pods of a lost node are. */
  private *tellOfLoss(node: NodeObject): Steps<void> {
    const { name } = node.metadata;
    this.events.tell(this.subject(node), "Normal", "NodeNotReady", `Node ${name} status is now: NodeNotReady`);
    const now = formatTime(unixSeconds(this.parts.client.process.clock));
    const pods = this.podsOn(name).filter((pod) => conditionOf(pod, "Ready")?.status === "True");
    for (const pod of pods) this.events.tell(subjectOf(podRow, pod), "Warning", "NodeNotReady", "Node is not ready");
    yield* callAll(
      pods.map((pod) => {
        const conditions = pod.status?.conditions?.map((condition) =>
          condition.type === "Ready" ? { ...condition, status: "False", lastTransitionTime: now } : condition,
        );
        const body = bodyOf({ ...pod, apiVersion: "v1", kind: "Pod", status: { ...pod.status, conditions } });
        return { method: "PUT", path: `${pathTo(podRow, pod)}/status`, body };
      }),
    );
  }

  private planEviction(node: NodeObject, ready: Condition, zoneName: string): void {
    const zone = this.zoneNamed(zoneName);
    const { name } = node.metadata;
    const taints = taintsOf(node);
    if (taints.length === 0 && ready.status === "True") {
      zone.waiting.delete(name);
      return;
    }
    const has = (key: string): boolean => taints.some(isTaint(key, "NoExecute"));
    const key = this.evictingKey(ready);
    const isRight =
      has(this.names.notReady) === (key === this.names.notReady) &&
      has(this.names.unreachable) === (key === this.names.unreachable);
    if (isRight) zone.waiting.delete(name);
    else if (key === undefined || has(this.names.notReady) || has(this.names.unreachable)) this.setEvicting(name);
    else zone.waiting.add(name);
  }

  private evictingKey(ready: Condition | undefined): string | undefined {
    if (ready?.status === "False") return this.names.notReady;
    return ready?.status === "Unknown" ? this.names.unreachable : undefined;
  }

  /** The rate is the zone's. */
  private evict(): void {
    const { process } = this.parts.client;
    const { clock } = process;
    later(process, evictionMicros, () => this.evict());
    for (const zone of this.zones.values()) {
      for (const name of zone.waiting) {
        if (zone.bucket?.take(clock.nowMicros()) !== true) break;
        zone.waiting.delete(name);
        this.setEvicting(name);
      }
    }
  }

  private setEvicting(name: string): void {
    const { client } = this.parts;
    runSteps(client, this.writeEvicting(name), (isWritten) => {
      if (!isWritten) later(client.process, retryMicros, () => this.setEvicting(name));
    });
  }

  private *writeEvicting(name: string): Steps<boolean> {
    const node = this.nodes.get(name);
    if (node === undefined) return true;
    const key = this.areAllLost ? undefined : this.evictingKey(nodeCondition(node, "Ready"));
    const keys = [this.names.notReady, this.names.unreachable];
    return yield* this.writeTaints(
      node,
      (taint) => taint.effect === "NoExecute" && keys.includes(taint.key),
      key === undefined ? [] : [{ key, effect: "NoExecute" }],
    );
  }

  /** Taints against scheduling follow the conditions at once. */
  private *taintByConditions(name: string): Steps<Outcome> {
    const node = this.nodes.get(name);
    if (node === undefined) return "done";
    const wanted = schedulingTaintsOf(node, this.names);
    const mine = new Set<string>(Object.values(this.names).filter((key) => key !== this.names.outOfService));
    const isMine = ({ key, effect }: Taint): boolean => effect === "NoSchedule" && mine.has(key);
    const taints = wanted.map((key) => ({ key, effect: "NoSchedule" }));
    return (yield* this.writeTaints(node, isMine, taints)) ? "done" : "again";
  }

  /** Those of ours become these. What is there already keeps its time. */
  private *writeTaints(known: NodeObject, isMine: (taint: Taint) => boolean, wanted: readonly Taint[]): Steps<boolean> {
    if (sameTaints(taintsOf(known).filter(isMine), wanted)) return true;
    const path = pathTo(nodeRow, known);
    const { object, status } = yield* call({ method: "GET", path, query: "resourceVersion=0" });
    if (status !== 200) return status === 404;
    const node = object as unknown as NodeObject;
    const now = formatTime(unixSeconds(this.parts.client.process.clock));
    const present = taintsOf(node);
    const added = wanted.filter((taint) => !present.some(isTaint(taint.key, taint.effect)));
    const kept = present.filter(
      (taint) => !isMine(taint) || wanted.some(({ key, effect }) => isTaint(key, effect)(taint)),
    );
    if (added.length === 0 && kept.length === present.length) return true;
    const taints = [...kept, ...added.map((taint) => ({ ...taint, timeAdded: now }))];
    const metadata = { resourceVersion: node.metadata.resourceVersion ?? "" };
    const body = bodyOf({ metadata, spec: { taints: taints.length === 0 ? null : taints } });
    const contentType = "application/merge-patch+json";
    return isGood(yield* call({ method: "PATCH", path, contentType, body }));
  }

  private judgeZones(counts: ReadonlyMap<string, { readonly ready: number; readonly not: number }>): void {
    const states = new Map([...counts].map(([zone, count]) => [zone, stateOf(count)]));
    const wereAllLost = this.areAllLost;
    const areLost = states.size > 0 && [...states.values()].every((state) => state === "full");
    this.areAllLost = areLost;
    if (areLost && !wereAllLost) {
      // More likely it is this controller that hears nothing: nobody is evicted.
      for (const zone of this.zones.values()) zone.bucket = undefined;
      for (const node of this.nodes.all()) this.setEvicting(node.metadata.name);
    }
    if (wereAllLost && !areLost) {
      const now = this.parts.client.process.clock.nowMicros();
      for (const { health } of this.known.values()) if (health !== undefined) health.heardMicros = now;
    }
    for (const [name, state] of states) {
      const zone = this.zoneNamed(name);
      if (zone.state === state && !(wereAllLost && !areLost)) continue;
      zone.state = state;
      const { ready, not } = counts.get(name) as { ready: number; not: number };
      zone.bucket = areLost ? undefined : this.bucketOf(state, ready + not);
    }
  }

  private bucketOf(state: ZoneState, size: number): TokenBucket | undefined {
    const { evictionsPerKilosecond, secondaryEvictionsPerKilosecond } = this.options;
    if (state === "partial" && size <= largeZoneNodes) return undefined;
    const rate = state === "partial" ? secondaryEvictionsPerKilosecond : evictionsPerKilosecond;
    return rate === 0 ? undefined : new TokenBucket({ intervalMicros: Math.floor(1_000_000_000 / rate), burst: 1 });
  }

  /** Read once of each version of a node: it is looked at every five seconds. */
  private factsOf(node: NodeObject): Known {
    const { name, labels = {} } = node.metadata;
    const known = this.known.get(name);
    if (known?.node === node) return known;
    const ready = nodeCondition(node, "Ready");
    const zone = this.zoneLabels.map((label) => labels[label] ?? "").join("/");
    if (known !== undefined) return Object.assign(known, { node, ready, zone });
    const made = { node, ready, zone, leaseKey: `${this.leaseNamespace}/${name}`, health: undefined };
    this.known.set(name, made);
    return made;
  }

  private zoneNamed(name: string): Zone {
    let zone = this.zones.get(name);
    if (zone === undefined) {
      zone = { state: "normal", bucket: this.bucketOf("normal", 0), waiting: new Set() };
      this.zones.set(name, zone);
    }
    return zone;
  }
}

/** The same list when nothing is to be changed. */
function silenced(node: NodeObject, now: string): readonly Condition[] {
  let conditions = node.status?.conditions ?? [];
  for (const type of watchedTypes) {
    const old = conditions.find((condition) => condition.type === type);
    if (old === undefined) {
      const lastHeartbeatTime = node.metadata.creationTimestamp ?? now;
      const made = {
        type,
        status: "Unknown",
        lastHeartbeatTime,
        lastTransitionTime: now,
        reason: "NodeStatusNeverUpdated",
        message: "Kubelet never posted node status.",
      };
      conditions = [...conditions, made];
    } else if (old.status !== "Unknown") {
      const made = {
        ...old,
        status: "Unknown",
        lastTransitionTime: now,
        reason: "NodeStatusUnknown",
        message: "Kubelet stopped posting node status.",
      };
      conditions = conditions.map((each) => (each === old ? made : each));
    }
  }
  return conditions;
}

function stateOf({ ready, not }: { readonly ready: number; readonly not: number }): ZoneState {
  if (ready === 0 && not > 0) return "full";
  return not > 2 && not * 100 >= unhealthyPercent * (ready + not) ? "partial" : "normal";
}

function sameTaints(left: readonly Taint[], right: readonly Taint[]): boolean {
  return left.length === right.length && left.every(({ key, effect }) => right.some(isTaint(key, effect)));
}
