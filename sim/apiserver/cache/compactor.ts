/**
 * Drops old versions on the clock. Every tick it notes the store's revision, and compacts to what it noted one
 * history window ago: old versions stay readable for at least the window, and for less than a tick more.
 * Source: document 1, Limits; the facts, D5 (a key's old versions survive one to two windows: one tick a window).
 */
import type { Micros, Process } from "../../kernel/types.ts";
import type { Store } from "../../store/types.ts";

export interface CompactorOptions {
  readonly process: Process;
  readonly store: Store;
  /** Microseconds > 0. */
  readonly historyWindowMicros: Micros;
  /** Ticks in a window, an integer ≥ 1. */
  readonly compactionsPerWindow: number;
}

/** Compacts until the process crashes. Several servers may do so on one store. */
export function startCompactor({ process, store, historyWindowMicros, compactionsPerWindow }: CompactorOptions): void {
  const tickMicros = Math.ceil(historyWindowMicros / compactionsPerWindow);
  const noted: number[] = [store.revision];
  const tick = (): void => {
    noted.push(store.revision);
    if (noted.length > compactionsPerWindow) {
      const revision = noted.shift() as number;
      if (revision > store.compactedRevision) {
        store.compact(revision);
        process.trace("compact", revision);
      }
    }
    process.clock.after(tickMicros, tick);
  };
  process.clock.after(tickMicros, tick);
}
