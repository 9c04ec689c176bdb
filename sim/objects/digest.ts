/**
 * A digest of every sealed value: what a write enters into the trace. It is kept for frozen subtrees of some size that an
 * object shares with the one that it replaces, so a write costs only what is new; what is new is not kept, since most of it
 * (versions, times) is not seen again.
 * The digest does not depend on the order of keys. It tells values apart with the odds of 53 bits; it is no defence
 * against anybody who wants two values to meet.
 */
import type { Json } from "../contract/http-message.ts";
import { Recent } from "./recent.ts";

interface Summary {
  readonly high: number;
  readonly low: number;
  /** Bytes of the value as compact JSON. */
  readonly bytes: number;
}

/**
 * Smaller subtrees are cheaper to read again than to remember. The owners of a lease and what its holder owns are larger: reading
 * both at each renewal was a twentieth of what a node at rest costs.
 */
const rememberedBytesMin = 80;
/** Ten thousand nodes at rest share two parts each with their next lease. */
const summaries = new Recent<object, Summary>(16_384);

/** Of wholes so large that nobody should walk them for their size again. Writes digest them just before they are sealed. */
const rememberedWholeMin = 4096;
const wholeBytes = new WeakMap<object, number>();

/** What the last summary found: two words and a size. Registers, so that a scalar costs no allocation. */
let high = 0;
let low = 0;
let bytes = 0;

/**
 * A safe integer ≥ 0 that stands for the content of `value`: a trace takes it in faster than text. `before` only says which
 * parts are worth keeping: those that it has too, as the very same object.
 */
export function digestOf(value: Json, before?: Json): number {
  summarise(value, before);
  if (bytes >= rememberedWholeMin && typeof value === "object" && value !== null) wholeBytes.set(value, bytes);
  return (high >>> 11) * 0x1_0000_0000 + (low >>> 0);
}

/** A digest, and the bytes of the value as compact JSON. */
export function measured(value: Json, before?: Json): { readonly digest: number; readonly bytes: number } {
  const digest = digestOf(value, before);
  return { digest, bytes };
}

/**
 * Bytes as compact JSON of a frozen value that is large and was digested as a whole, at the latest when it was about to be
 * frozen; undefined for others.
 */
export const knownBytesOf = (value: object): number | undefined =>
  Object.isFrozen(value) ? wholeBytes.get(value) : undefined;

/**
 * Digests the parts of a sealed object that is large, so that writing it finds them: what is written has some other metadata.
 * Stops each time that much has been read.
 */
export function* digestParts(object: Members): Generator<void, void> {
  const read = { bytes: 0 };
  for (const [name, part] of Object.entries(object)) {
    const parts = name === "metadata" && isMembers(part) ? Object.values(part) : [part];
    for (const each of parts) yield* digestPart(each, partDepthMax, read);
  }
}

const bytesPerStep = 128 * 1024;

/** Below a field of the object: as deep as requirements of a container and fields that a manager owns. */
const partDepthMax = 6;
/** What is wider is read some members at a time. */
const partWidthMax = 256;
/** Smaller ones are read again with what they are part of. */
const knownPartBytesMin = 1024;

/** What is within a part comes first, each by itself. Returns its bytes, but of a scalar. */
function* digestPart(part: Json, depth: number, read: { bytes: number }): Generator<void, number> {
  if (typeof part !== "object" || part === null) return 0;
  if (depth === 0) summariseShared(part);
  else if (isWide(part)) {
    if (summaries.get(part) === undefined) yield* digestWide(part, depth, read);
    summariseShared(part);
  } else {
    const within: { [key: string]: Json } = Array.isArray(part) ? ([] as never) : (Object.create(null) as never);
    for (const key of Object.keys(part)) {
      const child = (part as Members)[key] as Json;
      if ((yield* digestPart(child, depth - 1, read)) >= knownPartBytesMin) within[key] = child;
    }
    summarise(part, within);
    remember(part);
  }
  const size = bytes;
  read.bytes += size;
  if (read.bytes >= bytesPerStep) {
    read.bytes = 0;
    yield;
  }
  return size;
}

