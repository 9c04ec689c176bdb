/**
 * Deletes pods from nodes with evicting taints: at once, or when the time that they tolerate is over.
 * Source: the published taint eviction controller.
 */
import { formatTime } from "../../../wire/time.ts";
import { secondsTolerated } from "../../../wire/tolerations.ts";
import type { Cancel, Micros } from "../../kernel/types.ts";
import { EventRecorder, unixSeconds } from "../event-recorder.ts";
import { collectionOf, type ControlParts, nodeRow, partsOf, pathTo, podRow, subjectOf } from "../shared/controller.ts";
import { bodyOf, type Informer, keyOf } from "../shared/informers.ts";
import { call, isGood, runSteps, type Steps } from "../shared/steps.ts";
import type { NodeObject, Pod } from "../shared/stored.ts";
import { taintsOf } from "./node-conditions.ts";
import { later } from "../shared/later.ts";

interface Planned {
  readonly atMicros: Micros;
  readonly sinceMicros: Micros;
  readonly cancel: Cancel;
}

/** Between hearing of a taint and acting on it. */
const stepMicros: Micros = 10_000;
const retryMicros: Micros = 10_000;
const triesMax = 5;

export class TaintEviction {
  private readonly parts: ControlParts;
  private readonly nodes: Informer<NodeObject>;
  private readonly pods: Informer<Pod>;
  private readonly podsOn: (node: string) => readonly Pod[];
  private readonly events: EventRecorder;
  /** By the pod's key. */
  private readonly planned = new Map<string, Planned>();

  constructor(parts: ControlParts) {
    this.parts = parts;
    this.nodes = parts.informers.of<NodeObject>(collectionOf(nodeRow));
    this.pods = parts.informers.of<Pod>(collectionOf(podRow));
    this.podsOn = this.pods.indexed(({ spec }) => spec.nodeName);
    this.events = new EventRecorder(parts.client, "taint-eviction-controller");
  }

  start(): void {
    this.nodes.hear({
      changed: (node, before) => {
        if (evictingText(node) === evictingText(before)) return;
        for (const pod of this.podsOn(node.metadata.name)) this.plan(pod, node);
      },
      gone: (node) => {
        for (const pod of this.podsOn(node.metadata.name)) this.forget(keyOf(pod));
      },
    });
    this.pods.hear({
      changed: (pod) => {
        const node = this.nodes.get(pod.spec.nodeName ?? "");
        if (node !== undefined) this.plan(pod, node);
      },
      gone: (pod) => this.forget(keyOf(pod)),
    });
  }

  private plan(pod: Pod, node: NodeObject): void {
    const key = keyOf(pod);
    const { clock } = this.parts.client.process;
    const taints = taintsOf(node).filter(({ effect }) => effect === "NoExecute");
    const planned = this.planned.get(key);
    if (pod.metadata.deletionTimestamp !== undefined) return this.forget(key);
    const seconds = secondsTolerated(taints, pod.spec.tolerations ?? []);
    if (taints.length === 0 || seconds === Infinity) {
      if (planned === undefined) return;
      this.forget(key);
      this.events.tell(subjectOf(podRow, pod), "Normal", "TaintManagerEviction", `Cancelling deletion of Pod ${key}`);
      return;
    }
    const sinceMicros = planned?.sinceMicros ?? clock.nowMicros();
    const atMicros = Math.max(clock.nowMicros() + stepMicros, sinceMicros + seconds * 1_000_000);
    // What was planned sooner stays; a longer time does not save it.
    if (planned !== undefined && planned.atMicros <= atMicros) return;
    planned?.cancel();
    const cancel = later(this.parts.client.process, atMicros - clock.nowMicros(), () => {
      this.planned.delete(key);
      this.events.tell(subjectOf(podRow, pod), "Normal", "TaintManagerEviction", `Marking for deletion Pod ${key}`);
      this.evict(key, pod.metadata.uid, 1);
    });
    this.planned.set(key, { atMicros, sinceMicros, cancel });
  }

  private forget(key: string): void {
    this.planned.get(key)?.cancel();
    this.planned.delete(key);
  }

  private evict(key: string, uid: string, tries: number): void {
    const { client } = this.parts;
    runSteps(client, this.delete(key, uid), (isDone) => {
      if (!isDone && tries < triesMax) later(client.process, retryMicros, () => this.evict(key, uid, tries + 1));
    });
  }

  /** False when it is to be tried again. */
  private *delete(key: string, uid: string): Steps<boolean> {
    const [namespace, name] = partsOf(key);
    const path = `${collectionOf(podRow, namespace)}/${name}`;
    const { status, object } = yield* call({ method: "GET", path });
    const pod = object as unknown as Pod;
    if (status === 404 || (status === 200 && pod.metadata.uid !== uid)) return true;
    if (status !== 200 || !(yield* this.mark(pod))) return false;
    const answer = yield* call({ method: "DELETE", path });
    return isGood(answer) || answer.status === 404;
  }

  /** It is told why the pod goes. */
  private *mark(pod: Pod): Steps<boolean> {
    const now = formatTime(unixSeconds(this.parts.client.process.clock));
    const condition = {
      type: "DisruptionTarget",
      status: "True",
      reason: "DeletionByTaintManager",
      message: "Taint manager: deleting due to NoExecute taint",
      lastTransitionTime: now,
    };
    const body = bodyOf({ metadata: { uid: pod.metadata.uid }, status: { conditions: [condition] } });
    const contentType = "application/strategic-merge-patch+json";
    const answer = yield* call({ method: "PATCH", path: `${pathTo(podRow, pod)}/status`, contentType, body });
    return isGood(answer) || answer.status === 404;
  }
}

function evictingText(node: NodeObject | undefined): string {
  if (node === undefined) return "";
  return taintsOf(node)
    .filter(({ effect }) => effect === "NoExecute")
    .map(({ key, value = "" }) => `${key}=${value}`)
    .join();
}
