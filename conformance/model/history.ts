/**
 * What was seen, as judges read it. Versions are opaque: they are compared for equality and never for order. What
 * came before what is known only from the places of sendings and answers (`began`, `ended`) and from the order of a
 * watch stream.
 */
import { type ApiObject, isApiObject, type JsonObject, keyOf, versionOf, type WatchEvent } from "../client/types.ts";

/** One event of a watch stream that says something about an object. */
export interface LogEvent {
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly key: string;
  readonly uid: string;
  readonly version: string;
  readonly object: ApiObject;
}

export type WriteVerb = "create" | "put" | "patch" | "delete";

/** One write as its writer saw it. */
export interface Write {
  readonly verb: WriteVerb;
  readonly key: string;
  /** Place of the sending. */
  readonly began: number;
  /** Place of the answer; undefined when none came: the write may have had its effect at any later time, or never. */
  readonly ended: number | undefined;
  /** HTTP status; undefined when no answer came. */
  readonly status: number | undefined;
  /** The version that the write demanded to find, if it did. */
  readonly demanded: string | undefined;
  /** The object in a 2xx answer, when the answer was one. */
  readonly object: ApiObject | undefined;
  /** Deletions: the uid that the answer names. */
  readonly uid: string | undefined;
}

/** One get of the most recent state. */
export interface Read {
  readonly key: string;
  readonly began: number;
  readonly ended: number;
  /** Undefined: 404. */
  readonly object: ApiObject | undefined;
}

export function acknowledged(write: Write): boolean {
  return write.status !== undefined && write.status < 300;
}

/** Undefined for bookmarks, errors and anything else that is no change of an object. */
export function logEvent(event: WatchEvent): LogEvent | undefined {
  const { type, object } = event;
  if ((type !== "ADDED" && type !== "MODIFIED" && type !== "DELETED") || !isApiObject(object)) return undefined;
  return { type, key: keyOf(object), uid: object.metadata.uid ?? "", version: versionOf(object), object };
}

export function logOf(events: readonly WatchEvent[]): LogEvent[] {
  return events.map(logEvent).filter((event) => event !== undefined);
}

/**
 * True when two answers show the same state of an object. kind and apiVersion are left out, for items of a list need
 * not repeat them, and so is the bookkeeping of field managers.
 */
export function sameContent(a: JsonObject, b: JsonObject): boolean {
  return a === b || fingerprint(a) === fingerprint(b);
}

const fingerprints = new WeakMap<JsonObject, string>();

function fingerprint(object: JsonObject): string {
  let known = fingerprints.get(object);
  if (known === undefined) {
    const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = object;
    const { managedFields: _managed, ...shown } = (metadata ?? {}) as JsonObject;
    known = JSON.stringify(sorted({ ...rest, metadata: shown }));
    fingerprints.set(object, known);
  }
  return known;
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).filter(([, child]) => child !== undefined);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, child]) => [key, sorted(child)]));
}

export function describeEvent(event: LogEvent): string {
  return `${event.type} ${event.key} (uid ${event.uid}) at ${event.version}`;
}

export function describeEvents(events: readonly LogEvent[], around = events.length - 1): string {
  const from = Math.max(0, around - 4);
  const shown = events.slice(from, from + 9).map((event) => `${event.type} ${event.key}@${event.version}`);
  return `${from > 0 ? "… " : ""}${shown.join(", ")}${from + 9 < events.length ? " …" : ""}` || "no event";
}
