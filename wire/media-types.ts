/**
 * Media types, `Accept` lists and `Content-Type`, read exactly as the real server reads them. That is not quite
 * RFC 9110: a specific range stands before a wildcard whatever their q-values, q=0 refuses nothing, and quoted
 * parameter values are unknown to `Accept`.
 * Source: document 1, media types and content negotiation; the facts, section 5.
 */
import type { Dialect } from "./dialect.ts";

export const jsonMediaType = "application/json";
export const yamlMediaType = "application/yaml";
export const cborMediaType = "application/cbor";
export const cborSequenceMediaType = "application/cbor-seq";

/** Bodies of PATCH. */
export const patchMediaTypes = {
  json: "application/json-patch+json",
  merge: "application/merge-patch+json",
  strategic: "application/strategic-merge-patch+json",
  apply: "application/apply-patch+yaml",
  applyCbor: "application/apply-patch+cbor",
} as const;

/** A representation that a server can write. */
export interface Representation {
  readonly mediaType: string;
  /** `Content-Type` of a watch in this representation; undefined when it has no stream form. */
  readonly streamMediaType: string | undefined;
}

/** What built-in types are offered in, best first: that order decides a wildcard, and lists them in errors. */
export function representations(
  dialect: Dialect,
  offers: { readonly protobuf: boolean; readonly cbor: boolean },
): readonly Representation[] {
  const { protobufMediaType } = dialect;
  return [
    { mediaType: jsonMediaType, streamMediaType: jsonMediaType },
    { mediaType: yamlMediaType, streamMediaType: undefined },
    ...(offers.protobuf
      ? [{ mediaType: protobufMediaType, streamMediaType: `${protobufMediaType};stream=watch` }]
      : []),
    ...(offers.cbor ? [{ mediaType: cborMediaType, streamMediaType: cborSequenceMediaType }] : []),
  ];
}

/** One clause of an `Accept` header. */
export interface MediaRange {
  /** `*` for any. */
  readonly type: string;
  readonly subtype: string;
  /** 1 when unsaid, 0 when unreadable. Not limited to 0…1. */
  readonly quality: number;
  /** Without `q`. A later parameter of the same name wins. */
  readonly parameters: ReadonlyMap<string, string>;
}

/** The object asked for instead of the resource itself: `as`, `g` and `v` of a range. */
export interface Transform {
  readonly kind: string;
  readonly group: string;
  readonly version: string;
}

export interface Negotiated<R extends Representation> {
  readonly representation: R;
  readonly transform: Transform | undefined;
  /** The parameter `pretty=1` was given. */
  readonly pretty: boolean;
}

/**
 * The first representation that the header accepts, or undefined (406). A clause is passed over when it asks for a
 * transform that `allows` refuses, for an unknown stream, or for a server version. Unknown parameters are ignored.
 */
export function negotiate<R extends Representation>(
  accept: string,
  offered: readonly R[],
  allows: (representation: R, transform: Transform | undefined) => boolean,
): Negotiated<R> | undefined {
  const [first] = offered;
  if (accept === "") return first && { representation: first, transform: undefined, pretty: false };
  for (const range of parseAccept(accept)) {
    for (const representation of offered) {
      if (!covers(range, representation.mediaType)) continue;
      const { parameters } = range;
      const stream = parameters.get("stream") ?? "";
      if (stream !== "" && (stream !== "watch" || representation.streamMediaType === undefined)) continue;
      if ((parameters.get("sv") ?? "") !== "") continue;
      const transform = transformOf(parameters);
      if (allows(representation, transform)) {
        return { representation, transform, pretty: parameters.get("pretty") === "1" };
      }
    }
  }
  return undefined;
}

function covers({ type, subtype }: MediaRange, mediaType: string): boolean {
  if (type === "*") return subtype === "*";
  return mediaType === `${type}/${subtype}` || (subtype === "*" && mediaType.startsWith(`${type}/`));
}

function transformOf(parameters: ReadonlyMap<string, string>): Transform | undefined {
  const kind = parameters.get("as");
  const group = parameters.get("g");
  const version = parameters.get("v");
  if (kind === undefined && group === undefined && version === undefined) return undefined;
  return { kind: kind ?? "", group: group ?? "", version: version ?? "" };
}

/**
 * The clauses of an `Accept` header in the server's order of preference. Clauses that are no media range are dropped.
 * Simplification: the real server sorts more than 12 clauses by another algorithm, which matters only because its
 * comparison contradicts itself where a wildcard has a higher q-value than a specific range.
 */
export function parseAccept(header: string): readonly MediaRange[] {
  const ranges: MediaRange[] = [];
  for (const clause of header.split(",")) {
    const range = parseRange(clause);
    if (range === undefined) continue;
    let at = ranges.length;
    while (at > 0 && isBefore(range, ranges[at - 1] as MediaRange)) at--; // an insertion sort, as the server's
    ranges.splice(at, 0, range);
  }
  return ranges;
}

function isBefore(left: MediaRange, right: MediaRange): boolean {
  if (left.quality > right.quality) return true;
  return (left.type !== "*" && right.type === "*") || (left.subtype !== "*" && right.subtype === "*");
}