/** Whether a value may take long: most members of what is wide are scalars, or hold scalars. */
function isWideOrNested(value: Json): boolean {
  if (typeof value !== "object" || value === null) return false;
  return isWide(value) || Object.values(value).some((child) => typeof child === "object" && child !== null);
}

/** As `summariseList` and `summariseObject`, with stops on the way. */
function* digestWide(part: readonly Json[] | Members, depth: number, read: { bytes: number }): Generator<void, void> {
  const names = Array.isArray(part) ? undefined : Object.keys(part);
  const length = names?.length ?? (part as readonly Json[]).length;
  let first: number = names === undefined ? seeds.list : 0;
  let second = names === undefined ? length : 0;
  let [size, count] = [2, 0];
  for (let at = 0; at < length; at++) {
    const name = names?.[at];
    const value = name === undefined ? (part as readonly Json[])[at] : (part as Members)[name];
    if (value === undefined) continue;
    const isPart = isWideOrNested(value);
    if (isPart) yield* digestPart(value, depth - 1, read);
    const before = isPart ? value : undefined; // it has been read
    if (name === undefined) {
      summarise(value, before);
      first = mix(first ^ high, low);
      second = mix(second ^ low, first);
      size += bytes;
    } else {
      const key = summaryOfText(name);
      summariseMember(key, value, before);
      first = (first + high) | 0;
      second = (second + low) | 0;
      size += key.bytes + 3 + bytes;
    }
    count++;
    read.bytes += bytes + (name?.length ?? 0);
    if (read.bytes >= bytesPerStep) {
      read.bytes = 0;
      yield;
    }
  }
  bytes = size + Math.max(0, count - 1);
  high = names === undefined ? first : mix(first, seeds.object ^ count);
  low = names === undefined ? second : mix(second, high);
  remember(part);
  read.bytes -= bytes; // its holder counts it
}

const isWide = (part: readonly Json[] | Members): boolean =>
  (Array.isArray(part) ? part.length : Object.keys(part).length) > partWidthMax;

/** An object that has another's parts, and as `before` says that each is known: see `digestParts`. */
export function partsOf(object: Members): Members {
  const { metadata } = object;
  return isMembers(metadata) ? { ...object, metadata: { ...metadata } } : { ...object };
}

/** Each type begins with a word of its own, so that "1", 1 and [1] differ. */
const seeds = { null: 0x6e75, boolean: 0x626f, number: 0x6e6d, string: 0x7374, list: 0x6c69, object: 0x6f62 } as const;

function summarise(value: Json, before: Json | undefined): void {
  if (typeof value === "string") {
    summariseText(seeds.string, value);
    bytes += 2;
  } else if (typeof value === "object" && value !== null) {
    if (value === before) summariseShared(value);
    else if (Array.isArray(value)) summariseList(value, Array.isArray(before) ? before : undefined);
    else summariseObject(value as Members, isMembers(before) ? before : undefined);
  } else summariseText(value === null ? seeds.null : seeds[typeof value as "number" | "boolean"], String(value));
}

type Members = { readonly [key: string]: Json };

const isMembers = (value: Json | undefined): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** What was there before and is still: likely to stay. */
function summariseShared(value: readonly Json[] | Members): void {
  const known = summaries.get(value);
  if (known !== undefined) {
    ({ high, low, bytes } = known);
    return;
  }
  if (Array.isArray(value)) summariseList(value, undefined);
  else summariseObject(value as Members, undefined);
  remember(value);
}

function remember(value: object): void {
  if (bytes >= rememberedBytesMin && Object.isFrozen(value)) summaries.set(value, { high, low, bytes });
}

function summariseList(list: readonly Json[], before: readonly Json[] | undefined): void {
  let first: number = seeds.list;
  let second = list.length;
  let size = 2 + Math.max(0, list.length - 1);
  for (let at = 0; at < list.length; at++) {
    summarise(list[at] as Json, before === undefined || at >= before.length ? undefined : before[at]);
    first = mix(first ^ high, low);
    second = mix(second ^ low, first);
    size += bytes;
  }
  high = first;
  low = second;
  bytes = size;
}

