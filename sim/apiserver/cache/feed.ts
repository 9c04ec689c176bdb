/**
 * How the store's changes come to a front-end: all of them, in order, each as late as the lag says. What has
 * not come yet does not exist for those who read from here.
 */
import type { Cancel, Micros, Process } from "../../kernel/types.ts";
import type { StoreEvent } from "../../store/types.ts";

const nothing: Cancel = () => {};

interface Waiter {
  readonly revision: number;
  readonly done: (reached: boolean) => void;
  readonly cancelTimeout: Cancel;
}

export class Feed {
  private readonly process: Process;
  private readonly apply: (event: StoreEvent) => void;
  private readonly waiters = new Set<Waiter>();
  private underWay: { readonly event: StoreEvent; readonly committedAt: Micros }[] = [];
  private lagMicros: Micros;
  private appliedRevision: number;
  private cancelTimer: Cancel = nothing;
  private applying = false;

  /** `apply` hears of each change as it arrives. `lagMicros` >= 0, Infinity for a link that is cut. */
  constructor(process: Process, revision: number, lagMicros: Micros, apply: (event: StoreEvent) => void) {
    this.process = process;
    this.appliedRevision = revision;
    this.lagMicros = lagMicros;
    this.apply = apply;
  }

  /** Revision of the last change that arrived. */
  get applied(): number {
    return this.appliedRevision;
  }

  /** Committed but not yet here, oldest first. */
  get pending(): readonly StoreEvent[] {
    return this.underWay.map(({ event }) => event).filter(({ revision }) => revision > this.appliedRevision);
  }

  /** A feed that has seen what this one has, and will see the rest at its own pace. */
  split(lagMicros: Micros, apply: (event: StoreEvent) => void): Feed {
    const feed = new Feed(this.process, this.appliedRevision, lagMicros, apply);
    feed.underWay = [...this.underWay];
    feed.arrive();
    return feed;
  }

  /** Holds for what is under way, too: with less lag it comes sooner, never out of order. */
  setLag(lagMicros: Micros): void {
    this.lagMicros = lagMicros;
    this.arrive();
  }

  /** The store committed `event`. */
  committed(event: StoreEvent): void {
    if (this.lagMicros === 0 && this.underWay.length === 0 && !this.applying) {
      this.take(event);
      return;
    }
    this.underWay.push({ event, committedAt: this.process.clock.nowMicros() });
    if (this.underWay.length === 1) this.arrive();
  }

  /** Calls `done(true)` once `revision` is applied, at once if it is; `done(false)` after `timeoutMicros`. */
  whenApplied(revision: number, timeoutMicros: Micros, done: (reached: boolean) => void): Cancel {
    if (this.appliedRevision >= revision) {
      done(true);
      return nothing;
    }
    const cancelTimeout = this.process.clock.after(timeoutMicros, () => {
      this.waiters.delete(waiter);
      done(false);
    });
    const waiter: Waiter = { revision, done, cancelTimeout };
    this.waiters.add(waiter);
    return () => {
      cancelTimeout();
      this.waiters.delete(waiter);
    };
  }

  /** Takes what is due, then sets the timer for the next. */
  private arrive(): void {
    if (this.applying) return;
    this.cancelTimer();
    this.cancelTimer = nothing;
    const now = this.process.clock.nowMicros();
    let next = this.underWay[0];
    let count = 0;
    this.applying = true;
    try {
      for (; next !== undefined && next.committedAt + this.lagMicros <= now; next = this.underWay[count]) {
        count++;
        this.take(next.event);
      }
    } finally {
      this.applying = false;
      this.underWay.splice(0, count);
    }
    if (next === undefined || this.lagMicros === Infinity) return;
    this.cancelTimer = this.process.clock.after(next.committedAt + this.lagMicros - now, () => this.arrive());
  }

  private take(event: StoreEvent): void {
    const outer = this.applying;
    this.applying = true;
    try {
      this.appliedRevision = event.revision;
      this.apply(event);
      if (this.waiters.size > 0) this.release();
    } finally {
      this.applying = outer;
    }
  }

  private release(): void {
    for (const waiter of this.waiters) {
      if (waiter.revision > this.appliedRevision) continue;
      this.waiters.delete(waiter);
      waiter.cancelTimeout();
      try {
        waiter.done(true);
      } catch (error) {
        this.process.caught("reader that waited for a version", error); // not the writer's whose change came
      }
    }
  }
}
