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
  const due = new Departures();
  let timer: Cancel | undefined;

  const wake = (): void => {
    const next = due.first();
    timer = next === undefined ? undefined : clock.after(next.atMicros - clock.nowMicros(), expire);
  };
  const expire = (): void => {
    for (let next = due.first(); next !== undefined && next.atMicros <= clock.nowMicros(); next = due.first()) {
      due.delete(next.key);
      remove(next.key);
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

interface Departure {
  readonly key: string;
  readonly atMicros: Micros;
}

/** From here on the order is made anew without those that have gone, when they are half of it. */
const goneMin = 1024;

/**
 * When each key goes, soonest first: all live equally long, so that a written one goes to the end. A map alone would keep that
 * order, but going through it from its beginning passes all that was deleted there.
 */
class Departures {
  private readonly byKey = new Map<string, Departure>();
  /** In the order of going. Those that have gone, or go later by now, are left out when they are met. */
  private order: Departure[] = [];
  private head = 0;

  set(key: string, atMicros: Micros): void {
    const departure = { key, atMicros };
    this.byKey.set(key, departure);
    this.order.push(departure);
    if (this.order.length < goneMin + 2 * this.byKey.size) return;
    this.order = this.order.filter((each) => this.byKey.get(each.key) === each);
    this.head = 0;
  }

  delete(key: string): void {
    this.byKey.delete(key);
  }

  first(): Departure | undefined {
    for (; this.head < this.order.length; this.head++) {
      const next = this.order[this.head] as Departure;
      if (this.byKey.get(next.key) === next) return next;
    }
    return undefined;
  }
}