/** Members are added up, which no order can change; each is scrambled with its key first. */
function summariseObject(object: Members, before: Members | undefined): void {
  let first = 0;
  let second = 0;
  let count = 0;
  let size = 2;
  let name = noKey;
  for (const key in object) {
    const value = object[key];
    if (value === undefined) continue;
    name = count < namedKeysMax ? summaryOfKey(key, name) : summaryOfText(key);
    summariseMember(name, value, before === undefined || typeof value !== "object" ? undefined : before[key]);
    first = (first + high) | 0;
    second = (second + low) | 0;
    size += name.bytes + 3 + bytes + (count === 0 ? 0 : 1); // two quotes, a colon, and a comma between members
    count++;
  }
  high = mix(first, seeds.object ^ count);
  low = mix(second, high);
  bytes = size;
}

/** A value and the key that it stands under: two words that are added up, and the bytes of the value alone. */
function summariseMember(name: Summary, value: Json, before: Json | undefined): void {
  summarise(value, before);
  const member = mix(name.high ^ high, name.low ^ Math.imul(low, 0x9e3779b1));
  low = mix(name.low ^ low, member);
  high = member;
}

/**
 * What is known of the name of a field, and which two names followed it last: fields of a type mostly come in one order, and the
 * same name in few types.
 */
interface KeySummary extends Summary {
  readonly key: string;
  next: KeySummary | undefined;
  other: KeySummary | undefined;
}

const keys = new Map<string, KeySummary>();
const keysMax = 8192;
/** More keys than this in one object are no names of fields. */
const namedKeysMax = 1024;

/** Keys are mostly the names of fields: each is read once. `before`: the key that came before it in its object. */
function summaryOfKey(key: string, before: KeySummary): KeySummary {
  const { next, other } = before;
  if (next !== undefined && next.key === key) return next;
  if (other !== undefined && other.key === key) return other;
  let summary = keys.get(key);
  if (summary === undefined) {
    summariseText(seeds.object, key);
    summary = { high, low, bytes, key, next: undefined, other: undefined };
    if (keys.size >= keysMax) keys.clear();
    keys.set(key, summary);
  }
  before.other = next;
  before.next = summary;
  return summary;
}

/** A key that is not worth remembering. */
function summaryOfText(key: string): KeySummary {
  summariseText(seeds.object, key);
  return { high, low, bytes, key, next: undefined, other: undefined };
}

/** Before the first key of an object. */
const noKey: KeySummary = { high: 0, low: 0, bytes: 0, key: "", next: undefined, other: undefined };

/** One round of a 32-bit multiplicative mixer: every bit of both words reaches every bit of the result. */
function mix(word: number, other: number): number {
  let mixed = Math.imul(word ^ (word >>> 16) ^ other, 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return ((mixed ^ (mixed >>> 16)) + Math.imul(other, 0x9e3779b1)) | 0;
}

/** Two independent lanes over the text's UTF-16 units, and the bytes that JSON writes for them. */
function summariseText(seed: number, text: string): void {
  const { length } = text;
  let first = seed ^ 0x811c9dc5;
  let second = seed ^ length;
  let size = length;
  for (let at = 0; at < length; at++) {
    const unit = text.charCodeAt(at);
    first = Math.imul(first ^ unit, 0x01000193);
    second = (Math.imul(second, 31) + Math.imul(unit, 0x9e3779b1)) | 0;
    if (unit < 35 || unit === 92 || unit >= 0x80) size += extraBytes(unit);
  }
  high = mix(first, second);
  low = mix(second, high);
  bytes = size;
}

/**
 * Bytes of a UTF-16 unit in JSON beyond the first. Two surrogates make four bytes, so each counts for two; a lone one,
 * which JSON escapes, does not occur in what has been decoded.
 */
function extraBytes(unit: number): number {
  if (unit >= 0x80) return unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 1 : 2;
  if (unit === 34 || unit === 92) return 1;
  if (unit >= 32) return 0;
  return unit === 8 || unit === 9 || unit === 10 || unit === 12 || unit === 13 ? 1 : 5;
}
