/** The store as the source of a type that has no watch cache: always at the newest revision. */
import type { Cancel } from "../../kernel/types.ts";
import type { KeyValue, RangeResult, Store, StoreEvent } from "../../store/types.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { Audience } from "./audience.ts";
import type { Source } from "./source.ts";

const nothing: Cancel = () => {};

export class StoreView implements Source {
  readonly cached = false;
  readonly audience: Audience;
  private readonly prefix: string;
  private readonly store: Store;

  constructor(store: Store, prefix: string) {
    this.store = store;
    this.prefix = prefix;
    this.audience = new Audience(prefix);
  }

  get applied(): number {
    return this.store.revision;
  }

  get(key: string): KeyValue | undefined {
    return this.store.get(key) as KeyValue | undefined;
  }

  range(start: string, end: string, options: { readonly limit?: number; readonly count?: boolean } = {}): RangeResult {
    return this.store.range(start, end, options) as RangeResult;
  }

  objects(start: string, end: string): readonly JsonObject[] {
    return this.range(start, end, { count: false }).items.map(({ value }) => value as JsonObject);
  }

  oldestStart(): number {
    return this.store.compactedRevision;
  }

  keepsAfter(revision: number): boolean {
    return this.store.compactedRevision <= revision;
  }

  eventsAfter(revision: number): Iterable<StoreEvent> {
    const events = this.store.since(revision, this.prefix);
    return events === "compacted" ? [] : events;
  }

  /** The store has no later revision to wait for: it is the first to know. */
  whenApplied(revision: number, _timeoutMicros: number, done: (reached: boolean) => void): Cancel {
    done(this.store.revision >= revision);
    return nothing;
  }
}
