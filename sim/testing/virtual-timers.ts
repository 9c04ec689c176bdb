/**
 * Timers in the form of Node's, on a run's clock. Handles offer what libraries use of `Timeout`: `ref`, `unref`,
 * `hasRef`, `refresh`, `close`, a number for a map's key, and disposal. Delays follow Node: below 1 ms, above
 * 2^31 - 1 ms or not a number is 1 ms.
 * Source: Node's documentation of timers.
 */
import { promisify } from "node:util";
import type { Cancel, Clock } from "../kernel/types.ts";
import { callerHere } from "./caller.ts";
import type { WaitingTimer } from "./open-cluster.ts";
import { inThisLife } from "./program.ts";

type Callback = (...parameters: unknown[]) => void;
type Handle = VirtualTimer | number | string | undefined | null;

/** Immediates need no time: the real ones stay. */
export interface TimerFunctions {
  setTimeout(callback: Callback, millis?: number, ...parameters: unknown[]): VirtualTimer;
  setInterval(callback: Callback, millis?: number, ...parameters: unknown[]): VirtualTimer;
  clearTimeout(timer: Handle): void;
  clearInterval(timer: Handle): void;
}

interface WaitOptions {
  readonly signal?: AbortSignal;
}

export interface TimerPromises {
  setTimeout<T>(millis?: number, value?: T, options?: WaitOptions): Promise<T>;
  setInterval<T>(millis?: number, value?: T, options?: WaitOptions): AsyncIterableIterator<T>;
}

/** Where timers get their time from, and where their callbacks run: outside the kernel's events, as user code must. */
export interface TimerHost {
  readonly clock: Clock;
  readonly post: (task: () => void) => void;
  /** Whether time stands still, so that a timer that is made now waits for somebody to let it pass. */
  readonly standsStill: () => boolean;
}

const MILLIS_MAX = 2 ** 31 - 1;

/** Timers of one run. */
export function virtualTimers(host: TimerHost): {
  readonly callbacks: TimerFunctions;
  readonly promises: TimerPromises;
  /** Timeouts that were made while time stood still and have not fired, oldest first. */
  readonly waiting: () => readonly WaitingTimer[];
} {
  const live = new Map<number, VirtualTimer>();
  let lastId = 0;
  const start = (callback: Callback, millis: unknown, parameters: unknown[], repeats: boolean): VirtualTimer => {
    if (typeof callback !== "function") throw new TypeError('The "callback" argument must be of type function.');
    const fire = inThisLife(() => callback(...parameters));
    return new VirtualTimer(host, live, ++lastId, fire, delayMicros(millis), repeats);
  };
  const clear = (timer: Handle): void => {
    const found = timer instanceof VirtualTimer ? timer : live.get(Number(timer ?? Number.NaN));
    found?.close();
  };
  const callbacks: TimerFunctions = {
    setTimeout: (callback, millis, ...parameters) => start(callback, millis, parameters, false),
    setInterval: (callback, millis, ...parameters) => start(callback, millis, parameters, true),
    clearTimeout: clear,
    clearInterval: clear,
  };
  const promises = timerPromises(callbacks);
  // Node's own offers this, for `promisify(setTimeout)`.
  Object.defineProperty(callbacks.setTimeout, promisify.custom, { enumerable: true, value: promises.setTimeout });
  const waiting = (): WaitingTimer[] => [...live.values()].flatMap((timer) => timer.waiting() ?? []);
  return { callbacks, promises, waiting };
}

function delayMicros(millis: unknown): number {
  const number = Number(millis ?? 1);
  return (number >= 1 && number <= MILLIS_MAX ? Math.trunc(number) : 1) * 1000;
}

/** A running timer. */
class VirtualTimer {
  readonly #host: TimerHost;
  readonly #live: Map<number, VirtualTimer>;
  readonly #id: number;
  readonly #fire: () => void;
  readonly #delayMicros: number;
  readonly #repeats: boolean;
  #cancel: Cancel = () => undefined;
  #referenced = true;
  readonly #madeAt: string | undefined;
  /** Changes when what is due may no longer run. */
  #generation = 0;

  constructor(
    host: TimerHost,
    live: Map<number, VirtualTimer>,
    id: number,
    fire: () => void,
    delay: number,
    repeats: boolean,
  ) {
    this.#host = host;
    this.#live = live;
    this.#id = id;
    this.#fire = fire;
    this.#delayMicros = delay;
    this.#repeats = repeats;
    this.#madeAt = !repeats && host.standsStill() ? callerHere() : undefined;
    this.#arm();
  }

  #arm(): void {
    this.#live.set(this.#id, this);
    const { clock, post } = this.#host;
    const generation = this.#generation;
    this.#cancel = clock.after(this.#delayMicros, () =>
      post(() => {
        if (this.#generation !== generation) return;
        // Re-armed first, so that a callback may clear its own interval.
        if (this.#repeats) this.#arm();
        else this.#live.delete(this.#id);
        this.#fire();
      }),
    );
  }

  waiting(): WaitingTimer | undefined {
    return this.#madeAt === undefined ? undefined : { millis: this.#delayMicros / 1000, madeAt: this.#madeAt };
  }

  refresh(): this {
    this.close();
    this.#arm();
    return this;
  }

  close(): this {
    this.#generation++;
    this.#cancel();
    this.#live.delete(this.#id);
    return this;
  }

  /** A run never ends for want of timers, so references change nothing but what `hasRef` says. */
  ref(): this {
    this.#referenced = true;
    return this;
  }

  unref(): this {
    this.#referenced = false;
    return this;
  }

  hasRef(): boolean {
    return this.#referenced;
  }

  [Symbol.toPrimitive](): number {
    return this.#id;
  }

  [Symbol.dispose](): void {
    this.close();
  }
}

function timerPromises({ setTimeout, setInterval }: TimerFunctions): TimerPromises {
  const after = <T>(millis?: number, value?: T, { signal }: WaitOptions = {}): Promise<T> =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(abortError(signal));
      const onAbort = (): void => {
        timer.close();
        reject(abortError(signal as AbortSignal));
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener("abort", onAbort);
        resolve(value as T);
      }, millis);
      signal?.addEventListener("abort", onAbort, { once: true });
    });
  async function* interval<T>(millis?: number, value?: T, options?: WaitOptions): AsyncGenerator<T> {
    let due = 0;
    let wake: () => void = () => undefined;
    const timer = setInterval(() => {
      due++;
      wake();
    }, millis);
    const { signal } = options ?? {};
    const onAbort = (): void => wake();
    signal?.addEventListener("abort", onAbort);
    try {
      for (;;) {
        if (signal?.aborted) throw abortError(signal);
        if (due === 0) await new Promise<void>((resolve) => (wake = resolve));
        for (; due > 0; due--) yield value as T;
      }
    } finally {
      signal?.removeEventListener("abort", onAbort);
      timer.close();
    }
  }
  return { setTimeout: after, setInterval: interval };
}

const abortError = (signal: AbortSignal): Error =>
  Object.assign(new Error("The operation was aborted", { cause: signal.reason }), {
    name: "AbortError",
    code: "ABORT_ERR",
  });
