/**
 * Pods that wait for a node: those to be looked at, the most important first; those that were looked at in vain, until
 * something happens that may help; and between both those that have to wait a while after a failure.
 * Source: the published scheduling queue.
 */
import type { Cancel, Clock, Micros } from "../../kernel/types.ts";
import type { Plugin } from "./refusal.ts";
import type { PodNeeds } from "./pod-needs.ts";

const backoffMicrosMin: Micros = 1_000_000;
const backoffMicrosMax: Micros = 10_000_000;
/** What has been waiting for an event so long is looked at again without one. */
const forgottenMicros: Micros = 300_000_000;
const sweepMicros: Micros = 30_000_000;

interface Waiting {
  pod: PodNeeds;
  state: "active" | "backoff" | "unschedulable" | "busy";
  readonly order: number;
  attempts: number;
  sinceMicros: Micros;
  /** What refused it. */
  plugins: ReadonlySet<Plugin>;
  /** Something that may help happened while it was looked at. */
  helped: boolean;
  cancel: Cancel | undefined;
}

export class SchedulingQueue {
  private readonly clock: Clock;
  private readonly wake: () => void;
  private readonly waiting = new Map<string, Waiting>();
  /** By priority. */
  private readonly active = new Map<number, Map<string, Waiting>>();
  private count = 0;
  private sweeping = false;

  /** `wake` is called when there is something to look at. */
  constructor(clock: Clock, wake: () => void) {
    this.clock = clock;
    this.wake = wake;
  }

  /** A pod that is new, or that has changed in what it asks for. */
  add(pod: PodNeeds): void {
    const known = this.waiting.get(pod.uid);
    if (known === undefined) {
      const made: Waiting = {
        pod,
        state: "active",
        order: this.count++,
        attempts: 0,
        sinceMicros: this.clock.nowMicros(),
        plugins: new Set(),
        helped: false,
        cancel: undefined,
      };
      this.waiting.set(pod.uid, made);
      this.activate(made);
      return;
    }
    const { priority } = known.pod;
    if (known.state === "active") this.deactivate(known, priority);
    known.pod = pod;
    if (known.state === "active") this.activate(known);
    else if (known.state === "busy") known.helped = true;
    else if (known.state === "unschedulable") this.release(known);
  }

  /** Its status alone has changed. */
  refresh(pod: PodNeeds): void {
    const known = this.waiting.get(pod.uid);
    if (known !== undefined) known.pod = pod;
  }

  remove(uid: string): void {
    const known = this.waiting.get(uid);
    if (known === undefined) return;
    known.cancel?.();
    if (known.state === "active") this.deactivate(known, known.pod.priority);
    this.waiting.delete(uid);
  }

  has(uid: string): boolean {
    return this.waiting.has(uid);
  }

  /** The next pod to look at; it is busy until `failed` or `remove`. */
  take(): PodNeeds | undefined {
    let best: Map<string, Waiting> | undefined;
    let high = -Infinity;
    for (const [priority, pods] of this.active) {
      if (priority <= high) continue;
      high = priority;
      best = pods;
    }
    const next = best?.values().next().value;
    if (next === undefined) return undefined;
    this.deactivate(next, high);
    next.state = "busy";
    next.helped = false;
    next.attempts++;
    return next.pod;
  }

  /** It could not be placed: it waits for something that concerns these plugins; without any, for a while. */
  failed(uid: string, plugins: ReadonlySet<Plugin>): void {
    const known = this.waiting.get(uid);
    if (known === undefined) return;
    known.plugins = plugins;
    known.sinceMicros = this.clock.nowMicros();
    if (known.helped || plugins.size === 0) this.release(known);
    else {
      known.state = "unschedulable";
      this.sweepLater();
    }
  }

  /** Something happened that may help pods which these plugins refused; undefined may help all. */
  happened(plugins: ReadonlySet<Plugin> | undefined): void {
    for (const known of this.waiting.values()) {
      if (known.state === "busy") known.helped = true;
      else if (known.state === "unschedulable" && (plugins === undefined || concerns(plugins, known.plugins)))
        this.release(known);
    }
  }

  private release(known: Waiting): void {
    const backoff = Math.min(backoffMicrosMin * (1 << Math.min(known.attempts - 1, 10)), backoffMicrosMax);
    const wait = known.sinceMicros + backoff - this.clock.nowMicros();
    if (wait <= 0) {
      this.activate(known);
      return;
    }
    known.state = "backoff";
    known.cancel = this.clock.after(wait, () => {
      known.cancel = undefined;
      this.activate(known);
    });
  }

  private activate(known: Waiting): void {
    known.state = "active";
    const { priority } = known.pod;
    let pods = this.active.get(priority);
    if (pods === undefined) this.active.set(priority, (pods = new Map()));
    pods.set(known.pod.uid, known);
    this.wake();
  }

  private deactivate({ pod }: Waiting, priority: number): void {
    const pods = this.active.get(priority);
    pods?.delete(pod.uid);
    if (pods?.size === 0) this.active.delete(priority);
  }

  private sweepLater(): void {
    if (this.sweeping) return;
    this.sweeping = true;
    this.clock.after(sweepMicros, () => {
      this.sweeping = false;
      let isNeeded = false;
      for (const known of this.waiting.values()) {
        if (known.state !== "unschedulable") continue;
        if (this.clock.nowMicros() - known.sinceMicros >= forgottenMicros) this.release(known);
        else isNeeded = true;
      }
      if (isNeeded) this.sweepLater();
    });
  }
}

function concerns(plugins: ReadonlySet<Plugin>, refused: ReadonlySet<Plugin>): boolean {
  for (const plugin of refused) if (plugins.has(plugin)) return true;
  return false;
}
