import { formatMicros } from "./determinism.ts";
import { Holds } from "./holds.ts";
import { invariant } from "./invariant.ts";
import type { Kernel } from "./kernel.ts";
import type { Micros, Process } from "./types.ts";

export interface VirtualOptions {
  /** The run fails when the code under it has not finished by then. Integer > 0. Default: one day. */
  readonly maxVirtualMicros?: Micros;
  /** Name of the process that owns the sleeps of user code. Default `user`. */
  readonly processName?: string;
  /**
   * Resolves after a full macrotask turn, in which every promise chain drains. Default: `setImmediate`, or a
   * message channel where there is none.
   */
  readonly turn?: () => Promise<void>;
}

const ONE_DAY_MICROS = 86_400_000_000;

/**
 * Turns that must pass with nothing happening before time moves. In the first every promise chain drains;
 * the second catches code that deferred itself once by a macrotask of its own.
 */
const QUIET_TURNS = 2;

const WAITS_SHOWN_MAX = 10;

/** User code cannot finish: nothing will ever happen again, or not before the limit. The message says what it waits for. */
export class VirtualTimeError extends Error {
  readonly code: "deadlock" | "time-limit";

  constructor(code: "deadlock" | "time-limit", message: string) {
    super(message);
    this.name = "VirtualTimeError";
    this.code = code;
  }
}

/** Runs `main` on the kernel's virtual time until it settles, and answers as it does. */
export function runVirtual<T>(
  kernel: Kernel,
  main: (driver: VirtualDriver) => Promise<T>,
  options: VirtualOptions = {},
): Promise<T> {
  return new VirtualDriver(kernel, options).run(main);
}

/**
 * Drives asynchronous user code on virtual time. The clock jumps to the next event only when the code has
 * nothing left to do at this instant: no hold is open, and quiet macrotask turns have passed. A request
 * that is answered within `enter` therefore costs no turn at all, only its promise.
 */
export class VirtualDriver {
  readonly holds = new Holds();

  private readonly kernel: Kernel;
  private readonly process: Process;
  private readonly maxVirtualMicros: Micros;
  private readonly turn: () => Promise<void>;
  private readonly waits = new Map<number, string>();
  private readonly settlers: (() => void)[] = [];
  private waitCount = 0;
  private failure: { readonly error: unknown } | undefined;

  constructor(kernel: Kernel, options: VirtualOptions = {}) {
    this.kernel = kernel;
    this.process = kernel.process(options.processName ?? "user");
    this.maxVirtualMicros = options.maxVirtualMicros ?? ONE_DAY_MICROS;
    this.turn = options.turn ?? macrotaskTurn;
    invariant(this.maxVirtualMicros > 0, "a limit of virtual time is positive", options);
  }

  nowMicros(): Micros {
    return this.kernel.nowMicros();
  }

  /** Resolves `micros` of virtual time later (an integer, 0 or more). */
  sleep(micros: Micros): Promise<void> {
    return this.wait("a sleep", (resolve) => void this.process.clock.after(micros, resolve));
  }

  /** Resolves when nothing is left to do at this instant: just before time would move. */
  settled(): Promise<void> {
    return new Promise((resolve) => this.settlers.push(resolve));
  }

  /**
   * Runs `work` as `process` inside the kernel, then every event that is due at this instant. User code
   * reaches the run by this alone.
   */
  enter<T>(process: Process, work: () => T): T {
    const { kernel } = this;
    if (kernel.dispatching) return kernel.enter(process, work);
    try {
      const result = kernel.enter(process, work);
      kernel.run(kernel.nowMicros());
      return result;
    } catch (error) {
      // User code may swallow what it takes for a lost connection; the run must not.
      this.failure ??= { error };
      throw error;
    }
  }

  /** A promise that the run is to settle, under a name that a deadlock can be explained with. */
  wait<T>(name: string, start: (resolve: (value: T) => void, reject: (error: unknown) => void) => void): Promise<T> {
    const id = this.waitCount++;
    this.waits.set(id, name);
    return new Promise<T>((resolve, reject) => {
      start(
        (value) => {
          this.waits.delete(id);
          resolve(value);
        },
        (error) => {
          this.waits.delete(id);
          reject(error);
        },
      );
    });
  }

  async run<T>(main: (driver: VirtualDriver) => Promise<T>): Promise<T> {
    let settled = false;
    const settle = (): void => {
      settled = true;
    };
    const outcome = main(this);
    outcome.then(settle, settle);
    for (;;) {
      await this.drain(() => settled);
      if (this.failure !== undefined) throw this.failure.error;
      if (settled) return await outcome;
      if (this.holds.openCount > 0) await this.holds.released();
      else if (this.settlers.length > 0) for (const settle of this.settlers.splice(0)) settle();
      else this.advance();
    }
  }

  /** Waits until nothing has happened for the quiet turns, or there is something to tell the caller. */
  private async drain(settled: () => boolean): Promise<void> {
    let quietTurns = 0;
    while (quietTurns < QUIET_TURNS) {
      const before = this.activityCount();
      await this.turn();
      if (settled() || this.failure !== undefined) return;
      quietTurns = this.activityCount() === before ? quietTurns + 1 : 0;
    }
  }

  private activityCount(): number {
    return this.kernel.activityCount + this.holds.activityCount;
  }

  /** Moves to the next instant at which something happens, and lets all of it happen. */
  private advance(): void {
    const next = this.kernel.nextEventMicros;
    if (next === undefined) {
      throw new VirtualTimeError("deadlock", `nothing will ever happen again: ${this.pendingReason()}`);
    }
    if (next > this.maxVirtualMicros) {
      const limit = formatMicros(this.maxVirtualMicros);
      throw new VirtualTimeError("time-limit", `not finished after ${limit} of virtual time: ${this.pendingReason()}`);
    }
    this.kernel.run(next);
  }

  private pendingReason(): string {
    const names = [...this.waits.values()];
    const more = names.length > WAITS_SHOWN_MAX ? ` and ${names.length - WAITS_SHOWN_MAX} more` : "";
    const waits = names.length === 0 ? "nothing of the run" : names.slice(0, WAITS_SHOWN_MAX).join(", ") + more;
    return `user code waits for ${waits}; ${this.kernel.pendingReason()}`;
  }
}

// The real one, kept before anybody puts virtual time in its place.
const realSetImmediate = globalThis.setImmediate as typeof globalThis.setImmediate | undefined;

function macrotaskTurn(): Promise<void> {
  return realSetImmediate === undefined ? messageTurn() : new Promise((resolve) => void realSetImmediate(resolve));
}

function messageTurn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener("message", () => {
      port1.close();
      resolve();
    });
    port1.start();
    port2.postMessage(null);
  });
}
