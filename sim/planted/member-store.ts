/**
 * One member's own copy of the store, for the planted bugs that take one: sound members are never told apart, and share
 * the store itself. Reads are from the copy, writes go to the store of all.
 */
import type { SimulatedBugs } from "./simulated-bugs.ts";
import { RevisionStore } from "../store/revision-store.ts";
import type { KeyValue, RangeResult, RevisionProblem, Store, StoredValue, StoreEvent } from "../store/types.ts";

export class MemberStore implements Store {
  private readonly all: Store;
  private readonly bugs: SimulatedBugs;
  private readonly copy = new RevisionStore();
  private readonly unheard: StoreEvent[] = [];
  private paused = false;
  /** By how much its versions are ahead of everybody's. */
  private ahead = 0;
  private last: StoreEvent | undefined;

  constructor(all: Store, bugs: SimulatedBugs) {
    this.all = all;
    this.bugs = bugs;
    const past = all.since(all.compactedRevision, "");
    if (past !== "compacted") for (const event of past) this.apply(event);
    all.subscribe((event) => {
      if (this.paused) this.unheard.push(event);
      else this.apply(event);
    });
  }

  get revision(): number {
    return this.copy.revision;
  }

  get compactedRevision(): number {
    return this.copy.compactedRevision;
  }

  /** The process of this member stands still: it hears nothing of the others. */
  pause(): void {
    if (this.bugs.has("stale-read-paused-member")) this.paused = true;
  }

  resume(): void {
    this.paused = false;
    for (const event of this.unheard.splice(0)) this.apply(event);
  }

  /** After a crash the last entry of the log is applied once more. */
  crash(): void {
    const { last } = this;
    if (!this.bugs.has("replica-divergence") || last?.value === undefined || this.ahead > 0) return;
    const { key, value } = last;
    const held = this.copy.get(key);
    this.ahead++;
    this.copy.put(key, typeof held === "object" ? held.modRevision : 0, (revision) => stamped(value, revision));
  }

  get(key: string, revision?: number): KeyValue | undefined | RevisionProblem {
    return this.copy.get(key, revision);
  }

  range(start: string, end: string, options?: Parameters<Store["range"]>[2]): RangeResult | RevisionProblem {
    return this.copy.range(start, end, options);
  }

  count(start: string, end: string, revision?: number): number | RevisionProblem {
    return this.copy.count(start, end, revision);
  }

  put(key: string, expectedRevision: number, make: (revision: number) => StoredValue): number | undefined {
    const revision = this.all.put(key, this.expected(key, expectedRevision), (at) => make(at));
    return revision === undefined ? undefined : revision + this.ahead;
  }

  delete(key: string, expectedRevision: number): number | undefined {
    if (this.paused && typeof this.all.get(key) !== "object") return this.all.revision;
    const revision = this.all.delete(key, this.expected(key, expectedRevision));
    return revision === undefined ? undefined : revision + this.ahead;
  }

  since(after: number, prefix: string): Iterable<StoreEvent> | "compacted" {
    return this.copy.since(after, prefix);
  }

  subscribe(listener: (event: StoreEvent) => void): () => void {
    return this.copy.subscribe(listener);
  }

  compact(revision: number): void {
    this.all.compact(Math.min(revision, this.all.revision));
    this.copy.compact(Math.min(revision, this.copy.revision));
  }

  /** The version that everybody else knows what this member knows at `revision`. */
  private expected(key: string, revision: number): number {
    const own = this.copy.get(key);
    const theirs = this.all.get(key);
    // A paused member writes over whatever there is: it believes that nobody else writes.
    if (this.paused) return typeof theirs === "object" ? theirs.modRevision : 0;
    const isNewest = typeof own === "object" && own.modRevision === revision;
    return isNewest && typeof theirs === "object" ? theirs.modRevision : revision;
  }

  private apply(event: StoreEvent): void {
    const { key, value } = event;
    const held = this.copy.get(key);
    const expected = typeof held === "object" ? held.modRevision : 0;
    this.last = event;
    if (value === undefined) this.copy.delete(key, expected);
    else this.copy.put(key, expected, (revision) => (this.ahead === 0 ? value : stamped(value, revision)));
  }
}

/** The same object at another version. */
function stamped(value: StoredValue, revision: number): StoredValue {
  const { metadata } = value as { metadata?: object };
  if (metadata === undefined) return value;
  return Object.freeze({ ...value, metadata: Object.freeze({ ...metadata, resourceVersion: String(revision) }) });
}
