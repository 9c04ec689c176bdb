import { formatMicros } from "./determinism.ts";
import { EventQueue } from "./event-queue.ts";
import { InvariantError, invariant } from "./invariant.ts";
import { ProcessScope } from "./process-scope.ts";
import { Trace, type TraceOptions, type WordId } from "./trace.ts";
import { dispatch } from "./trap.ts";
import type { Cancel, Micros, Process } from "./types.ts";

export interface KernelOptions {
  /** Every draw of the run follows from it. Any string; seeds that differ in one character share nothing. */
  readonly seed: string;
  /** The run's epoch in milliseconds since 1970, an integer. Default: `VIRTUAL_EPOCH_UNIX_MILLIS`. */
  readonly epochUnixMillis?: number;
  /** What the trace keeps beside its hash. Default: the last 256 records. */
  readonly trace?: TraceOptions;
  /**
   * Hears of exceptions that concern one piece of work alone, after which the run goes on: for a server that must stay
   * up. Default: they fail the run.
   */
  readonly caught?: (failure: ProcessError, what: string, component: string | undefined) => void;
  /** Events that may fire without time moving before the run is declared stuck: an integer >= 1. Default 10 million. */
  readonly eventsPerInstantMax?: number;
}

/** 2030-01-01T00:00:00Z: later than any certificate or fixture in use, so that nothing seems to lie in the future. */
export const VIRTUAL_EPOCH_UNIX_MILLIS = 1_893_456_000_000;

const EVENTS_PER_INSTANT_DEFAULT = 10_000_000;

/** An event threw. The message names its process and the moment; `cause` is what was thrown. */
export class ProcessError extends Error {
  readonly process: string;
  readonly atMicros: Micros;

  constructor(process: string, atMicros: Micros, cause: unknown) {
    const thrown = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
    super(`process ${JSON.stringify(process)} threw at ${formatMicros(atMicros)}: ${thrown}`, { cause });
    this.name = "ProcessError";
    this.process = process;
    this.atMicros = atMicros;
  }
}

/**
 * The clock, the queue of events and the processes of one run. Single-threaded and synchronous: events
 * fire one after another by (time, sequence). The kernel never waits; a driver decides when time moves.
 */
export class Kernel {
  readonly seed: string;
  readonly epochUnixMillis: number;
  readonly trace: Trace;
  /** Grows with everything that outside code does to the run: events scheduled or cancelled, entries. A driver watches it. */
  activityCount = 0;
  /** Whether what runs now has had its turn. A driver on wall time replaces it; on virtual time nothing takes any. */
  isTurnOver: () => boolean = () => false;

  private readonly queue = new EventQueue();
  private readonly processes = new Map<string, ProcessScope>();
  private readonly incarnations = new Map<string, number>();
  private readonly eventWord: WordId;
  private readonly enterWord: WordId;
  private readonly eventsPerInstantMax: number;
  private readonly goOn: KernelOptions["caught"];
  private now: Micros = 0;
  private eventsThisInstant = 0;
  private current: ProcessScope | undefined;

  constructor(options: KernelOptions) {
    this.seed = options.seed;
    this.epochUnixMillis = options.epochUnixMillis ?? VIRTUAL_EPOCH_UNIX_MILLIS;
    this.eventsPerInstantMax = options.eventsPerInstantMax ?? EVENTS_PER_INSTANT_DEFAULT;
    this.goOn = options.caught;
    invariant(Number.isSafeInteger(this.epochUnixMillis), "the epoch is an integer of milliseconds", options);
    invariant(this.eventsPerInstantMax >= 1, "at least one event fires in an instant", options);
    this.trace = new Trace(options.trace);
    this.eventWord = this.trace.word("event");
    this.enterWord = this.trace.word("enter");
  }

  /**
   * A new process. Names are unique among the living; after a crash the name may be used again, and the
   * new incarnation draws from streams of its own.
   */
  process(name: string): Process {
    const previous = this.processes.get(name);
    invariant(previous === undefined || !previous.alive, "a process name is unique among the living", { name });
    const incarnation = (this.incarnations.get(name) ?? 0) + 1;
    this.incarnations.set(name, incarnation);
    const scope = new ProcessScope(this, name, incarnation);
    this.processes.set(name, scope);
    return scope;
  }

  nowMicros(): Micros {
    return this.now;
  }

  /** True while an event fires or an entered function runs. */
  get dispatching(): boolean {
    return this.current !== undefined;
  }

  /** Name of the process whose event is firing. */
  get currentProcess(): string | undefined {
    return this.current?.name;
  }

  /** When the next event fires; undefined when nothing is pending. */
  get nextEventMicros(): Micros | undefined {
    const next = this.queue.nextTime();
    return next === Infinity ? undefined : next;
  }

  /** Events that will fire unless they are cancelled or their process crashes. */
  get pendingCount(): number {
    return this.queue.pendingCount;
  }

  /**
   * Fires every event due at or before `untilMicros`, then sets the clock there; without it, runs until
   * nothing is pending and leaves the clock at the last event. Throws `ProcessError` when an event throws;
   * that event is spent, and the run may go on.
   */
  run(untilMicros: Micros = Infinity): void {
    invariant(untilMicros >= this.now, "time does not run backwards", { untilMicros, now: this.now });
    this.dispatchUntil(untilMicros, Infinity);
    if (untilMicros !== Infinity) this.moveClock(untilMicros);
  }

