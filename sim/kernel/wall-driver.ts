import type { Kernel } from "./kernel.ts";
import type { Cancel, Micros, Process } from "./types.ts";

/** Real time, from an adapter that may know it. */
export interface WallPorts {
  /** A monotonic clock in integer microseconds; where it starts does not matter. */
  nowMicros(): Micros;
  /** Calls `fire` once after about `delayMicros`. Early is harmless, late is lateness of the run. */
  wake(delayMicros: Micros, fire: () => void): Cancel;
}

export interface WallOptions {
  /** Takes the `ProcessError` of an event that threw. The run goes on with the next event unless this throws. */
  readonly onError: (error: unknown) => void;
}

/** Events run for so long in one turn. */
const turnMicrosMax = 10_000;

/** Timers of hosts overflow at 2^31 milliseconds; waking once an hour for nothing costs nothing. */
const WAKE_MICROS_MAX = 3_600_000_000;

/**
 * Runs a kernel in real time: the same processes as on virtual time, fed by sockets. The run's epoch is the
 * moment of construction. Time moves when something enters, a timer is due or a turn is over, never while code runs: what is due and
 * has not had its turn fires late, and stops no clock, though it makes more of its kind for minutes.
 */
export class WallDriver {
  private readonly kernel: Kernel;
  private readonly ports: WallPorts;
  private readonly options: WallOptions;
  private readonly originMicros: Micros;
  private armed: { readonly atMicros: Micros; readonly cancel: Cancel } | undefined;
  private stopped = false;
  /** Events that are due were left for the next turn: until then nothing that enters runs them. */
  private isBehind = false;
  /**
   * What entered took its turn's time. Hosts wake within the same turn of their loop, so that the first wake-up after it is
   * passed over, once: what has come meanwhile is heard before.
   */
  private passesOver = false;
  private hasPassedOver = false;
  /** When whatever entered last did, or events began to be run; less what events have taken before in this turn. */
  private beganMicros: Micros;
  /** What events took since the last wake-up, for those that entered: together they have one turn's events, not one each. */
  private spentMicros: Micros = 0;

  constructor(kernel: Kernel, ports: WallPorts, options: WallOptions) {
    this.kernel = kernel;
    this.ports = ports;
    this.options = options;
    this.beganMicros = ports.nowMicros();
    this.originMicros = this.beganMicros - kernel.nowMicros();
    kernel.isTurnOver = () => ports.nowMicros() - this.beganMicros > turnMicrosMax;
  }

  /**
   * An event of the world: brings the clock up to now, runs `work` as `process`, then what is due because of
   * it. Inside dispatch (a socket that calls back at once) it is a plain call. What `work` throws reaches the caller.
   */
  enter<T>(process: Process, work: () => T): T {
    if (this.kernel.dispatching) return this.kernel.enter(process, work);
    this.beganMicros = this.ports.nowMicros() - this.spentMicros;
    try {
      if (this.isBehind) this.kernel.moveClockPastEvents(this.worldMicros());
      else this.runDue(this.worldMicros());
      return this.kernel.enter(process, work);
    } finally {
      if (!this.isBehind) this.runDue(this.kernel.nowMicros());
      this.passesOver ||= !this.hasPassedOver && this.kernel.isTurnOver();
      this.arm();
    }
  }

  /** Fires nothing more. Entering still works, but only at the instant reached. */
  stop(): void {
    this.stopped = true;
    this.isBehind = false;
    this.armed?.cancel();
    this.armed = undefined;
  }

  /** The run's time as the world has it; a clock that steps back leaves the run where it is. */
  private worldMicros(): Micros {
    return Math.max(this.kernel.nowMicros(), this.stopped ? 0 : this.ports.nowMicros() - this.originMicros);
  }

  /**
   * What is due by then; but when that takes long, the rest waits for the next turn, so that sockets have theirs. Events
   * that make others at once would otherwise go on for as long as the world's clock is ahead.
   */
  private runDue(untilMicros: Micros): void {
    const { kernel, ports } = this;
    if ((kernel.nextEventMicros ?? Infinity) <= untilMicros) {
      const sinceMicros = ports.nowMicros();
      this.stepsUntil(untilMicros);
      this.spentMicros += ports.nowMicros() - sinceMicros;
    }
    if (!this.isBehind) kernel.run(untilMicros);
  }

  private stepsUntil(untilMicros: Micros): void {
    const { kernel } = this;
    while ((kernel.nextEventMicros ?? Infinity) <= untilMicros) {
      this.isBehind = !this.stopped && kernel.isTurnOver(); // once it is stopped there is no other turn
      if (this.isBehind) {
        kernel.moveClockPastEvents(this.worldMicros());
        return;
      }
      try {
        kernel.step();
      } catch (error) {
        // The event that threw is spent, so this ends.
        this.options.onError(error);
      }
    }
  }

  /** Keeps one wake-up, no later than the next event. One that is early is left: it re-arms when it fires. */
  private arm(): void {
    const next = this.kernel.nextEventMicros;
    if (next === undefined || this.stopped) return;
    if (this.armed !== undefined && this.armed.atMicros <= next) return;
    this.armed?.cancel();
    const now = this.worldMicros();
    const delayMicros = Math.min(Math.max(0, next - now), WAKE_MICROS_MAX);
    const cancel = this.ports.wake(delayMicros, () => this.woken());
    this.armed = { atMicros: Math.min(next, now + delayMicros), cancel };
  }

  private woken(): void {
    this.armed = undefined;
    this.hasPassedOver = this.passesOver;
    this.passesOver = false;
    try {
      if (this.hasPassedOver) return;
      this.isBehind = false;
      this.beganMicros = this.ports.nowMicros();
      this.runDue(this.worldMicros());
    } finally {
      this.spentMicros = 0;
      this.arm();
    }
  }
}
