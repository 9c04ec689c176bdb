/**
 * The object layer: pure functions on objects, driven by the type tables. No HTTP, no store, no clock.
 *
 * A write passes through it in this order (each line names the file that exports the function):
 *
 *   decodeObject          decode.ts          bytes or an object → a private draft, normalised and defaulted, plus warnings
 *   walkAheadSteps        walk-ahead.ts      the parts of a large one, in steps: decoding the whole finds them done
 *   readMergePatchBody    decode-patch.ts    the body of a PATCH, read once
 *   readJsonPatchBody     decode-patch.ts
 *   readStrategicPatchBody decode-patch.ts
 *   decodePatched         decode-patch.ts    a stored object and a patch → a draft, as decodeObject makes it
 *   readConfiguration     apply/configuration.ts   the body of an application, read once
 *   applyMigrating        apply/last-applied.ts    a stored object and a configuration → an object and its owners
 *   Strategy              strategy.ts        what is special about a resource; `sim/kinds` knows it
 *   wipeSystemFields      system-fields.ts   before anything looks at a new object's metadata
 *   trackManagedFields    managed-fields.ts  before admission, as the real server does
 *   prepareForCreate      system-fields.ts   after admission: uid, times, generated name, generation, status
 *   prepareForUpdate      system-fields.ts
 *   validateCreate        validation.ts      causes for a 422; empty when the object may be stored
 *   validateUpdate        validation.ts
 *   objectsEqual          equality.ts        is an update a no-op?
 *   finishMetadata        system-fields.ts   the last touch, in the store's `make`: of a new object
 *   withResourceVersion   system-fields.ts   and of a changed one
 *   seal                  seal.ts            deep freeze: from here on the object is shared
 *   digestOf              digest.ts          for the trace
 *
 * `sim/apiserver/verbs/write-law.ts` has the steps that a server takes, with what comes between them.
 *
 * A draft belongs to its request and may be mutated; a sealed object never changes. Drafts made from a patch share
 * their unchanged subtrees with the stored object, so code that writes into a draft copies what it finds frozen.
 */
import type { Dialect } from "../../wire/dialect.ts";
import type { TypeRow } from "../../wire/schema.ts";
import type { Json, JsonObject } from "./http-message.ts";

/** Document 1, field validation of request bodies: what happens to unknown and duplicate fields. */
export type FieldValidation = "Ignore" | "Warn" | "Strict";

/** What an endpoint takes: a kind in one version. */
export interface Target {
  readonly kind: string;
  /** Group and version in the `svc` dialect; "" for the core group. */
  readonly group: string;
  readonly version: string;
  readonly type: TypeRow;
  readonly dialect: Dialect;
  /** Earlier group versions (svc dialect) of the same form, no longer served and still read. */
  readonly alsoRead?: readonly string[];
  /** Fills in what a client left out; runs on every decoded body, so it must change nothing the second time. */
  readonly defaults?: ((draft: Draft, dialect: Dialect) => void) | undefined;
}

/** A private, mutable object on its way into the store. */
export type Draft = { [key: string]: Json | undefined };

/** `metadata` as the layer reads it. Every field may be absent; decoded values have these types. */
export interface Metadata {
  name?: string;
  generateName?: string;
  namespace?: string;
  selfLink?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number;
  creationTimestamp?: string | null;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Readonly<Record<string, string>>;
  annotations?: Readonly<Record<string, string>>;
  ownerReferences?: readonly OwnerReference[];
  finalizers?: readonly string[];
  managedFields?: readonly ManagedFieldsEntry[];
}

export interface OwnerReference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller?: boolean;
  readonly blockOwnerDeletion?: boolean;
}

export interface ManagedFieldsEntry {
  readonly manager?: string;
  readonly operation?: "Apply" | "Update";
  /** In the dialect of the server, as a client sees it. */
  readonly apiVersion?: string;
  /** RFC 3339, whole seconds, UTC. */
  readonly time?: string;
  readonly fieldsType?: string;
  readonly fieldsV1?: JsonObject;
  readonly subresource?: string;
}

const noMetadata: Metadata = Object.freeze({});

/** The metadata of a stored object or draft, for reading. */
export function metadataOf(object: JsonObject | Draft): Metadata {
  return (object["metadata"] as Metadata | undefined) ?? noMetadata;
}

/** The metadata of a draft, for writing: a frozen one is replaced by a copy first. */
export function ownMetadata(draft: Draft): Metadata {
  return ownChild(draft, "metadata") as Metadata;
}

/** The object under `key` for writing: made when absent, copied when frozen. */
export function ownChild(draft: Draft, key: string): Draft {
  const child = draft[key];
  if (isObject(child) && !Object.isFrozen(child)) return child as Draft;
  const own: Draft = isObject(child) ? { ...child } : {};
  draft[key] = own as JsonObject;
  return own;
}

/** The list under `key` for writing, its elements copied when frozen; undefined when there is none. */
export function ownList(draft: Draft, key: string): Draft[] | undefined {
  const list = draft[key];
  if (!Array.isArray(list)) return undefined;
  if (!Object.isFrozen(list)) return list as Draft[];
  const own = list.slice() as Draft[];
  draft[key] = own as unknown as Json;
  return own;
}

/** The element at `index` of a list that is already one's own. */
export function ownItem(list: Draft[], index: number): Draft {
  const item = list[index] as Draft;
  if (!Object.isFrozen(item)) return item;
  const own = { ...item };
  list[index] = own;
  return own;
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