  /** As `run`, but for at most so many events: false when there are more, and the clock stands at the last that fired. */
  runSome(untilMicros: Micros, eventsMax: number): boolean {
    invariant(untilMicros >= this.now, "time does not run backwards", { untilMicros, now: this.now });
    if (this.dispatchUntil(untilMicros, eventsMax) === eventsMax) return false;
    this.moveClock(untilMicros);
    return true;
  }

  /**
   * Moves the clock on although events that are due by then have not fired, for a driver on wall time that is behind: they fire late,
   * still in their order.
   */
  moveClockPastEvents(toMicros: Micros): void {
    invariant(toMicros >= this.now, "time does not run backwards", { toMicros, now: this.now });
    this.moveClock(toMicros);
  }

  /** Fires the next event. False when nothing is pending. */
  step(): boolean {
    return this.dispatchUntil(Infinity, 1) === 1;
  }

  /**
   * Runs `work` as `process`, now, and returns its result: how the world outside (a socket, a user's
   * code) gets in. Inside dispatch it is a plain call under another name; outside, the trap is armed and an
   * error becomes a `ProcessError`.
   */
  enter<T>(process: Process, work: () => T): T {
    const scope = process as ProcessScope;
    invariant(scope.alive, "a crashed process cannot be entered", { process: process.name });
    this.activityCount++;
    this.trace.record(this.now, scope.word, this.enterWord);
    const previous = this.current;
    this.current = scope;
    dispatch.depth++;
    try {
      return work();
    } catch (error) {
      throw previous === undefined ? named(error, scope, this.now) : error;
    } finally {
      dispatch.depth--;
      this.current = previous;
    }
  }

  /**
   * The wall clock of a process jumps by so many milliseconds, either way: what it takes for the time of day is another
   * one from now on. What it measures is not: timers and `nowMicros` go on.
   */
  stepClock(process: Process, byMillis: number): void {
    invariant(Number.isSafeInteger(byMillis), "a clock jumps by whole milliseconds", { byMillis });
    const scope = process as ProcessScope;
    scope.clock.epochUnixMillis += byMillis;
    this.trace.record(this.now, scope.word, this.trace.word("clock"), byMillis);
  }

  /** Why the run is not over, or that it is: for messages about runs that hang. */
  pendingReason(): string {
    const next = this.queue.nextOwner() as ProcessScope | undefined;
    const calls = [...this.processes.values()].filter((scope) => scope.openCallCount > 0);
    const parts = [
      next === undefined
        ? "no event is pending"
        : `${this.pendingCount} pending, next at ${formatMicros(this.queue.nextTime())} for process ${JSON.stringify(next.name)}`,
      ...calls.map((scope) => `process ${JSON.stringify(scope.name)} has ${scope.openCallCount} open calls`),
    ];
    return parts.join("; ");
  }

  /** For `ProcessScope`: schedules for one of its timers. */
  schedule(owner: ProcessScope, delayMicros: Micros, fire: () => void): Cancel {
    const at = this.now + delayMicros;
    if (!(delayMicros >= 0 && Number.isSafeInteger(at))) {
      throw new InvariantError("a delay is an integer of microseconds, 0 or more", {
        delayMicros,
        process: owner.name,
      });
    }
    this.activityCount++;
    const slot = this.queue.push(at, owner, fire);
    const sequence = this.queue.sequence;
    return () => {
      this.activityCount++;
      this.queue.cancel(slot, sequence);
    };
  }

  /** For `ProcessScope`: an exception that its work caught. */
  caught(owner: ProcessScope, what: string, error: unknown, component: string | undefined): void {
    if (this.goOn === undefined) throw error;
    this.goOn(error instanceof ProcessError ? error : new ProcessError(owner.name, this.now, error), what, component);
  }

  /** For `ProcessScope`: drops all that a process that has just died had pending. */
  revoke(owner: ProcessScope): void {
    this.activityCount++;
    this.queue.revoke(owner);
  }

  /** For `ProcessScope`: whether the event that is firing is its own. */
  isCurrent(owner: ProcessScope): boolean {
    return this.current === owner;
  }

  /** Returns how many events fired. */
  private dispatchUntil(untilMicros: Micros, eventsMax: number): number {
    invariant(this.current === undefined, "the kernel runs one event at a time: run and step are not for events");
    let fired = 0;
    dispatch.depth++;
    try {
      for (; fired < eventsMax; fired++) {
        const next = this.queue.nextTime();
        if (next > untilMicros || next === Infinity) break;
        if (next > this.now) this.moveClock(next); // else it is late
        this.dispatchHead();
      }
      return fired;
    } catch (error) {
      throw named(error, this.current, this.now);
    } finally {
      dispatch.depth--;
      this.current = undefined;
    }
  }

  private dispatchHead(): void {
    const { queue } = this;
    const fire = queue.pop();
    const owner = queue.poppedOwner as ProcessScope;
    this.current = owner;
    if (++this.eventsThisInstant > this.eventsPerInstantMax) {
      throw new InvariantError("events keep firing and time stands still", { events: this.eventsThisInstant });
    }
    this.trace.recordEvent(this.now, owner.word, this.eventWord, queue.poppedSequence);
    fire();
  }

  private moveClock(to: Micros): void {
    if (to === this.now) return;
    this.now = to;
    this.eventsThisInstant = 0;
  }
}

function named(error: unknown, scope: ProcessScope | undefined, now: Micros): unknown {
  return scope === undefined || error instanceof ProcessError ? error : new ProcessError(scope.name, now, error);
}
