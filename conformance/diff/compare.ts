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
  /** What stands there, as JSON; undefined where there is nothing. */
  readonly a: string | undefined;
  readonly b: string | undefined;
}

/** No more than this of a value is shown. */
const shownMax = 200;

/** All that differs. Where the statuses do, the rest follows from that and is left out. */
export function partings(what: string, a: MaskedAnswer, b: MaskedAnswer): Parting[] {
  if (a.status !== b.status) {
    return [{ cause: `${what}: status ${a.status} or ${b.status}`, a: shown(a.status), b: shown(b.status) }];
  }
  const names = [...new Set([...Object.keys(a.headers), ...Object.keys(b.headers)])].sort();
  const headers = names
    .filter((name) => a.headers[name] !== b.headers[name])
    .map((name) => ({
      cause: `${what}: header ${name}`,
      a: shown(a.headers[name]),
      b: shown(b.headers[name]),
    }));
  return [...headers, ...inValues(a.body, b.body, { what, owner: ownerOf(what, a.body, what), field: "" })];
}

interface Place {
  readonly what: string;
  /** Of the object that the field belongs to: its kind. */
  readonly owner: string;
  /** Within that object. Elements of arrays are all the same field. */
  readonly field: string;
}

function inValues(a: Json | undefined, b: Json | undefined, place: Place): Parting[] {
  if (a === undefined || b === undefined) {
    if (a === b) return [];
    return [parting(place, a === undefined ? "only in B" : "only in A", a, b)];
  }
  if (Array.isArray(a) && Array.isArray(b)) {
    if (a.length !== b.length) return [parting(place, "count differs", a, b)];
    return a.flatMap((item: Json, index) => {
      const other = (b as readonly Json[])[index] as Json;
      return inValues(item, other, inside(place, "[]", item));
    });
  }
  if (isJsonObject(a) && isJsonObject(b)) {
    // Objects of two kinds have nothing to compare.
    if (typeof a["kind"] === "string" && typeof b["kind"] === "string" && a["kind"] !== b["kind"]) {
      return [{ cause: `${place.what}: ${a["kind"]} or ${b["kind"]}`, a: shown(a["kind"]), b: shown(b["kind"]) }];
    }
    const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
    return keys.flatMap((key) => inValues(a[key], b[key], inside(place, `.${key}`, a[key] ?? b[key])));
  }
  if (a === b) return [];
  return [parting(place, typeOf(a) === typeOf(b) ? "value differs" : "type differs", a, b)];
}

const parting = ({ owner, field }: Place, how: string, a: Json | undefined, b: Json | undefined): Parting => ({
  cause: `${owner}: ${field === "" ? "the whole" : field.replace(/^\./, "")} ${how}`,
  a: shown(a),
  b: shown(b),
});

/** A step into a value. An object of its own, such as a list's item or an event's object, begins anew. */
function inside(place: Place, step: string, value: Json | undefined): Place {
  const within = { ...place, field: place.field + step };
  if (isJsonObject(value) && typeof value["kind"] === "string" && "metadata" in value) {
    return { ...place, owner: ownerOf(place.what, value, place.owner), field: "" };
  }
  const isItem = place.field === ".items" && step === "[]" && place.owner.endsWith("List");
  return isItem ? { ...place, owner: place.owner.slice(0, -"List".length), field: "" } : within;
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
