/**
 * The store of a simulated cluster, with what can happen to it: a crash, a restore from a backup, a full disk. It keeps
 * a journal, as the real one keeps its log: after a crash it is what the journal on disk says. Published bugs of stores
 * are planted here.
 */
import { ApiError } from "../contract/errors.ts";
import type { Clock, Micros } from "../kernel/types.ts";
import type { SimulatedBugs } from "../planted/simulated-bugs.ts";
import { StoreOverlay } from "../planted/store-overlay.ts";
import { RevisionStore } from "../store/revision-store.ts";
import type { KeyValue, RangeResult, RevisionProblem, Store, StoredValue, StoreEvent } from "../store/types.ts";

interface Entry {
  readonly event: StoreEvent;
  readonly atMicros: Micros;
}

/** Of the planted bug: how often what was acknowledged gets to the disk. */
const flushMicros: Micros = 400_000;
const oneMinute: Micros = 60_000_000;
/** No resource: its key has no second part. */
const bumpKey = "/registry/restored";
const eventsPrefix = "/registry/events/";

export class FaultyStore implements Store {
  /** While it is true no write goes through. */
  full = false;
  /** Called after each compaction. */
  onCompact: (revision: number) => void = () => {};

  private inner = new RevisionStore();
  private readonly journal: Entry[] = [];
  private readonly clock: Clock;
  private readonly bugs: SimulatedBugs;
  private readonly overlay: StoreOverlay | undefined;
  private listeners: readonly { hear: (event: StoreEvent) => void }[] = [];
  private creations = 0;

  constructor(clock: Clock, bugs: SimulatedBugs) {
    this.clock = clock;
    this.bugs = bugs;
    const hides = ["compaction-resurrects-deleted", "compaction-drops-live-recreated", "event-ttl-no-deleted"] as const;
    this.overlay = hides.some((bug) => bugs.has(bug)) ? new StoreOverlay() : undefined;
    this.follow();
  }

  get revision(): number {
    return this.inner.revision;
  }

  get compactedRevision(): number {
    return this.inner.compactedRevision;
  }

  get(key: string, revision?: number): KeyValue | undefined | RevisionProblem {
    const found = this.inner.get(key, revision);
    return this.overlay === undefined ? found : this.overlay.get(key, found);
  }

  range(start: string, end: string, options?: Parameters<Store["range"]>[2]): RangeResult | RevisionProblem {
    const found = this.inner.range(start, end, options);
    return this.overlay === undefined || typeof found === "string" ? found : this.overlay.range(start, end, found);
  }

  count(start: string, end: string, revision?: number): number | RevisionProblem {
    return this.inner.count(start, end, revision);
  }

  put(key: string, expectedRevision: number, make: (revision: number) => StoredValue): number | undefined {
    if (this.full) throw new ApiError(500, undefined, "etcdserver: mvcc: database space exceeded");
    const revision = this.inner.put(key, expectedRevision, make);
    this.overlay?.written(key);
    if (revision !== undefined && expectedRevision === 0) this.shadow(key);
    return revision;
  }

  delete(key: string, expectedRevision: number): number | undefined {
    if (this.bugs.has("event-ttl-no-deleted") && key.startsWith(eventsPrefix)) {
      this.overlay?.hide(key);
      return this.inner.revision;
    }
    const revision = this.inner.delete(key, expectedRevision);
    if (revision !== undefined && this.bugs.has("event-lease-batch-wrong-expiry")) this.revokeLeaseOf(key);
    return revision;
  }

  since(after: number, prefix: string): Iterable<StoreEvent> | "compacted" {
    return this.inner.since(after, prefix);
  }

  subscribe(listener: (event: StoreEvent) => void): () => void {
    const entry = { hear: listener };
    this.listeners = [...this.listeners, entry];
    return () => {
      entry.hear = () => {};
      this.listeners = this.listeners.filter((other) => other !== entry);
    };
  }

