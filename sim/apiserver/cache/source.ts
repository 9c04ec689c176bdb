/**
 * Where the reads of one resource are served from: a watch cache, or the store itself for types that have none.
 * Reads are of the state that is `applied` here; what was committed later does not exist yet.
 */
import type { Cancel, Micros } from "../../kernel/types.ts";
import type { KeyValue, RangeResult, StoreEvent } from "../../store/types.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { Audience } from "./audience.ts";

export interface Source {
  readonly cached: boolean;
  /** Revision of the state that is read here. */
  readonly applied: number;
  readonly audience: Audience;
  get(key: string): KeyValue | undefined;
  /** As the store's `range`, at the state applied. */
  range(start: string, end: string, options?: { readonly limit?: number; readonly count?: boolean }): RangeResult;
  /** All objects of [start, end); the same array again while nothing in the resource changed. */
  objects(start: string, end: string): readonly JsonObject[];
  /** A watch may start after this revision or a later one. */
  oldestStart(): number;
  /** Whether every applied event of this resource after `revision` can still be had. */
  keepsAfter(revision: number): boolean;
  /** Applied events with revision > `revision`, oldest first, as long as they are kept; `max` of them at most. */
  eventsAfter(revision: number, max?: number): Iterable<StoreEvent>;
  /** Calls `done(true)` once `revision` is applied, at once if it is; `done(false)` after `timeoutMicros`. */
  whenApplied(revision: number, timeoutMicros: Micros, done: (reached: boolean) => void): Cancel;
}
