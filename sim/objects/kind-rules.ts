/** What a kind may add to the rules that hold for all: the shape of the files in this folder. */
import type { Dialect } from "../../wire/dialect.ts";
import type { Cause } from "../contract/errors.ts";
import type { JsonObject } from "../contract/http-message.ts";
import type { Draft } from "../contract/objects.ts";

export interface KindRules {
  /** Fills in what the client left out. Runs on every decoded body, so it must change nothing the second time. */
  readonly defaults?: (draft: Draft, dialect: Dialect) => void;
  /** First status and other fields of a new object that only the server sets. */
  readonly prepareForCreate?: (draft: Draft, dialect: Dialect) => void;
  /** Puts back what an update through this path may not write. */
  readonly prepareForUpdate?: (draft: Draft, live: JsonObject, subresource: string, dialect: Dialect) => void;
  /** A first deletion only marks the object, and this is the mark; the draft has its deletionTimestamp already. */
  readonly markDeleted?: (draft: Draft, now: string, dialect: Dialect) => void;
  /** Causes of the object by itself, at creation and at every update; `live` is what it replaces. */
  readonly validate?: (object: JsonObject, causes: Cause[], dialect: Dialect, live?: JsonObject) => void;
  /** Causes of the step from `live` to `object` through this path; after those of the object itself. */
  readonly validateUpdate?: (
    object: JsonObject,
    live: JsonObject,
    causes: Cause[],
    subresource: string,
    dialect: Dialect,
  ) => void;
  /** The step is judged before the object itself. */
  readonly stepFirst?: true;
  /** Instead of the two above, for a write of the status alone. */
  readonly validateStatus?: (object: JsonObject, live: JsonObject, causes: Cause[], dialect: Dialect) => void;
  /** Of what is lawful but unwise in an object that was stored; `live` is what it replaces. */
  readonly warnings?: (object: JsonObject, live: JsonObject | undefined) => readonly string[];
  /** Told to whoever deletes without a word on dependents, which then stay. */
  readonly orphanWarning?: string;
}
