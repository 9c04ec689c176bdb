/**
 * Removes pods that nobody else will: those of nodes that are gone, those that are to go and were never on a node, and
 * the oldest of too many that have ended. Source: the published pod garbage collector.
 */
import { compareBytes } from "../../../wire/go-strings.ts";
import { formatTime } from "../../../wire/time.ts";
import type { Micros } from "../../kernel/types.ts";
import { unixSeconds } from "../event-recorder.ts";
import { collectionOf, type ControlParts, nodeRow, pathTo, podRow } from "../shared/controller.ts";
import { bodyOf, type Informer, type Lookup } from "../shared/informers.ts";
import { isTerminated } from "../shared/pods.ts";
import { call, isGood, runSteps, type Steps } from "../shared/steps.ts";
import type { NodeObject, Pod } from "../shared/stored.ts";
import { taintNames, taintsOf } from "./node-conditions.ts";
import { later } from "../shared/later.ts";

const periodMicros: Micros = 20_000_000;
/** A node must have been missing for so long. */
const quarantineMicros: Micros = 40_000_000;

/** The one value of an index that is a class of its own. */
const everywhere = "*";

export interface PodCollectorOptions {
  /** Ended pods beyond this number go, the oldest first. Default 12,500; 0 keeps all. */
  readonly terminatedPodsMax?: number;
}

export class PodCollector {
  private readonly parts: ControlParts;
  private readonly terminatedPodsMax: number;
  /** Of each class, those of which something may have to be done: most pods run, and are in none. */
  private readonly ended: Lookup<Pod>;
  private readonly going: Lookup<Pod>;
  private readonly byNode: Lookup<Pod>;
  private readonly nodes: Informer<NodeObject>;
  /** Nodes that pods name and that are not there, since when. */
  private readonly missing = new Map<string, Micros>();
  private isBusy = false;

  constructor(parts: ControlParts, { terminatedPodsMax = 12_500 }: PodCollectorOptions = {}) {
    this.parts = parts;
    this.terminatedPodsMax = terminatedPodsMax;
    const pods = parts.informers.of<Pod>(collectionOf(podRow));
    this.ended = pods.indexed((pod) => (isTerminated(pod) ? everywhere : undefined));
    this.going = pods.indexed(({ metadata }) => (metadata.deletionTimestamp === undefined ? undefined : everywhere));
    this.byNode = pods.indexed(({ spec }) => spec.nodeName);
    this.nodes = parts.informers.of<NodeObject>(collectionOf(nodeRow));
  }

  start(): void {
    this.parts.informers.onceSynced(() => this.collectLater());
  }

  private collectLater(): void {
    const { client } = this.parts;
    const end = (): void => {
      this.isBusy = false;
    };
    const collect = (): void => {
      this.collectLater();
      if (this.isBusy) return;
      this.isBusy = true;
      runSteps(client, this.collect(), end);
    };
    later(client.process, periodMicros, collect, end);
  }

  private *collect(): Steps<void> {
    yield* this.collectTerminated();
    yield* this.collectOfLostNodes();
    yield* this.collectOrphaned();
    for (const pod of this.going(everywhere)) {
      if ((pod.spec.nodeName ?? "") === "") yield* this.remove(pod, undefined);
    }
  }

  private *collectTerminated(): Steps<void> {
    if (this.terminatedPodsMax === 0) return;
    const ended = this.ended(everywhere);
    const many = ended.length - this.terminatedPodsMax;
    if (many <= 0) return;
    const ageOf = ({ metadata }: Pod): string => `${metadata.creationTimestamp ?? ""} ${metadata.name}`;
    const oldest = [...ended].sort((left, right) => compareBytes(ageOf(left), ageOf(right))).slice(0, many);
    for (const pod of oldest) yield* this.remove(pod, undefined);
  }

  /** Somebody says that the node will not come back. */
  private *collectOfLostNodes(): Steps<void> {
    const { outOfService } = taintNames(this.parts.dialect);
    for (const pod of this.going(everywhere)) {
      const node = this.nodes.get(pod.spec.nodeName ?? "");
      const isReady =
        node?.status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True") ?? false;
      if (node === undefined || isReady || !taintsOf(node).some(({ key }) => key === outOfService)) continue;
      yield* this.remove(pod, undefined);
    }
  }

  private *collectOrphaned(): Steps<void> {
    const now = this.parts.client.process.clock.nowMicros();
    const named = new Set<string>();
    for (const nodeName of this.byNode.values()) {
      if (nodeName === "" || this.nodes.get(nodeName) !== undefined) continue;
      named.add(nodeName);
      if (!this.missing.has(nodeName)) this.missing.set(nodeName, now);
    }
    for (const [name, since] of [...this.missing]) {
      if (!named.has(name)) this.missing.delete(name);
      else if (now - since >= quarantineMicros) {
        // The cache may be behind.
        const { status } = yield* call({ method: "GET", path: `${collectionOf(nodeRow)}/${name}` });
        if (status !== 404) continue;
        for (const pod of this.byNode(name)) yield* this.remove(pod, "PodGC: node no longer exists");
      }
    }
  }

  /** At once. One that has not ended is said to have failed, and with a `reason` why. */
  private *remove(pod: Pod, message: string | undefined): Steps<void> {
    const path = pathTo(podRow, pod);
    if (!isTerminated(pod)) {
      const lastTransitionTime = formatTime(unixSeconds(this.parts.client.process.clock));
      const condition = {
        type: "DisruptionTarget",
        status: "True",
        reason: "DeletionByPodGC",
        message: message ?? "",
        lastTransitionTime,
      };
      const conditions = message === undefined ? {} : { conditions: [condition] };
      const body = bodyOf({ metadata: { uid: pod.metadata.uid }, status: { phase: "Failed", ...conditions } });
      const contentType = "application/strategic-merge-patch+json";
      const answer = yield* call({ method: "PATCH", path: `${path}/status`, contentType, body });
      if (!isGood(answer)) return;
    }
    const body = bodyOf({
      apiVersion: "v1",
      kind: "DeleteOptions",
      gracePeriodSeconds: 0,
      preconditions: { uid: pod.metadata.uid },
    });
    yield* call({ method: "DELETE", path, body });
  }
}
