/**
 * The store in memory. The newest state lies in a map and an index of its keys; the past lies in the log, and a
 * read of it walks back from each key's newest change. Nothing is copied when somebody takes a snapshot: a
 * revision number is the snapshot.
 */
import { invariant } from "../kernel/invariant.ts";
import { RevisionLog, type KeyRecord } from "./revision-log.ts";
import { SortedIndex } from "./sorted-index.ts";
import type { KeyValue, RangeResult, RevisionProblem, Store, StoredValue, StoreEvent, StoreJournal } from "./types.ts";

/** Counts of what follows a page, kept for the page that comes next. */
const KEPT_COUNTS_MAX = 4096;

const nothing = (): void => {};

type RangeOptions = NonNullable<Parameters<Store["range"]>[2]>;

export interface RevisionStoreOptions {
  /** Revision of the empty store, an integer >= 1. Default 1, as the real one begins. */
  readonly firstRevision?: number;
  /** What another process left: all that lives at `revision`. Its history is compacted. Default: nothing. */
  readonly restored?: { readonly revision: number; readonly items: readonly KeyValue[] };
  /** Default: nothing outlives the process. */
  readonly journal?: StoreJournal;
}

export class RevisionStore implements Store {
  private readonly firstRevision: number;
  private readonly journal: StoreJournal | undefined;
  private current: number;
  private compacted = 0;
  private readonly log: RevisionLog;
  private readonly records = new Map<string, KeyRecord>();
  /** Every key that a retained revision may know. */
  private readonly known = new SortedIndex<KeyRecord>();
  /** Those of them that hold nothing now: few, since compaction takes them out, so what lives needs no index of its own. */
  private readonly gone = new SortedIndex<KeyRecord>();
  private readonly keptCounts = new Map<string, number>();
  /** Replaced when somebody comes or goes, so that a round of telling is not disturbed. */
  private listeners: readonly { hear: (event: StoreEvent) => void }[] = [];
  private readonly untold: StoreEvent[] = [];
  private telling = false;
  private making = false;

  constructor(options: RevisionStoreOptions = {}) {
    const { restored } = options;
    this.firstRevision = restored?.revision ?? options.firstRevision ?? 1;
    this.journal = options.journal;
    this.current = this.firstRevision;
    invariant(Number.isSafeInteger(this.current) && this.current >= 1, "revisions begin at 1 or later", options);
    this.log = new RevisionLog(this.current + 1);
    if (restored !== undefined) this.restore(restored.items);
  }

  get revision(): number {
    return this.current;
  }

  get isJournaled(): boolean {
    return this.journal !== undefined;
  }

  get compactedRevision(): number {
    return this.compacted;
  }

  put(key: string, expectedRevision: number, make: (revision: number) => StoredValue): number | undefined {
    const known = this.records.get(key);
    const held = known === undefined || known.value === undefined ? 0 : known.head;
    if (held !== expectedRevision) return undefined;
    const value = this.made(make);
    this.journal?.write(this.current + 1, key, value);
    if (known === undefined) return this.commit(this.newRecord(key), value);
    if (held === 0) this.gone.remove(key);
    return this.commit(known, value);
  }

  delete(key: string, expectedRevision: number): number | undefined {
    const record = this.records.get(key);
    if (record === undefined || record.value === undefined || record.head !== expectedRevision) return undefined;
    invariant(!this.making, "a value that is being made does not write", { key });
    this.journal?.write(this.current + 1, key, undefined);
    this.gone.insert(record);
    return this.commit(record, undefined);
  }

  get(key: string, revision?: number): KeyValue | undefined | RevisionProblem {
    const problem = revision === undefined ? undefined : this.problemAt(revision);
    if (problem !== undefined) return problem;
    const record = this.records.get(key);
    if (record === undefined) return undefined;
    if (revision === undefined || record.head <= revision) {
      return record.value === undefined ? undefined : { key, value: record.value, modRevision: record.head };
    }
    return this.read(record, revision);
  }

  range(start: string, end: string, options: RangeOptions = {}): RangeResult | RevisionProblem {
    const { limit = 0, revision = this.current, count = true } = options;
    const problem = this.problemAt(revision);
    if (problem !== undefined) return problem;
    const items: KeyValue[] = [];
    let more = false;
    const take = (item: KeyValue | undefined): boolean => {
      if (item === undefined) return true;
      more = items.length === limit && limit > 0;
      if (!more) items.push(item);
      return !more;
    };
    if (revision === this.current) {
      this.known.scan(start, end, ({ key, value, head }) =>
        take(value === undefined ? undefined : { key, value, modRevision: head }),
      );
    } else {
      this.known.scan(start, end, (record) => take(this.read(record, revision)));
    }
    return { items, more, remaining: count ? this.remaining(start, end, revision, items, more) : undefined, revision };
  }

  count(start: string, end: string, revision = this.current): number | RevisionProblem {
    return this.problemAt(revision) ?? this.countAt(start, end, revision);
  }

  since(after: number, prefix: string): Iterable<StoreEvent> | "compacted" {
    return after < this.compacted ? "compacted" : this.eventsAfter(after, prefix);
  }

