/**
 * Requests in flight: a limit for reads and one for mutations, with an optional queue before each.
 * Watches take no seat. Source: the facts, section 8 (400 and 200, Retry-After 1; a queue waits at most a quarter
 * of the request timeout).
 */
import type { Cancel, Clock, Micros } from "../../kernel/types.ts";

export interface InFlightLimits {
  /** Reads in flight; 0 = no limit. Default 400. */
  readonly readsMax: number;
  /** Writes in flight; 0 = no limit. Default 200. */
  readonly mutationsMax: number;
  /** Requests that may wait for a seat, each kind for itself; 0 = refuse at once. Default 0. */
  readonly queueMax: number;
  /** Longest wait for a seat. Default 15 s. */
  readonly queueWaitMicrosMax: Micros;
}

export const defaultLimits: InFlightLimits = {
  readsMax: 400,
  mutationsMax: 200,
  queueMax: 0,
  queueWaitMicrosMax: 15_000_000,
};

interface Waiting {
  readonly seated: () => void;
  readonly cancelTimer: Cancel;
}

export type WaitAnswer = "refused" | { readonly waiting: Cancel };

/** The seats of one kind of request. */
export class Seats {
  private readonly seatsMax: number;
  private readonly queueMax: number;
  private readonly waitMicrosMax: Micros;
  private readonly clock: Clock;
  private taken = 0;
  private readonly queue = new Set<Waiting>();

  constructor(clock: Clock, seatsMax: number, queueMax: number, waitMicrosMax: Micros) {
    this.clock = clock;
    this.seatsMax = seatsMax;
    this.queueMax = queueMax;
    this.waitMicrosMax = waitMicrosMax;
  }

  get inQueue(): number {
    return this.queue.size;
  }

  get inFlight(): number {
    return this.taken;
  }

  /** Takes a seat, if one is free. */
  take(): boolean {
    if (this.seatsMax !== 0 && this.taken >= this.seatsMax) return false;
    this.taken++;
    return true;
  }

  /** Waits in line for a seat, as none is free; `expired` is called when the wait was too long. */
  wait(seated: () => void, expired: () => void): WaitAnswer {
    if (this.queue.size >= this.queueMax) return "refused";
    const waiting: Waiting = {
      seated,
      cancelTimer: this.clock.after(this.waitMicrosMax, () => {
        this.queue.delete(waiting);
        expired();
      }),
    };
    this.queue.add(waiting);
    return {
      waiting: () => {
        this.queue.delete(waiting);
        waiting.cancelTimer();
      },
    };
  }

  /** Gives a seat back; the first in line gets it. */
  release(): void {
    for (const next of this.queue) {
      this.queue.delete(next);
      next.cancelTimer();
      next.seated();
      return;
    }
    this.taken--;
  }
}
