/**
 * Events are forgotten a while after they were last written. Each write begins the time anew; watchers see a deletion.
 * On a store with events in it, theirs begins with the server.
 *
 * Simplification: the real server shares leases between events, so that theirs may last up to a minute longer.
 * Source: the facts, section 6 (TTL 1 h by default, renewed by each write, an expiry appears as DELETED).
 */
import type { Cancel, Micros, Process } from "../../kernel/types.ts";
import { prefixEnd } from "../../store/sorted-index.ts";
import type { Store } from "../../store/types.ts";

export interface EventExpiryOptions {
  readonly process: Process;
  readonly store: Store;
  /** Where events lie in the store. */
  readonly prefix: string;
  /** Microseconds > 0. */
  readonly ttlMicros: Micros;
}

/** Expires events until the process crashes. Several servers may do so on one store: the first is enough. */
export function startEventExpiry({ process, store, prefix, ttlMicros }: EventExpiryOptions): void {
  const { clock } = process;
  /** When each goes, soonest first: all live equally long, so that a written one goes to the end. */
  const due = new Map<string, Micros>();
  let timer: Cancel | undefined;

  const wake = (): void => {
    const [soonest] = due.values();
    timer = soonest === undefined ? undefined : clock.after(soonest - clock.nowMicros(), expire);
  };
  const expire = (): void => {
    for (const [key, at] of due) {
      if (at > clock.nowMicros()) break;
      due.delete(key);
      remove(key);
    }
    wake();
  };
  const remove = (key: string): void => {
    const found = store.get(key);
    if (typeof found !== "object") return;
    const revision = store.delete(key, found.modRevision);
    if (revision !== undefined) process.trace("expire", key, revision);
  };
  const renew = (key: string): void => {
    due.delete(key);
    due.set(key, clock.nowMicros() + ttlMicros);
    if (timer === undefined) wake();
  };

  const present = store.range(prefix, prefixEnd(prefix), { count: false });
  if (typeof present === "object") for (const { key } of present.items) renew(key);
  const stop = store.subscribe(({ key, value }) => {
    if (!key.startsWith(prefix)) return;
    if (value === undefined) due.delete(key);
    else renew(key);
  });
  process.onCrash(stop);
}
