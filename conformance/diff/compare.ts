/** Where two masked answers part, and what is behind it: the same field of the same kind, differing in the same way. */
import { isJsonObject, type Json } from "../client/types.ts";

/** One server's answer to one step, masked. */
export interface MaskedAnswer {
  readonly status: number;
  /** Only those that are compared, lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Of a watch: its events, as an array. Text where it is no JSON. */
  readonly body: Json;
}

export interface Parting {
  /** The same for every answer in which this is what differs: the group of a difference. */
  readonly cause: string;
  /** Where in the answer: `status`, `header warning`, `items[0].metadata.name`; empty: the whole body. */
  readonly path: string;
  /** What stands there, as JSON, cut when long; undefined where there is nothing. */
  readonly a: string | undefined;
  readonly b: string | undefined;
}

/** No more than this of a value is shown. */
const shownMax = 200;

/** All that differs. Where the statuses do, the rest follows from that and is left out. */
export function partings(what: string, a: MaskedAnswer, b: MaskedAnswer): Parting[] {
  if (a.status !== b.status) {
    const cause = `${what}: status ${a.status} or ${b.status}`;
    return [{ cause, path: "status", a: shown(a.status), b: shown(b.status) }];
  }
  const names = [...new Set([...Object.keys(a.headers), ...Object.keys(b.headers)])].sort();
  const headers = names
    .filter((name) => a.headers[name] !== b.headers[name])
    .map((name) => ({
      cause: `${what}: header ${name}`,
      path: `header ${name}`,
      a: shown(a.headers[name]),
      b: shown(b.headers[name]),
    }));
  return [...headers, ...inValues(a.body, b.body, { what, owner: ownerOf(what, a.body, what), field: "", path: "" })];
}

interface Place {
  readonly what: string;
  /** Of the object that the field belongs to: its kind. */
  readonly owner: string;
  /** Within that object. Elements of arrays are all the same field. */
  readonly field: string;
  /** Within the answer. */
  readonly path: string;
}

function inValues(a: Json | undefined, b: Json | undefined, place: Place): Parting[] {
  if (a === undefined || b === undefined) {
    if (a === b) return [];
    return [parting(place, a === undefined ? "only in B" : "only in A", a, b)];
  }
  if (Array.isArray(a) && Array.isArray(b)) {
    if (a.length !== b.length) return [inCounts(place, a as readonly Json[], b as readonly Json[])];
    return a.flatMap((item: Json, index) => {
      const other = (b as readonly Json[])[index] as Json;
      return inValues(item, other, inside(place, index, item));
    });
  }
  if (isJsonObject(a) && isJsonObject(b)) {
    // Objects of two kinds have nothing to compare.
    if (typeof a["kind"] === "string" && typeof b["kind"] === "string" && a["kind"] !== b["kind"]) {
      const cause = `${place.what}: ${a["kind"]} or ${b["kind"]}`;
      return [{ cause, path: `${place.path}.kind`.replace(/^\./, ""), a: shown(a["kind"]), b: shown(b["kind"]) }];
    }
    const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
    return keys.flatMap((key) => inValues(a[key], b[key], inside(place, key, a[key] ?? b[key])));
  }
  if (a === b) return [];
  return [parting(place, typeOf(a) === typeOf(b) ? "value differs" : "type differs", a, b)];
}

/** What both begin and end with is left out: what is between is where they part. */
function inCounts(place: Place, a: readonly Json[], b: readonly Json[]): Parting {
  const [ofA, ofB] = [a, b].map((items) => items.map((item) => JSON.stringify(item))) as [string[], string[]];
  const least = Math.min(a.length, b.length);
  let first = 0;
  while (first < least && ofA[first] === ofB[first]) first++;
  let last = 0;
  while (last < least - first && ofA.at(-1 - last) === ofB.at(-1 - last)) last++;
  const between = (items: readonly Json[]): Json => items.slice(first, items.length - last);
  const path = `${place.path}[${first}…]`;
  return { ...parting({ ...place, path }, "count differs", between(a), between(b)) };
}

const parting = ({ owner, field, path }: Place, how: string, a: Json | undefined, b: Json | undefined): Parting => ({
  cause: `${owner}: ${field === "" ? "the whole" : field.replace(/^\./, "")} ${how}`,
  path: path.replace(/^\./, ""),
  a: shown(a),
  b: shown(b),
});

/** A step into a value. An object of its own, such as a list's item or an event's object, begins anew. */
function inside(place: Place, step: string | number, value: Json | undefined): Place {
  const isElement = typeof step === "number";
  const path = isElement ? `${place.path}[${step}]` : `${place.path}.${step}`;
  if (isJsonObject(value) && typeof value["kind"] === "string" && "metadata" in value) {
    return { ...place, path, owner: ownerOf(place.what, value, place.owner), field: "" };
  }
  const isItem = place.field === ".items" && isElement && place.owner.endsWith("List");
  if (isItem) return { ...place, path, owner: place.owner.slice(0, -"List".length), field: "" };
  return { ...place, path, field: isElement ? `${place.field}[]` : `${place.field}.${step}` };
}

/** Refusals are told apart by what was asked and by their reason; objects are not. */
function ownerOf(what: string, value: Json, otherwise: string): string {
  if (!isJsonObject(value) || typeof value["kind"] !== "string") return otherwise;
  return value["kind"] === "Status" ? `${what}: Status ${String(value["reason"] ?? "")}`.trimEnd() : value["kind"];
}

const typeOf = (value: Json): string => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value);

function shown(value: Json | undefined): string | undefined {
  if (value === undefined) return undefined;
  const text = JSON.stringify(value);
  return text.length <= shownMax ? text : `${text.slice(0, shownMax)}…`;
}
