/**
 * What a component may touch. No `Date`, `Math.random`, `crypto`, `fetch` or timers: all time and
 * chance come through here, so that one seed gives one history. The kernel implements these shapes;
 * components are written against them and never see the kernel itself.
 */

import type { Seat } from "./roster.ts";

/** Integer microseconds: since the run's epoch for an instant, or a length of time. */
export type Micros = number;

/** Cancels a timer or a call. Idempotent, and a no-op after it fired. */
export type Cancel = () => void;

export interface Clock {
  nowMicros(): Micros;
  /** Fires once at now + `delayMicros` (an integer >= 0). Dies with the owning process. */
  after(delayMicros: Micros, fire: () => void): Cancel;
  /** Milliseconds since 1970 of the run's epoch, so that timestamps can be shown: fixed on virtual time, the start on wall time. */
  readonly epochUnixMillis: number;
}

/** A named stream of draws. Integers and integer ratios only: no float ever decides anything. */
export interface Prng {
  /** Uniform over 0 … 2^32 - 1. */
  uint32(): number;
  /** Uniform over [min, max], both inclusive, safe integers, max - min < 2^32. */
  intInclusive(min: number, max: number): number;
  /** True `numerator` times out of `denominator`. */
  chance(numerator: number, denominator: number): boolean;
  /** A stream of its own, a pure function of this stream's name and `name`; draws here do not shift it. */
  stream(name: string): Prng;
}

/**
 * Why a call did not get an answer. `refused`: nobody listened, so nothing happened. `deadline` and
 * `disconnected` leave the outcome unknown to the caller; that the other side crashed looks like one of them.
 */
export type CallFailure = "deadline" | "disconnected" | "refused";

export type CallResult<Response> =
  | { readonly ok: true; readonly response: Response }
  | { readonly ok: false; readonly failure: CallFailure };

/** Something that answers requests. */
export interface Endpoint<Request, Response> {
  /**
   * Starts one request. Either `done` or `fail` fires, at most once, and never after the returned cancel.
   * An endpoint in the same process has no way to fail and ignores the third argument; a link or a socket has.
   */
  start(request: Request, done: (response: Response) => void, fail: (failure: CallFailure) => void): Cancel;
}

export interface CrashListener {
  crashed(process: Process): void;
}

/** Where a listener stands among those of a process. */
export type CrashSeat = Seat<CrashListener>;

/**
 * A process owns its timers, calls, streams and PRNG. A crash revokes them all: nothing of it fires
 * afterwards, and a late answer to one of its calls is dropped.
 */
export interface Process {
  readonly name: string;
  readonly clock: Clock;
  readonly alive: boolean;
  /**
   * In real time: whether what runs now has had the loop for long enough, so that what can wait should come in an event of
   * its own. On virtual time never.
   */
  readonly isTurnOver: boolean;
  /** This process's own stream; `prng.stream("x")` for a purpose of its own. */
  readonly prng: Prng;
  /**
   * Calls `endpoint`, which the composition has bound to a link, a socket or nothing. `done` fires at most
   * once, later than this returns and in an event of this process; the deadline counts from now (> 0).
   * After a cancel or the deadline a late answer is dropped.
   */
  call<Request, Response>(
    endpoint: Endpoint<Request, Response>,
    request: Request,
    options: { readonly deadlineMicros: Micros },
    done: (result: CallResult<Response>) => void,
  ): Cancel;
  /**
   * Somebody caught an exception that is a bug, at work that concerns nobody else (`what`, for the log). Throws it again,
   * so that the run fails, unless the kernel was told to go on (`KernelOptions.caught`); then the caller must leave
   * nothing half-done behind. `component`: whose bug it is, for who counts.
   */
  caught(what: string, error: unknown, component?: string): void;
  /** Enters a record of this process in the run's trace. `kind` is a short constant word; the values are integers or strings. */
  trace(kind: string, a?: number | string, b?: number | string, c?: number | string): void;
  /** Runs `cleanup` when this process crashes: what its machine does for it, such as closing connections. In order of registration. */
  onCrash(cleanup: () => void): Cancel;
  /** As `onCrash`, for who comes and goes often: `forgetCrash` takes what this returns. */
  joinCrash(listener: CrashListener): CrashSeat;
  forgetCrash(seat: CrashSeat): void;
  crash(): void;
}