function parseRange(clause: string): MediaRange | undefined {
  const [range = "", ...rest] = trim(clause).split(";");
  const slash = range.indexOf("/");
  const type = trim(slash < 0 ? range : range.slice(0, slash));
  const [subtype = "", ...more] = slash < 0 ? [] : range.slice(slash + 1).split("/");
  if (more.join("/") !== "") return undefined;
  const only = subtype === "" && more.length === 0;
  if (only && type !== "*") return undefined; // but `*` alone is the full wildcard
  let quality = 1;
  const parameters = new Map<string, string>();
  for (const parameter of rest) {
    const [name = "", value = "", ...excess] = parameter.split("=");
    if (value === "" || excess.join("=") !== "") continue;
    if (trim(name) === "q") quality = parseQuality(value);
    else parameters.set(trim(name), trim(value));
  }
  return { type, subtype: only ? "*" : trim(subtype), quality, parameters };
}

/** Single precision; not trimmed, so `q= 1` is unreadable. */
function parseQuality(text: string): number {
  return /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(text) ? Math.fround(Number(text)) : 0;
}

/** Only spaces: the server keeps tabs. */
const trim = (text: string): string => text.replace(/^ +| +$/g, "");

/**
 * The filter before negotiation on routes of built-in resources: some clause, without its parameters, must be a
 * media type of the route or the full wildcard. `application/*` is refused here although `negotiate` would take it.
 */
export function routeAccepts(accept: string, produced: readonly string[]): boolean {
  if (accept === "") return true;
  return bareTypes(accept).some((type) => type === "*/*" || produced.includes(type));
}

/** The same filter for `Content-Type` on PATCH. A missing header fits no route that names what it consumes. */
export function routeConsumes(contentType: string, consumed: readonly string[]): boolean {
  return bareTypes(contentType).some((type) => consumed.includes(type));
}

function bareTypes(header: string): string[] {
  return header.split(",").map((clause) => trim(clause.replace(/;.*$/s, "")));
}

export interface ContentType {
  /** Lower case. */
  readonly mediaType: string;
  /** Names in lower case, values as given, unquoted. */
  readonly parameters: ReadonlyMap<string, string>;
}

/** By character code: what a token is made of. */
const isTokenPart = new Uint8Array(128);
for (const part of "!#$%&'*+-.^_`{|}~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") {
  isTokenPart[part.charCodeAt(0)] = 1;
}

/** Where the token at `at` ends. */
function tokenEnd(text: string, at: number): number {
  let end = at;
  while (end < text.length && isTokenPart[text.charCodeAt(end)] === 1) end++;
  return end;
}

/** Where what follows the blanks at `at` begins. */
function blanksEnd(text: string, at: number): number {
  let end = at;
  for (let code = text.charCodeAt(end); code === 32 || code === 9 || code === 10 || code === 13; ) {
    code = text.charCodeAt(++end);
  }
  return end;
}

/** Of a value in quotation marks, what is within. */
const quotedPattern = /"((?:[^"\\\r\n]|\\[^\r\n])*)"/y;

interface Parameter {
  readonly name: string;
  readonly value: string;
  /** Behind it. */
  readonly end: number;
}

/** The parameter with its semicolon at `at`; undefined where there is none. */
function parameterAt(header: string, at: number): Parameter | undefined {
  const semicolon = blanksEnd(header, at);
  if (header[semicolon] !== ";") return undefined;
  const nameStart = blanksEnd(header, semicolon + 1);
  const nameEnd = tokenEnd(header, nameStart);
  const equals = blanksEnd(header, nameEnd);
  if (nameEnd === nameStart || header[equals] !== "=") return undefined;
  const name = header.slice(nameStart, nameEnd).toLowerCase();
  const start = blanksEnd(header, equals + 1);
  const end = tokenEnd(header, start);
  if (end > start) return { name, value: header.slice(start, end), end };
  quotedPattern.lastIndex = start;
  const quoted = quotedPattern.exec(header);
  if (quoted === null) return undefined;
  // A backslash escapes only what would otherwise be special.
  const value = (quoted[1] as string).replace(/\\([()<>@,;:\\"/[\]?=])/g, "$1");
  return { name, value, end: quotedPattern.lastIndex };
}

const mediaTypePattern = /^[!#$%&'*+\-.^_`{|}~0-9a-z]+\/[!#$%&'*+\-.^_`{|}~0-9a-z]+$/;

/** A `Content-Type` header; undefined when it is malformed (415). One trailing semicolon is forgiven. */
export function parseContentType(header: string): ContentType | undefined {
  const semicolon = header.indexOf(";");
  const end = semicolon < 0 ? header.length : semicolon;
  const mediaType = header.slice(0, end).trim().toLowerCase();
  if (!mediaTypePattern.test(mediaType)) return undefined;
  const parameters = new Map<string, string>();
  let at = end;
  while (at < header.length) {
    const found = parameterAt(header, at);
    if (found === undefined) {
      const rest = header.slice(at).trim();
      return rest === "" || rest === ";" ? { mediaType, parameters } : undefined;
    }
    const known = parameters.get(found.name);
    if (known === undefined) parameters.set(found.name, found.value);
    else if (known !== found.value) return undefined;
    at = found.end;
  }
  return { mediaType, parameters };
}

/** `application/json; charset=utf-8` → `application/json`: how PATCH reads its header, without judging the rest. */
export function withoutParameters(contentType: string): string {
  const semicolon = contentType.indexOf(";");
  return semicolon > 0 ? contentType.slice(0, semicolon) : contentType;
}
