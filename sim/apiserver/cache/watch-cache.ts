/**
 * One resource as an API server sees it: the state at the revision that reached it, and the events that led
 * there. The state is put together when somebody first asks for it, as if it had been there from the start.
 */
import type { Cancel, Micros, Process } from "../../kernel/types.ts";
import { prefixEnd, SortedIndex } from "../../store/sorted-index.ts";
import type { KeyValue, RangeResult, Store, StoredValue, StoreEvent } from "../../store/types.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { type Unreadable, unreadableOf } from "../../contract/unreadable.ts";
import { Audience } from "./audience.ts";
import { EventHistory, type Retention } from "./event-history.ts";
import type { Feed } from "./feed.ts";
import type { Source } from "./source.ts";

const nothing: Cancel = () => {};

/** The present content of one key: changed in place, so that an update need not touch the index. */
interface Entry {
  readonly key: string;
  value: StoredValue;
  modRevision: number;
}

interface State {
  readonly entries: Map<string, Entry>;
  readonly sorted: SortedIndex<Entry>;
}

export interface WatchCacheOptions {
  readonly store: Store;
  readonly process: Process;
  /** Storage prefix of the resource, with its final slash. */
  readonly prefix: string;
  readonly retention: Retention;
  /** Revision of the store when the server started: the cache's first list. */
  readonly startRevision: number;
  readonly feed: Feed;
}

const noObjects: readonly JsonObject[] = Object.freeze([]);

export class WatchCache implements Source {
  readonly cached = true;
  readonly prefix: string;
  readonly audience: Audience;
  /** Replaced when the resource gets a lag of its own. */
  feed: Feed;
  private readonly store: Store;
  private readonly process: Process;
  private readonly unreadable: Unreadable;
  private readonly retention: Retention;
  private readonly history: EventHistory;
  /** Changes that have arrived, and those of them that watches could be told. */
  receivedCount = 0;
  toldCount = 0;
  private state: State | undefined;
  private readonly wholeLists = new Map<string, readonly JsonObject[]>();

  constructor(options: WatchCacheOptions) {
    this.store = options.store;
    this.unreadable = unreadableOf(options.store);
    this.process = options.process;
    this.prefix = options.prefix;
    this.retention = options.retention;
    this.feed = options.feed;
    this.audience = new Audience(options.prefix);
    this.history = new EventHistory(options.retention, options.startRevision);
  }

  /** How many past events there is room for; undefined where their age alone decides. */
  get historyCapacity(): number | undefined {
    return this.history.eventsMax;
  }

  get applied(): number {
    return this.feed.applied;
  }

  get(key: string): KeyValue | undefined {
    return this.present().entries.get(key);
  }

  range(start: string, end: string, options: { readonly limit?: number; readonly count?: boolean } = {}): RangeResult {
    const { limit = 0, count = true } = options;
    const { sorted } = this.present();
    const items: KeyValue[] = [];
    let more = false;
    sorted.scan(start, end, (entry) => {
      more = items.length === limit && limit > 0;
      if (!more) items.push({ key: entry.key, value: entry.value, modRevision: entry.modRevision });
      return !more;
    });
    const remaining = count ? (more ? sorted.count(start, end) - items.length : 0) : undefined;
    return { items, more, remaining, revision: this.applied };
  }

  objects(start: string, end: string): readonly JsonObject[] {
    const kept = this.wholeLists.get(start);
    if (kept !== undefined) return kept;
    const objects: JsonObject[] = [];
    this.present().sorted.scan(start, end, (entry) => {
      objects.push(entry.value as JsonObject);
      return true;
    });
    if (objects.length === 0) return noObjects; // what is not there has no end
    if (end === prefixEnd(start)) this.wholeLists.set(start, Object.freeze(objects));
    return objects;
  }

  oldestStart(): number {
    const kept = this.history.oldestStart(this.process.clock.nowMicros());
    // The ring outlives what the store compacts; the window is the store's own, and goes with it.
    return this.retention.kind === "ring" ? kept : Math.max(kept, Math.min(this.store.compactedRevision, this.applied));
  }

  /** Keeps none of the events that have arrived. Open watches go on. */
  forgetHistory(): void {
    this.history.forget(this.applied);
  }

  /** Keeps none of the events up to `revision`. */
  forgetThrough(revision: number): void {
    this.history.forgetThrough(revision);
  }

  keepsAfter(revision: number): boolean {
    return this.history.keepsAfter(revision, this.process.clock.nowMicros());
  }

  eventsAfter(revision: number, max?: number): readonly StoreEvent[] {
    return this.history.after(revision, max);
  }

  whenApplied(revision: number, timeoutMicros: Micros, done: (reached: boolean) => void): Cancel {
    if (this.applied >= revision) {
      done(true);
      return nothing;
    }
    let cancel: Cancel = nothing;
    const wait = (): Cancel =>
      this.feed.whenApplied(revision, timeoutMicros, (reached) => {
        // The resource may have been given a slower feed while somebody waited at the old one.
        if (reached && this.applied < revision) cancel = wait();
        else done(reached);
      });
    cancel = wait();
    return () => cancel();
  }

  /** A change of this resource has arrived; the feed's revision is its own already. */
  apply(event: StoreEvent): void {
    this.receivedCount++;
    if (this.wholeLists.size > 0) this.wholeLists.clear();
    if (this.state !== undefined) change(this.state, event.key, event.value, event.revision);
    if (this.unreadable.isLost(event)) {
      // What it has is what it would list anew; whoever watched from before must list as well.
      this.history.forget(event.revision);
      this.audience.lose(undefined);
      return;
    }
    this.history.append(event, this.process.clock.nowMicros());
    this.audience.tell(event);
    this.toldCount++;
  }

  /** Something broke while a change was applied: whoever watches begins anew, and the state is put together again. */
  reset(): void {
    this.state = undefined;
    this.wholeLists.clear();
    this.history.forget(this.applied);
    this.audience.lose(undefined);
  }

  /** A change whose turn has passed: readers see it unless the key has changed since, and no watch is told. */
  applyUntold(event: StoreEvent): void {
    const now = this.store.get(event.key);
    if (typeof now !== "object" || now.modRevision !== event.revision) return;
    this.wholeLists.clear();
    if (this.state !== undefined) change(this.state, event.key, event.value, event.revision);
  }

  private present(): State {
    this.state ??= this.stateApplied();
    return this.state;
  }

  private stateApplied(): State {
    const state: State = { entries: new Map(), sorted: new SortedIndex() };
    const end = prefixEnd(this.prefix);
    const then = this.store.range(this.prefix, end, { revision: this.applied, count: false });
    const range =
      typeof then === "string" ? (this.store.range(this.prefix, end, { count: false }) as RangeResult) : then;
    for (const { key, value, modRevision } of range.items) change(state, key, value, modRevision);
    if (range === then) return state;
    // The lag outlasts the store's own history: take what has not arrived out of the newest state.
    for (const { key, previous, previousRevision } of this.feed.pending.toReversed()) {
      if (key.startsWith(this.prefix)) change(state, key, previous, previousRevision);
    }
    return state;
  }
}

function change({ entries, sorted }: State, key: string, value: StoredValue | undefined, modRevision: number): void {
  const held = entries.get(key);
  if (value === undefined) {
    if (held === undefined) return;
    entries.delete(key);
    sorted.remove(key);
  } else if (held === undefined) {
    const entry = { key, value, modRevision };
    entries.set(key, entry);
    sorted.insert(entry);
  } else {
    held.value = value;
    held.modRevision = modRevision;
  }
}
