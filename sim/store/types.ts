/**
 * The store: one revision counter, per-key revision lists and one log. Values are frozen objects and
 * never copied. Everything is synchronous; links and lag are the front-end's affair.
 * Stands for etcd 3: revisions, ranges at a revision, compare-and-set, watch from a revision, compaction.
 */

/** A stored value is opaque to the store but for its identity. */
export type StoredValue = object;

/** One change. `revision` is the store revision that it made; several keys never share one. */
export interface StoreEvent {
  readonly revision: number;
  readonly key: string;
  /** Undefined for a deletion. */
  readonly value: StoredValue | undefined;
  /** What the key held just before; undefined for a creation. */
  readonly previous: StoredValue | undefined;
  /** Revision at which the key's present incarnation was last written before this change; 0 for a creation. */
  readonly previousRevision: number;
}

export interface KeyValue {
  readonly key: string;
  readonly value: StoredValue;
  /** Revision of the last write of this key at or before the revision read. */
  readonly modRevision: number;
}

/** Why a read at a revision was refused. */
export type RevisionProblem = "compacted" | "future";

export interface RangeResult {
  readonly items: readonly KeyValue[];
  /** True when keys of the range beyond `limit` exist at that revision. */
  readonly more: boolean;
  /** Keys of the whole range [start, end) at that revision that are not in `items`; undefined when `count` was false. */
  readonly remaining: number | undefined;
  /** The revision read. */
  readonly revision: number;
}

export interface Store {
  /** Whether each write waits for a disk. */
  readonly isJournaled?: boolean;
  /** Revision of the last write; 1 for an empty store, as the real one begins. */
  readonly revision: number;
  /** Reads below this revision are refused; 0 before the first compaction. */
  readonly compactedRevision: number;
  get(key: string, revision?: number): KeyValue | undefined | RevisionProblem;
  /**
   * Keys in [start, end) in the order of their UTF-8 bytes, at `revision` (default: now), at most `limit` (0 = all).
   * An empty `end` means no end. `count` false (default true) spares the count of what remains.
   */
  range(
    start: string,
    end: string,
    options?: { readonly limit?: number; readonly revision?: number; readonly count?: boolean },
  ): RangeResult | RevisionProblem;
  /** How many keys [start, end) holds at `revision` (default: now). */
  count(start: string, end: string, revision?: number): number | RevisionProblem;
  /**
   * Writes when the key's modRevision is `expectedRevision` (0 = absent). `make` builds the value and
   * learns the revision that it will have. Returns the new revision, or undefined when the expectation failed.
   */
  put(key: string, expectedRevision: number, make: (revision: number) => StoredValue): number | undefined;
  /** Deletes when the modRevision is `expectedRevision`. Returns the revision of the deletion, or undefined. */
  delete(key: string, expectedRevision: number): number | undefined;
  /** Events with revision > `after`, in order, of keys that begin with `prefix`; "compacted" when some may be gone. */
  since(after: number, prefix: string): Iterable<StoreEvent> | "compacted";
  /**
   * Calls `listener` synchronously after each commit, in subscription order. A commit made by a listener is
   * told to all after the one that it hears of, so that everybody sees the same order.
   */
  subscribe(listener: (event: StoreEvent) => void): () => void;
  /** Drops history so that reads at `revision` and later still work. Values live at `revision` are kept. */
  compact(revision: number): void;
}

/** What outlives the process: told of each change before it counts, and before whoever asked for it is answered. */
export interface StoreJournal {
  /** Returns once the change cannot be lost; `value` is undefined for a deletion. What it throws undoes the write. */
  write(revision: number, key: string, value: StoredValue | undefined): void;
}
