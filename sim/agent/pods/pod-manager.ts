/**
 * All pods of an agent: from their sources, through admission, to their workers, until nothing is left of them. What runs
 * in the runtime under a pod that nobody knows is stopped. Source: the facts, Pod sources, Loops, Admission.
 */
import type { JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import { jsonEqual } from "../../objects/equality.ts";
import type { Json } from "../../contract/http-message.ts";
import type { Micros, Prng, Process } from "../../kernel/types.ts";
import type { ActivePod, ActivePods, AgentEvents, ContainerGarbage, PodEnd, Rejection } from "../ports.ts";
import type { StaticPodLaw } from "../sources/static-pod.ts";
import type { CriCaller } from "../runtime/cri-caller.ts";
import type { Garbage } from "../runtime/garbage.ts";
import type { PodChange } from "../runtime/relist.ts";
import type { RuntimePod } from "../runtime/runtime-pod.ts";
import { killRuntimePod } from "../runtime/stopping.ts";
import type { AllocationStore } from "./allocation-store.ts";
import { lacksReadiness } from "./conditions.ts";
import { HeldPod, type PodSource } from "./held-pod.ts";
import { giveResources, type ResizeRefusal } from "./pod-resize.ts";
import { isTerminalPhase, podOf, type PodStatus } from "./pod-types.ts";
import { kept, later, piece } from "../piece.ts";
import { microsOfSeconds } from "../seconds.ts";
import { Ticks } from "../ticks.ts";
import type { StatusManager } from "./status-manager.ts";
import type { Workers } from "./workers.ts";

const housekeepingMicros: Micros = 2_000_000;
/** How long an end is waited for, at least. */
const killMicrosMin: Micros = 10_000_000;
/** What an exception has ended is tried again after so long. */
const failedMicros: Micros = 10_000_000;
const successorMicrosMin: Micros = 10_000_000;
const successorMicrosMax: Micros = 15_000_000;

/** How a pod ends that makes room for a critical one. Source: the published agent's texts. */
const preempted = {
  reason: "Preempting",
  message: "Preempted in order to admit critical pod",
  condition: {
    type: "DisruptionTarget",
    reason: "TerminationByKubelet",
    message: "Pod was preempted by Kubelet to accommodate a critical pod.",
  },
} as const;

export interface PodManagerOptions {
  readonly process: Process;
  readonly cri: CriCaller;
  readonly events: AgentEvents;
  readonly sources: readonly PodSource[];
  /** Victims: those that have to go before the pod can run. */
  readonly admit: (
    pod: ActivePod,
    others: readonly ActivePod[],
  ) => Rejection | { readonly victims: readonly ActivePod[] } | undefined;
  readonly changed: () => void;
  /** The same of a running pod that wants other resources; undefined: it may have them. */
  readonly resize: (
    pod: ActivePod,
    others: readonly ActivePod[],
  ) => ResizeRefusal | { readonly victims: readonly ActivePod[] } | undefined;
  /** What pods have been given. Undefined: what their sources ask for, at once. */
  readonly allocations: AllocationStore | undefined;
  /** Asked anew at each decision. */
  readonly staticPods: () => Pick<StaticPodLaw, "waitsFor">;
  /** Mirrors that the API server has, and how to be rid of one. */
  readonly mirrors: () => { names(): readonly string[]; drop(fullName: string): void } | undefined;
  /** Nothing of the pod is left: its directory may go. */
  readonly directoryUnused: (uid: string) => void;
}

/** Who hears what sources have. */
export type SourceHearer = Pick<PodManager, "replace" | "changed" | "gone" | "isSure">;

export class PodManager implements ActivePods, ContainerGarbage {
  readonly held = new Map<string, HeldPod>();
  workers!: Workers;
  statuses!: StatusManager;
  garbage!: Garbage;
  private readonly options: PodManagerOptions;
  private readonly ready = new Set<PodSource>();
  /** Whose pods have all been let in or refused. */
  private readonly listed = new Set<PodSource>();
  private readonly view = new Map<string, RuntimePod>();
  private viewVersion = 0;
  /** Of the view's containers, at the version at which they were last asked for. */
  private inUse: ReadonlySet<string> = new Set();
  private inUseVersion = -1;
  private readonly killing = new Set<string>();
  /** Static pods that wait until another of their name is gone, or until they themselves are. */
  private readonly successors = new Map<string, { readonly object: JsonObject; readonly source: PodSource }>();
  /** Pods that came while room is made for a critical one: until then none is let in. */
  private readonly coming = new Map<string, { readonly object: JsonObject; readonly source: PodSource }>();
  /** Pods whose source has told of them in vain, since that threw: it is taken again. */
  private readonly untaken = new Map<string, { readonly object: JsonObject; readonly source: PodSource }>();
  private makingRoomFor = 0;
  private activeCache: readonly HeldPod[] | undefined;
  private readonly housekeeping: Ticks;
  private readonly prng: Prng;

  constructor(options: PodManagerOptions) {
    this.options = options;
    this.prng = options.process.prng.stream("static pods");
    this.housekeeping = new Ticks(options.process, "housekeeping", housekeepingMicros, () => this.keepHouse());
  }

  start(): void {
    this.housekeeping.start();
    this.housekeeping.ask();
  }

  get isSure(): boolean {
    return this.options.sources.every((source) => this.ready.has(source));
  }

  /** Every pod of every source is held. */
  get isWhole(): boolean {
    return this.untaken.size === 0 && this.isListed;
  }

  /** But for those that could not be taken. */
  private get isListed(): boolean {
    return this.coming.size === 0 && this.options.sources.every((source) => this.listed.has(source));
  }

  // What sources say.

  /** Everything that a source has. */
  replace(source: PodSource, objects: readonly JsonObject[]): void {
    const first = !this.ready.has(source);
    this.ready.add(source);
    const uids = new Set(objects.map((object) => metadataOf(object).uid));
    for (const held of [...this.held.values()]) {
      if (held.source === source && !uids.has(held.uid)) this.gone(held.uid);
    }
    for (const [name, next] of this.successors) {
      if (next.source === source && !uids.has(metadataOf(next.object).uid)) this.successors.delete(name);
    }
    for (const each of [this.coming, this.untaken]) {
      for (const [uid, next] of each) if (next.source === source && !uids.has(uid)) each.delete(uid);
    }
    for (const object of byAge(objects)) this.changed(source, object);
    this.listed.add(source);
    if (first) this.housekeeping.ask();
  }

  changed(source: PodSource, object: JsonObject): void {
    this.take(source, object, () => this.hear(source, object));
  }

  /** What a source says of one pod. An exception costs this pod alone its turn; what was said is taken again later. */
  private take(source: PodSource, object: JsonObject, work: () => void): void {
    const { process } = this.options;
    const { uid = "", name, namespace } = metadataOf(object);
    this.untaken.delete(uid);
    const what = (): string => `pod ${namespace}/${name} (${uid}) as its source has it`;
    piece(process, "pod-source", what, work, () => {
      const again = { source, object };
      this.untaken.set(uid, again);
      const held = this.held.get(uid);
      if (held?.isTaken === false) {
        this.held.delete(uid);
        this.activeCache = undefined;
      }
      later(process, failedMicros, () => {
        if (this.untaken.get(uid) !== again) return;
        this.take(source, object, () => {
          this.hear(source, object);
          const known = this.held.get(uid);
          if (known === undefined) return;
          this.touched();
          if (known.isRejected) this.statuses.set(known, known.status ?? {}, true);
          else this.workers.update(known);
        });
      });
    });
  }

  private hear(source: PodSource, object: JsonObject): void {
    const { uid = "" } = metadataOf(object);
    const held = this.held.get(uid);
    if (held === undefined) {
      const { name, namespace } = metadataOf(object);
      const next = this.successors.get(`${name}_${namespace}`);
      if (next === undefined || metadataOf(next.object).uid !== uid) this.add(source, object);
      return;
    }
    if (held.isGone) {
      // It came back before it was gone: it begins anew once it is.
      this.successors.set(held.fullName, { object, source });
      return;
    }
    const before = held.asked;
    held.adopt(object);
    if (held.wanted !== undefined && this.options.allocations === undefined) held.take();
    if (held.source === "api") this.statuses.heard(held, object);
    if (held.isRejected) {
      if (metadataOf(object).deletionTimestamp !== undefined) this.finishRejected(held);
      return;
    }
    if (!isSameWish(before, object)) {
      this.touched();
      this.workers.update(held);
    } else if (held.source === "api" && lacksReadiness(podOf(object))) this.workers.update(held);
  }

  /** The source has it no more. */
  gone(uid: string): void {
    this.coming.delete(uid);
    this.untaken.delete(uid);
    const held = this.held.get(uid);
    if (held === undefined || held.isGone) return;
    const what = (): string => `pod ${held.namespace}/${held.name} (${uid}), which its source has no more`;
    const end = (): void => {
      held.isGone = true;
      this.touched();
      if (held.isRejected) held.isFinished = true;
      else this.workers.terminate(held, undefined);
    };
    const again = (): void => {
      const { process } = this.options;
      later(process, failedMicros, () => {
        if (this.held.get(uid) === held) piece(process, "pod-source", what, end, again);
      });
    };
    piece(this.options.process, "pod-source", what, end, again);
  }

  private add(source: PodSource, object: JsonObject): void {
    const { process, staticPods } = this.options;
    if (this.makingRoomFor > 0) {
      this.coming.set(metadataOf(object).uid ?? "", { object, source });
      return;
    }
    const held = new HeldPod(object, source, process.clock.nowMicros());
    const known = this.view.get(held.uid);
    const { waitsFor } = staticPods();
    const before = held.isStatic
      ? [...this.held.values()].find((other) => other.isStatic && waitsFor(held, other))
      : undefined;
    if (before !== undefined) {
      before.mirror = undefined; // it is the other's now
      this.successors.set(held.fullName, { object, source });
      this.lookForSuccessor(held.fullName);
      return;
    }
    if (source === "api") this.options.allocations?.recall(held);
    const others = this.others(held);
    this.held.set(held.uid, held);
    if (known !== undefined) held.runtimePod = known;
    this.touched();
    const { deletionTimestamp } = metadataOf(object);
    const hasEnded = isTerminalPhase(podOf(object).status?.phase);
    if (source === "api" && hasEnded && !isUp(held.runtimePod)) {
      // It has ended before this agent began: only its deletion may be left to do.
      held.state = "terminated";
      held.graceSeconds = 1;
      held.isTaken = true;
    } else if (deletionTimestamp === undefined) {
      const admission = this.options.admit(held, others);
      held.isTaken = true;
      if (admission !== undefined && "reason" in admission) {
        this.reject(held, admission);
        return;
      }
      if (admission !== undefined) this.makeRoom(held, admission.victims);
    }
    held.isTaken = true;
    this.workers.update(held);
  }

  /** Whose requests count beside the pod's. */
  private others(pod: HeldPod): readonly HeldPod[] {
    return this.active().filter((each) => each !== pod && !each.isRejected);
  }

  /** The pod wants other resources than it has: containers that are given some now. */
  resize(held: HeldPod): readonly string[] {
    if (!this.isListed) {
      // Others that are here already may not have been told of yet: it is looked at again with the runtime's next list.
      this.workers.update(held);
      return [];
    }
    const notSupported = { reason: "Infeasible", message: "In-place resize of static-pods is not supported" } as const;
    const answer = held.isStatic ? notSupported : this.options.resize(held.asWanted, this.others(held));
    if (answer !== undefined && "victims" in answer) {
      this.makeRoom(held, answer.victims);
      return [];
    }
    held.resizeRefusal = answer;
    const given = answer === undefined ? giveResources(held) : [];
    this.options.allocations?.changed();
    return given;
  }

  private reject(held: HeldPod, { reason, message }: Rejection): void {
    held.isRejected = true;
    held.state = "terminated";
    this.options.events.pod(held.object, "Warning", reason, message);
    const status: PodStatus = { phase: "Failed", reason, message: `Pod was rejected: ${message}`, qosClass: held.qos };
    this.statuses.set(held, status);
  }

  /**
   * Stops the victims one after another; the pod begins when the last of them is gone, or slow to go. Whoever comes meanwhile
   * waits as well, so that nobody takes the room; and nothing is taken for unknown, since those who wait may run already.
   */
  private makeRoom(held: HeldPod, victims: readonly ActivePod[]): void {
    held.awaitsRoom = true;
    this.makingRoomFor++;
    const rest = victims.values();
    let isMade = false;
    const made = (): void => {
      if (isMade) return;
      isMade = true;
      held.awaitsRoom = false;
      this.makingRoomFor--;
      if (this.held.get(held.uid) === held) this.workers.update(held);
      this.letIn();
    };
    const next = (): void => {
      const { value: victim, done } = rest.next();
      if (done === true) {
        made();
        return;
      }
      this.options.events.pod(victim.object, "Warning", preempted.reason, preempted.message);
      this.kill(
        victim.uid,
        { ...preempted, graceSeconds: podOf(victim.object).spec.terminationGracePeriodSeconds ?? 30 },
        nextAlone,
      );
    };
    // Whatever the end of one of them throws, nobody waits for the room for ever.
    const what = (): string => `room for pod ${held.namespace}/${held.name} (${held.uid})`;
    const nextAlone = (): void => piece(this.options.process, "pod-source", what, next, made);
    nextAlone();
  }

  /** Those who have waited, in the order in which they came, until there is room to be made for one of them. */
  private letIn(): void {
    for (const [uid, next] of [...this.coming]) {
      if (this.makingRoomFor > 0) return;
      if (this.coming.delete(uid)) this.addTaken(next);
    }
    this.housekeeping.ask();
  }

  private finishRejected(held: HeldPod): void {
    if (held.isFinished) return;
    held.isFinished = true;
    this.statuses.set(held, held.status ?? {}, true);
  }

  // What the runtime shows.

  relisted(changes: readonly PodChange[]): void {
    if (changes.length > 0) this.viewVersion++;
    for (const { uid, pod } of changes) {
      if (pod === undefined) this.view.delete(uid);
      else this.view.set(uid, pod);
      const held = this.held.get(uid);
      if (held === undefined) this.housekeeping.ask();
      else if (pod !== undefined) held.runtimePod = pod;
      else held.runtimePod = { ...held.runtimePod, sandboxes: [], containers: [], seenMicros: -1 };
    }
    this.workers.looked();
    if (changes.length === 0) return;
    this.garbage.dirty();
    this.housekeeping.ask();
    for (const { uid, pod, matters, died } of changes) {
      const held = this.held.get(uid);
      if (held !== undefined && matters) this.workers.update(held);
      if (died.length > 0 && pod !== undefined) this.garbage.trim(pod, died, this.isRemovable(uid));
    }
  }

  /** Grows when what `pods` tells has changed. */
  get podsVersion(): number {
    return this.viewVersion;
  }

  pods(): Iterable<RuntimePod> {
    return this.view.values();
  }

  /** Everything of it may go: it was evicted, or it has ended and its source wants it gone. */
  isRemovable(uid: string): boolean {
    const held = this.held.get(uid);
    if (held === undefined) return this.isSure && !this.has(uid);
    const isDeleted = held.isGone || held.pod.metadata.deletionTimestamp !== undefined;
    return held.isEvicted || (isDeleted && held.state === "terminated");
  }

  hasEnded(uid: string): boolean {
    const held = this.held.get(uid);
    return held === undefined ? this.isSure && !this.has(uid) : held.state === "terminated";
  }

  /** Something runs under the pod's name that nobody knows: it is stopped, and until then the name is taken. */
  hasPredecessor(held: HeldPod): boolean {
    const { waitsFor } = this.options.staticPods();
    for (const pod of this.view.values()) {
      if (pod.uid === held.uid || !waitsFor(held, pod)) continue;
      if (isUp(pod) && !this.has(pod.uid)) return true;
    }
    return false;
  }

  private keepHouse(): void {
    if (!this.isSure) {
      this.housekeeping.ask();
      return;
    }
    if (this.makingRoomFor > 0) return; // it is asked for when that is done
    const { process, cri, mirrors: mirrorsOf } = this.options;
    for (const held of [...this.held.values()]) {
      if (!held.isGone || !held.isFinished) continue;
      piece(
        process,
        "housekeeping",
        () => `end of pod ${held.namespace}/${held.name} (${held.uid})`,
        () => this.forget(held),
        () => this.housekeeping.ask(),
      );
    }
    const mirrors = mirrorsOf();
    for (const name of mirrors?.names() ?? []) {
      if (!this.successors.has(name) && this.staticNamed(name) === undefined && !this.endsStatic(name))
        mirrors?.drop(name);
    }
    for (const pod of this.view.values()) {
      if (this.has(pod.uid) || !isUp(pod) || this.killing.has(pod.uid)) continue;
      this.killing.add(pod.uid);
      const ended = (): void => {
        this.killing.delete(pod.uid);
        this.housekeeping.ask();
      };
      piece(
        process,
        "housekeeping",
        () => `end of pod ${pod.namespace}/${pod.name} (${pod.uid}), which no source has`,
        () => killRuntimePod({ cri, pod: undefined, podIp: "", tell: () => {} }, pod, ended),
        () => void later(process, failedMicros, ended),
      );
    }
  }

  /** A static pod of this name is still being stopped. */
  private endsStatic(fullName: string): boolean {
    return [...this.held.values()].some((held) => held.isStatic && held.fullName === fullName && !held.isFinished);
  }

  private forget(held: HeldPod): void {
    this.workers.forget(held);
    this.held.delete(held.uid);
    this.touched();
    this.garbage.dirty();
    const next = this.successors.get(held.fullName);
    // One that came back as it was begins at once; another of its name looks from time to time.
    if (next === undefined || metadataOf(next.object).uid !== held.uid) {
      this.options.directoryUnused(held.uid);
      return;
    }
    this.successors.delete(held.fullName);
    this.addTaken(next);
  }

  private addTaken({ source, object }: { readonly source: PodSource; readonly object: JsonObject }): void {
    this.take(source, object, () => this.add(source, object));
  }

  /** A static pod that waits for another of its name looks every ten to fifteen seconds whether that has ended. */
  private lookForSuccessor(fullName: string): void {
    later(this.options.process, this.prng.intInclusive(successorMicrosMin, successorMicrosMax), () => {
      const next = this.successors.get(fullName);
      if (next === undefined) return;
      if ([...this.held.values()].some((held) => held.isStatic && held.fullName === fullName)) {
        this.lookForSuccessor(fullName);
        return;
      }
      this.successors.delete(fullName);
      this.addTaken(next);
    });
  }

  // What others ask.

  active(): readonly HeldPod[] {
    this.activeCache ??= [...this.held.values()]
      .filter(({ state }) => state !== "terminated")
      .sort((one, other) => order(one.namespace, other.namespace) || order(one.name, other.name));
    return this.activeCache;
  }

  has(uid: string): boolean {
    return this.held.has(uid) || this.coming.has(uid) || this.untaken.has(uid);
  }

  kill(uid: string, end: PodEnd, done: (outcome: "stopped" | "slow") => void): void {
    const held = this.held.get(uid);
    if (held === undefined || held.state === "terminated") {
      done("stopped");
      return;
    }
    let isOver = false;
    const told = kept(done);
    const finish = (outcome: "stopped" | "slow"): void => {
      if (isOver) return;
      isOver = true;
      cancel();
      told(outcome);
    };
    const slowMicros = Math.max(killMicrosMin, Math.floor(1.5 * microsOfSeconds(end.graceSeconds)));
    const cancel = later(this.options.process, slowMicros, () => finish("slow"));
    (held.whenStopped ??= []).push(() => finish("stopped"));
    this.workers.terminate(held, end.graceSeconds, end);
  }

  isCleanedUp(uid: string): boolean {
    const pod = this.view.get(uid);
    const held = this.held.get(uid);
    return (held === undefined || held.isFinished) && (pod === undefined || !isUp(pod));
  }

  deleteUnused(done: () => void): void {
    this.garbage.collect(true, done);
  }

  imagesInUse(): ReadonlySet<string> {
    if (this.inUseVersion === this.viewVersion) return this.inUse;
    const images = new Set<string>();
    for (const { containers } of this.view.values()) {
      for (const { image, imageRef } of containers) {
        images.add(image);
        images.add(imageRef);
      }
    }
    this.inUse = images;
    this.inUseVersion = this.viewVersion;
    return images;
  }

  staticNamed(fullName: string): HeldPod | undefined {
    for (const held of this.held.values()) if (held.isStatic && held.fullName === fullName && !held.isGone) return held;
    return undefined;
  }

  /** There may be mirrors of pods that are no more. */
  lookAfterMirrors(): void {
    this.housekeeping.ask();
  }

  /** A pod went on to another state. */
  moved(): void {
    this.touched();
    this.garbage.dirty();
  }

  private touched(): void {
    this.activeCache = undefined;
    this.housekeeping.ask();
    this.options.changed();
  }
}

/** Those that were made first come first. */
export function byAge(objects: readonly JsonObject[]): readonly JsonObject[] {
  return objects.toSorted((one, other) => {
    const [a, b] = [metadataOf(one).creationTimestamp ?? "", metadataOf(other).creationTimestamp ?? ""];
    return a < b ? -1 : a > b ? 1 : 0;
  });
}

const order = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

function isUp({ containers, sandboxes }: RuntimePod): boolean {
  return (
    containers.some(({ state }) => state === "CONTAINER_RUNNING") ||
    sandboxes.some(({ state }) => state === "SANDBOX_READY")
  );
}

/** What the pod is to be has not changed: statuses come and go without a worker's looking. */
export function isSameWish(before: JsonObject, after: JsonObject): boolean {
  const [old, now] = [metadataOf(before), metadataOf(after)];
  return (
    old.deletionTimestamp === now.deletionTimestamp &&
    old.deletionGracePeriodSeconds === now.deletionGracePeriodSeconds &&
    same(before["spec"], after["spec"]) &&
    same(old.labels as Json, now.labels as Json) &&
    same(old.annotations as Json, now.annotations as Json)
  );
}

const same = (one: Json | undefined, other: Json | undefined): boolean => one === other || jsonEqual(one, other);
