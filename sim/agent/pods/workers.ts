/**
 * One worker a pod, as a state: syncing, terminating, terminated; never back. A worker looks again when something
 * happened, but only at what the runtime has shown since it last did something. What is due later waits in one queue,
 * which is looked at once a second. Source: the facts, Loops and Stopping.
 */
import type { Micros, Prng, Process } from "../../kernel/types.ts";
import type { PodEnd } from "../ports.ts";
import { piece } from "../piece.ts";
import { run } from "../task.ts";
import { Ticks } from "../ticks.ts";
import type { HeldPod } from "./held-pod.ts";
import { isTerminalPhase } from "./pod-types.ts";
import { leaveVolumes } from "./pod-volumes.ts";
import { deadlineOf, type PodSync, type SyncOutcome } from "./pod-sync.ts";

const tickMicros: Micros = 1_000_000;
const failedMicros: Micros = 10_000_000;
const networkMicros: Micros = 1_000_000;

export interface WorkersOptions {
  readonly process: Process;
  readonly sync: PodSync;
  readonly syncFrequencyMicros: Micros;
  /** When the newest look at the whole runtime began; -1: there was none. */
  readonly lookMicros: () => Micros;
  readonly all: () => Iterable<HeldPod>;
  /** The pod went on to another state. */
  readonly moved: (held: HeldPod) => void;
  /** Somebody waits for a new look. */
  readonly wantLook: () => void;
  /** Another pod of its name still runs, which an earlier agent has left. */
  readonly mustWait: (held: HeldPod) => boolean;
  /** The runtime does not answer: nothing is begun. */
  readonly isHeldUp: () => boolean;
}

export class Workers {
  private readonly options: WorkersOptions;
  private readonly prng: Prng;
  private readonly waiting = new Set<HeldPod>();
  private readonly ticks: Ticks;

  constructor(options: WorkersOptions) {
    this.options = options;
    this.prng = options.process.prng.stream("workers");
    this.ticks = new Ticks(options.process, "pod-worker", tickMicros, () => this.tick());
  }

  start(): void {
    this.ticks.start();
  }

  /** Whether a pod waits for a look at the runtime. */
  get isWaiting(): boolean {
    return this.waiting.size > 0;
  }

  private tick(): void {
    const { process, all } = this.options;
    const nowMicros = process.clock.nowMicros();
    let nextMicros = Infinity;
    for (const held of all()) {
      if (held.dueMicros <= nowMicros) {
        held.dueMicros = Infinity;
        this.update(held);
      }
      nextMicros = Math.min(nextMicros, held.dueMicros);
    }
    this.ticks.ask(nextMicros);
  }

  /** Something happened: the pod is looked at, or looked at again. */
  update(held: HeldPod): void {
    this.alone(held, () => {
      if (held.state === "syncing" && held.graceSeconds === 0 && mustEnd(held)) this.shorten(held, undefined);
      held.hasPending = true;
      this.advance(held);
    });
  }

  /** Work on one pod: an exception in it costs this pod its turn, which is tried again as after a failure, and nobody else anything. */
  private alone(held: HeldPod, work: () => void): void {
    const { process } = this.options;
    const { namespace, name, uid } = held;
    const what = (): string => `work of pod ${namespace}/${name} (${uid})`;
    piece(process, "pod-worker", what, work, () => {
      this.waiting.delete(held);
      held.isWaiting = false;
      held.steady = undefined;
      const { running } = held;
      held.running = undefined;
      running?.();
      this.ended(held, "failed");
    });
  }

  /** The pod is to be looked at by then, if not before. */
  lookBy(held: HeldPod, micros: Micros): void {
    held.dueMicros = Math.min(held.dueMicros, micros);
    this.ticks.ask(held.dueMicros);
  }

  /** The pod has to end, within so many seconds if they are given; a grace period only ever shrinks. */
  terminate(held: HeldPod, graceSeconds: number | undefined, end?: PodEnd): void {
    if (held.state === "terminated") return;
    if (end !== undefined) {
      held.isEvicted = true;
      (held.ends ??= []).push(end);
    }
    this.alone(held, () => {
      this.shorten(held, graceSeconds);
      held.hasPending = true;
      this.advance(held);
    });
  }

  private shorten(held: HeldPod, graceSeconds: number | undefined): void {
    const { metadata, spec } = held.pod;
    const before = held.graceSeconds;
    let grace = before;
    let isGiven = false;
    for (const asked of [metadata.deletionGracePeriodSeconds, graceSeconds]) {
      if (asked === undefined) continue;
      isGiven = true;
      if (grace === 0 || asked < grace) grace = asked;
    }
    if (!isGiven && grace === 0) grace = spec.terminationGracePeriodSeconds ?? 0;
    held.graceSeconds = Math.max(grace, 1);
    // What is going on gives way to the end, or to a sooner one.
    const isSooner = before !== 0 && held.graceSeconds !== before;
    if (held.running !== undefined && (held.state === "syncing" || isSooner)) this.interrupt(held);
  }

