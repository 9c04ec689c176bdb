/**
 * Waits that double with every failure. Source: the facts, Restart back-off: 10 s to 300 s, without jitter; what has not
 * failed for twice the usual longest wait begins anew, however long the longest is.
 */
import type { Micros } from "../../kernel/types.ts";

export interface BackOffTimes {
  readonly firstMicros: Micros;
  readonly mostMicros: Micros;
}

export const usualBackOff: BackOffTimes = { firstMicros: 10_000_000, mostMicros: 300_000_000 };
const forgetMicros = 2 * usualBackOff.mostMicros;

interface Entry {
  waitMicros: Micros;
  updatedMicros: Micros;
}

export class BackOffs {
  private readonly entries = new Map<string, Entry>();
  private readonly times: BackOffTimes;

  constructor(times: BackOffTimes = usualBackOff) {
    this.times = times;
  }

  /** Whether it is too early for what failed at `sinceMicros`. */
  isWaiting(key: string, sinceMicros: Micros, nowMicros: Micros): boolean {
    const entry = this.entries.get(key);
    if (entry === undefined || isOld(entry, sinceMicros)) return false;
    return nowMicros - sinceMicros < entry.waitMicros;
  }

  /** Whether it is too early since the last `next`. */
  isWaitingSinceUpdate(key: string, nowMicros: Micros): boolean {
    const entry = this.entries.get(key);
    if (entry === undefined || isOld(entry, nowMicros)) return false;
    return nowMicros - entry.updatedMicros < entry.waitMicros;
  }

  /** It is tried again: the next wait is longer. */
  next(key: string, sinceMicros: Micros, nowMicros: Micros): void {
    const entry = this.entries.get(key);
    if (entry === undefined || isOld(entry, sinceMicros)) {
      this.entries.set(key, { waitMicros: this.times.firstMicros, updatedMicros: nowMicros });
      return;
    }
    entry.waitMicros = Math.min(2 * entry.waitMicros, this.times.mostMicros);
    entry.updatedMicros = nowMicros;
  }

  /** Of the last `next`; 0 for what never failed. */
  waitMicros(key: string): Micros {
    return this.entries.get(key)?.waitMicros ?? 0;
  }

  /** What failed is tried again under other conditions. */
  reset(key: string): void {
    this.entries.delete(key);
  }

  /** Forgets what has not failed for long. */
  forgetOld(nowMicros: Micros): void {
    for (const [key, entry] of this.entries) if (isOld(entry, nowMicros)) this.entries.delete(key);
  }
}

const isOld = ({ updatedMicros }: Entry, atMicros: Micros): boolean => atMicros - updatedMicros > forgetMicros;