  compact(revision: number): void {
    const before = this.inner.compactedRevision;
    this.inner.compact(revision);
    if (this.inner.compactedRevision === before) return;
    const dropped = (): readonly Entry[] =>
      this.journal.filter(({ event }) => event.revision > before && event.revision <= revision);
    if (this.bugs.has("compaction-resurrects-deleted")) {
      for (const { event } of dropped())
        if (event.value === undefined && event.previous !== undefined && this.inner.get(event.key) === undefined)
          this.overlay?.raise({ key: event.key, value: event.previous, modRevision: event.previousRevision });
    }
    if (this.bugs.has("compaction-drops-live-recreated")) {
      const last = dropped().at(-1)?.event;
      const isRecreation = last?.value !== undefined && last.previous === undefined && this.wasDeletedBefore(last);
      if (last !== undefined && isRecreation) this.overlay?.hide(last.key);
    }
    this.onCompact(revision);
  }

  /** The process dies. What comes back is what is on disk; whoever was connected must start anew. */
  crash(): void {
    const now = this.clock.nowMicros();
    const isLazy = this.bugs.has("acked-write-lost-on-crash");
    const flushedAt = now - (now % flushMicros);
    const kept = isLazy ? this.journal.filter(({ atMicros }) => atMicros < flushedAt) : [...this.journal];
    this.become(kept);
    this.follow();
  }

  /**
   * Back to what a backup has that is so old, or the beginning. Versions go on from where they were, and what was before
   * is compacted, as the operators' manual wants it.
   */
  restore(agoMicros: Micros): void {
    const asOf = this.clock.nowMicros() - agoMicros;
    const reached = this.inner.revision;
    this.become(this.journal.filter(({ atMicros }) => atMicros <= asOf));
    if (!this.bugs.has("rv-rewind-after-restore")) {
      while (this.inner.revision <= reached) {
        const revision = this.inner.put(bumpKey, 0, () => Object.freeze({})) as number;
        this.inner.delete(bumpKey, revision);
      }
      this.inner.compact(this.inner.revision);
    }
    this.follow();
  }

  private become(kept: readonly Entry[]): void {
    const compacted = this.inner.compactedRevision;
    const inner = new RevisionStore();
    const entries: Entry[] = [];
    for (const { event, atMicros } of kept) {
      const { key, value } = event;
      const held = inner.get(key);
      const expected = typeof held === "object" ? held.modRevision : 0;
      if (value === undefined) inner.delete(key, expected);
      else inner.put(key, expected, () => value);
      entries.push({ event, atMicros });
    }
    if (compacted > 0) inner.compact(Math.min(compacted, inner.revision));
    this.inner = inner;
    this.journal.length = 0;
    for (const entry of entries) this.journal.push(entry);
  }

  /** Everything that is kept, oldest first: what the state of the present is made of. */
  get events(): readonly StoreEvent[] {
    return this.journal.map(({ event }) => event);
  }

  private follow(): void {
    this.inner.subscribe((event) => {
      this.journal.push({ event, atMicros: this.clock.nowMicros() });
      for (const listener of this.listeners) listener.hear(event);
    });
  }

  private wasDeletedBefore({ key, revision }: StoreEvent): boolean {
    return this.journal.some(
      ({ event }) => event.key === key && event.revision < revision && event.value === undefined,
    );
  }

  /** The planted bug of the corrupt key: every fourth new ConfigMap lies under a second key, too. */
  private shadow(key: string): void {
    if (!this.bugs.has("corrupt-key-duplicate-object") || !key.startsWith("/registry/configmaps/default/")) return;
    if (key.endsWith("~") || ++this.creations % 4 !== 0) return;
    const held = this.inner.get(key);
    if (typeof held === "object" && this.inner.get(`${key}~`) === undefined)
      this.inner.put(`${key}~`, 0, () => held.value);
  }

  /** The planted bug of the shared lease: with one event go those that were made within a minute after it. */
  private revokeLeaseOf(key: string): void {
    if (!key.startsWith(eventsPrefix)) return;
    const madeAt = (of: string): Micros => this.journal.find(({ event }) => event.key === of)?.atMicros ?? 0;
    const first = madeAt(key);
    const range = this.inner.range(eventsPrefix, "/registry/events0", { count: false });
    if (typeof range === "string") return;
    for (const { key: other, modRevision } of range.items)
      if (madeAt(other) >= first && madeAt(other) < first + oneMinute) this.inner.delete(other, modRevision);
  }
}