  private interrupt(held: HeldPod): void {
    held.running?.();
    held.running = undefined;
    held.lastSyncMicros = this.options.process.clock.nowMicros();
  }

  /** The runtime was looked at: who waited for that goes on. */
  looked(): void {
    if (this.waiting.size === 0) return;
    for (const held of [...this.waiting]) {
      if (!this.isFresh(held)) continue;
      this.waiting.delete(held);
      held.isWaiting = false;
      this.alone(held, () => this.begin(held));
    }
  }

  forget(held: HeldPod): void {
    held.running?.();
    held.running = undefined;
    leaveVolumes(held);
    this.waiting.delete(held);
  }

  private isFresh(held: HeldPod): boolean {
    return Math.max(held.runtimePod.seenMicros, this.options.lookMicros()) > held.lastSyncMicros;
  }

  private advance(held: HeldPod): void {
    if (!held.hasPending || held.running !== undefined || held.isWaiting || held.isFinished) return;
    held.hasPending = false;
    if (this.isFresh(held) && !this.options.isHeldUp()) {
      this.begin(held);
      return;
    }
    held.isWaiting = true;
    this.waiting.add(held);
    this.options.wantLook();
  }

  private begin(held: HeldPod): void {
    const { sync } = this.options;
    if (held.state === "syncing" && (held.graceSeconds > 0 || mustEnd(held))) {
      if (held.graceSeconds === 0) this.shorten(held, undefined);
      held.state = "terminating";
      this.options.moved(held);
    }
    if (held.state === "syncing" && this.isSteady(held)) {
      this.ended(held, "done");
      return;
    }
    if (held.state === "syncing" && this.options.mustWait(held)) {
      held.lastSyncMicros = this.options.process.clock.nowMicros();
      held.dueMicros = held.lastSyncMicros + tickMicros;
      this.ticks.ask(held.dueMicros);
      return;
    }
    const task =
      held.state === "syncing"
        ? sync.sync(held)
        : held.state === "terminating"
          ? sync.terminate(held)
          : sync.finish(held);
    // What the task does at once may come back here: it runs from before its first step.
    let isOver = false;
    let isInterrupted = false;
    const interrupted = (): void => {
      isInterrupted = true;
    };
    held.running = interrupted;
    const over = (outcome: SyncOutcome): void => {
      isOver = true;
      if (isInterrupted) return;
      held.running = undefined;
      this.ended(held, outcome);
    };
    const cancel = run(task, over);
    if (isInterrupted) cancel();
    else if (!isOver && held.running === interrupted) held.running = cancel;
  }

  /** All is as it was when there was nothing to do. */
  private isSteady({ steady, object, runtimePod, probeVersion, pod, mounting }: HeldPod): boolean {
    return (
      (mounting === undefined || mounting.dueMicros > this.options.process.clock.nowMicros()) &&
      steady !== undefined &&
      steady.object === object &&
      steady.runtimePod === runtimePod &&
      steady.probeVersion === probeVersion &&
      pod.spec.activeDeadlineSeconds === undefined
    );
  }

  private ended(held: HeldPod, outcome: SyncOutcome): void {
    const { process, syncFrequencyMicros, moved } = this.options;
    const nowMicros = process.clock.nowMicros();
    held.lastSyncMicros = nowMicros;
    if (outcome === "ended") {
      if (held.state === "syncing") {
        if (held.graceSeconds === 0) this.shorten(held, undefined);
        held.state = "terminating";
      } else {
        held.state = "terminated";
        for (const done of held.whenStopped?.splice(0) ?? []) done();
      }
      held.hasPending = true;
      moved(held);
    } else if (held.isFinished) {
      moved(held);
      return;
    } else {
      const base = outcome === "done" ? syncFrequencyMicros : outcome === "network" ? networkMicros : failedMicros;
      const later = nowMicros + base + this.prng.intInclusive(0, Math.floor(base / 2));
      // One that is as it should be is looked at again when something happens to it, and costs nothing until then.
      const isIdle = held.state === "syncing" && !held.hasPending && this.isSteady(held);
      const volumesMicros = held.mounting?.dueMicros ?? Infinity;
      const nextMicros = isIdle ? Infinity : Math.min(later, deadlineOf(held, process.clock));
      held.dueMicros = Math.max(nowMicros, Math.min(nextMicros, volumesMicros));
      this.ticks.ask(held.dueMicros);
    }
    this.advance(held);
  }
}

/** Its source, the API server or the pod itself says that it is over. */
function mustEnd(held: HeldPod): boolean {
  const { metadata, status } = held.pod;
  return held.isGone || metadata.deletionTimestamp !== undefined || (!held.isStatic && isTerminalPhase(status?.phase));
}