  subscribe(listener: (event: StoreEvent) => void): () => void {
    const entry = { hear: listener };
    this.listeners = [...this.listeners, entry];
    return () => {
      entry.hear = nothing;
      this.listeners = this.listeners.filter((other) => other !== entry);
    };
  }

  compact(revision: number): void {
    invariant(revision <= this.current, "only the past can be compacted", { revision, current: this.current });
    if (revision <= this.compacted) return;
    this.log.compact(revision, (record, at) => {
      if (record.head !== at || record.value !== undefined) return;
      this.records.delete(record.key);
      this.known.remove(record.key);
      this.gone.remove(record.key);
    });
    this.compacted = revision;
  }

  private problemAt(revision: number): RevisionProblem | undefined {
    if (revision > this.current) return "future";
    return revision < this.compacted ? "compacted" : undefined;
  }

  private made(make: (revision: number) => StoredValue): StoredValue {
    invariant(!this.making, "a value that is being made does not write");
    this.making = true;
    try {
      return make(this.current + 1);
    } finally {
      this.making = false;
    }
  }

  private restore(items: readonly KeyValue[]): void {
    this.compacted = this.current;
    for (const { key, value, modRevision } of items) {
      invariant(modRevision <= this.current, "nothing was written later than the last write", { key, modRevision });
      const record: KeyRecord = { key, head: modRevision, value, baseRevision: modRevision, baseValue: value };
      this.records.set(key, record);
      this.known.insert(record);
    }
  }

  private newRecord(key: string): KeyRecord {
    const record: KeyRecord = { key, head: 0, value: undefined, baseRevision: 0, baseValue: undefined };
    this.records.set(key, record);
    this.known.insert(record);
    return record;
  }

  private commit(record: KeyRecord, value: StoredValue | undefined): number {
    const revision = ++this.current;
    this.log.append(revision, record, value);
    record.head = revision;
    record.value = value;
    if (this.listeners.length > 0) {
      const event = this.event(revision, record);
      if (this.telling) this.untold.push(event);
      else this.tell(event);
    }
    return revision;
  }

  /** One who throws keeps nobody else from hearing: the first such error is thrown when all are told. */
  private tell(first: StoreEvent): void {
    const thrown: unknown[] = [];
    this.telling = true;
    for (let event: StoreEvent | undefined = first; event !== undefined; event = this.untold.shift()) {
      for (const listener of this.listeners) {
        try {
          listener.hear(event);
        } catch (error) {
          if (thrown.length === 0) thrown.push(error);
        }
      }
    }
    this.telling = false;
    if (thrown.length > 0) throw thrown[0];
  }

  private event(revision: number, record: KeyRecord): StoreEvent {
    const value = this.log.valueAt(revision);
    const before = this.log.previousOf(revision);
    const previous = before > this.compacted ? this.log.valueAt(before) : before === 0 ? undefined : record.baseValue;
    return { revision, key: record.key, value, previous, previousRevision: previous === undefined ? 0 : before };
  }

  private *eventsAfter(after: number, prefix: string): Generator<StoreEvent> {
    const until = this.current;
    for (let revision = Math.max(after, this.firstRevision) + 1; revision <= until; revision++) {
      invariant(revision > this.compacted, "history is not compacted while it is read", { revision });
      const record = this.log.recordAt(revision);
      if (record.key.startsWith(prefix)) yield this.event(revision, record);
    }
  }

  private read(record: KeyRecord, revision: number): KeyValue | undefined {
    const found = this.log.find(record, revision);
    if (found === 0) return undefined;
    const value = this.log.valueFound(record, found);
    return value === undefined ? undefined : { key: record.key, value, modRevision: found };
  }

  /** Paging through a snapshot asks for the count of ever later ranges of it: each is the one before less a page. */
  private remaining(start: string, end: string, revision: number, items: readonly KeyValue[], more: boolean): number {
    const last = items.at(-1);
    if (!more) return 0;
    const total = this.keptCounts.get(`${revision} ${start} ${end}`) ?? this.countAt(start, end, revision);
    const remaining = total - items.length;
    if (last !== undefined) {
      this.keptCounts.set(`${revision} ${last.key}\0 ${end}`, remaining);
      if (this.keptCounts.size > KEPT_COUNTS_MAX) this.keptCounts.delete(this.keptCounts.keys().next().value as string);
    }
    return remaining;
  }

  private countAt(start: string, end: string, revision: number): number {
    if (revision === this.current) return this.countNow(start, end);
    if (this.current - revision < this.known.count(start, end)) return this.countBack(start, end, revision);
    let count = 0;
    this.known.scan(start, end, (record) => {
      if (this.read(record, revision) !== undefined) count++;
      return true;
    });
    return count;
  }

  private countNow(start: string, end: string): number {
    return this.known.count(start, end) - this.gone.count(start, end);
  }

  /** The present count, with all that came and went since `revision` undone. */
  private countBack(start: string, end: string, revision: number): number {
    let count = this.countNow(start, end);
    for (let at = this.current; at > revision; at--) {
      const { key, value, previous } = this.event(at, this.log.recordAt(at));
      if ((value === undefined) === (previous === undefined)) continue;
      if (this.known.precedes(key, start) || (end !== "" && !this.known.precedes(key, end))) continue;
      count += value === undefined ? 1 : -1;
    }
    return count;
  }
}
