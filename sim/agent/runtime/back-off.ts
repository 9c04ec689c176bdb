/**
 * Waits that double with every failure. Source: the facts, Restart back-off: 10 s to 300 s, without jitter; what has not
 * failed for twice the longest wait begins anew.
 */
import type { Micros } from "../../kernel/types.ts";

const firstMicros: Micros = 10_000_000;
const mostMicros: Micros = 300_000_000;

interface Entry {
  waitMicros: Micros;
  updatedMicros: Micros;
}

export class BackOffs {
  private readonly entries = new Map<string, Entry>();

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
      this.entries.set(key, { waitMicros: firstMicros, updatedMicros: nowMicros });
      return;
    }
    entry.waitMicros = Math.min(2 * entry.waitMicros, mostMicros);
    entry.updatedMicros = nowMicros;
  }

  /** Of the last `next`; 0 for what never failed. */
  waitMicros(key: string): Micros {
    return this.entries.get(key)?.waitMicros ?? 0;
  }

  /** Forgets what has not failed for long. */
  forgetOld(nowMicros: Micros): void {
    for (const [key, entry] of this.entries) if (isOld(entry, nowMicros)) this.entries.delete(key);
  }
}

const isOld = ({ updatedMicros }: Entry, atMicros: Micros): boolean => atMicros - updatedMicros > 2 * mostMicros;
