/**
 * CBOR as the service speaks it: every text and every key is a byte string, numbers are as short as they can be without
 * loss, an item begins with the tag that marks CBOR, and a value without a place in JSON is refused. Real bytes in
 * typed objects are byte strings under tag 22, "show as base64".
 * The real server shuffles the fields of what it sends, on purpose; here they keep their order.
 * Source: document 1, Media types; RFC 8949; recorded bytes (CBORServingAndStorage).
 */
import { encodeBase64, encodeBase64Url } from "./base64.ts";
import { formatMicroTime, formatTime, parseTime } from "./time.ts";

/** What can be encoded: JSON, integers beyond doubles, and bytes. `undefined` members are left out. */
export type CborValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | readonly CborValue[]
  | { readonly [key: string]: CborValue | undefined };

/** Bytes that are no acceptable CBOR. */
export class CborError extends Error {}

const majors = { unsigned: 0, negative: 1, bytes: 2, text: 3, array: 4, map: 5, tag: 6, simple: 7 } as const;

const selfDescribed = 55_799;
const tags = { timeText: 0, epoch: 1, positiveBig: 2, negativeBig: 3, base64Url: 21, base64: 22, base16: 23 } as const;

/** One item. Throws `CborError` for a number that is not finite. */
export function encodeCbor(value: CborValue): Uint8Array {
  const out = new Output();
  out.head(majors.tag, selfDescribed);
  out.item(value);
  return out.finish();
}

/** A map whose last value is an item that has been encoded already, as a watch event holds its object. */
export function encodeCborEvent(type: string, object: Uint8Array): Uint8Array {
  const out = new Output();
  out.head(majors.tag, selfDescribed);
  out.head(majors.map, 2);
  for (const text of ["type", type, "object"]) out.item(text);
  out.raw(object);
  return out.finish();
}

const encoder = new TextEncoder();

class Output {
  private bytes = new Uint8Array(1024);
  private view = new DataView(this.bytes.buffer);
  private length = 0;

  finish(): Uint8Array {
    return this.bytes.slice(0, this.length);
  }

  /** No recursion: what was read from JSON may lie deeper than the stack. */
  item(value: CborValue): void {
    const waiting: CborValue[] = [value];
    while (waiting.length > 0) {
      const next = waiting.pop() as CborValue;
      if (typeof next === "string") this.text(next);
      else if (typeof next === "number") this.number(next);
      else if (typeof next === "bigint") this.integer(next);
      else if (typeof next === "boolean") this.byte(next ? 0xf5 : 0xf4);
      else if (next === null) this.byte(0xf6);
      else if (next instanceof Uint8Array) {
        this.head(majors.tag, tags.base64);
        this.head(majors.bytes, next.length);
        this.raw(next);
      } else if (Array.isArray(next)) {
        this.head(majors.array, next.length);
        for (let at = next.length - 1; at >= 0; at--) waiting.push(next[at] as CborValue);
      } else this.map(next as { readonly [key: string]: CborValue | undefined }, waiting);
    }
  }

  private map(map: { readonly [key: string]: CborValue | undefined }, waiting: CborValue[]): void {
    const keys = Object.keys(map).filter((key) => map[key] !== undefined);
    this.head(majors.map, keys.length);
    for (let at = keys.length - 1; at >= 0; at--)
      waiting.push(map[keys[at] as string] as CborValue, keys[at] as string);
  }

  head(major: number, argument: number): void {
    const kind = major << 5;
    this.reserve(9);
    if (argument < 24) this.bytes[this.length++] = kind | argument;
    else if (argument < 0x100) {
      this.bytes[this.length++] = kind | 24;
      this.bytes[this.length++] = argument;
    } else if (argument < 0x10000) {
      this.bytes[this.length++] = kind | 25;
      this.view.setUint16(this.length, argument);
      this.length += 2;
    } else if (argument < 0x1_0000_0000) {
      this.bytes[this.length++] = kind | 26;
      this.view.setUint32(this.length, argument);
      this.length += 4;
    } else this.longHead(kind, BigInt(argument));
  }

  private longHead(kind: number, argument: bigint): void {
    this.reserve(9);
    this.bytes[this.length++] = kind | 27;
    this.view.setBigUint64(this.length, argument);
    this.length += 8;
  }

  private text(text: string): void {
    const { length } = text;
    const before = this.length;
    this.reserve(9 + length);
    this.head(majors.bytes, length); // right for ASCII, which nearly all texts are
    let at = 0;
    for (let code = 0; at < length && (code = text.charCodeAt(at)) < 0x80; at++) this.bytes[this.length + at] = code;
    if (at === length) {
      this.length += length;
      return;
    }
    this.length = before;
    const bytes = encoder.encode(text);
    this.head(majors.bytes, bytes.length);
    this.raw(bytes);
  }

  private number(number: number): void {
    if (!Number.isFinite(number)) throw new CborError("cbor: a number that is not finite cannot be encoded");
    if (!Number.isSafeInteger(number)) this.float(number);
    else if (number >= 0) this.head(majors.unsigned, number);
    else this.head(majors.negative, -1 - number);
  }

  private integer(integer: bigint): void {
    if (BigInt.asIntN(64, integer) !== integer) throw new CborError("cbor: an integer of more than 64 bits");
    if (integer >= -0xffff_ffffn && integer <= 0xffff_ffffn) this.number(Number(integer));
    else this.longHead((integer < 0n ? majors.negative : majors.unsigned) << 5, integer < 0n ? -1n - integer : integer);
  }

  /** In two, four or eight bytes, whichever are enough. */
  private float(number: number): void {
    this.reserve(9);
    const half = halfOf(number);
    if (half !== undefined) {
      this.bytes[this.length++] = 0xf9;
      this.view.setUint16(this.length, half);
      this.length += 2;
    } else if (Math.fround(number) === number) {
      this.bytes[this.length++] = 0xfa;
      this.view.setFloat32(this.length, number);
      this.length += 4;
    } else {
      this.bytes[this.length++] = 0xfb;
      this.view.setFloat64(this.length, number);
      this.length += 8;
    }
  }

  raw(bytes: Uint8Array): void {
    this.reserve(bytes.length);
    this.bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  private byte(byte: number): void {
    this.reserve(1);
    this.bytes[this.length++] = byte;
  }

  private reserve(count: number): void {
    if (this.length + count <= this.bytes.length) return;
    const bytes = new Uint8Array(Math.max(this.bytes.length * 2, this.length + count));
    bytes.set(this.bytes);
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer);
  }
}

const halfMax = 65_504;
const halfSmallest = 1 / 16_777_216;
const halfSmallestNormal = 1 / 16_384;

/** The 16 bits of a number that half precision holds exactly; undefined for all others. */
function halfOf(number: number): number | undefined {
  const sign = number < 0 ? 0x8000 : 0;
  const size = Math.abs(number);
  if (size > halfMax) return undefined;
  if (size < halfSmallestNormal) {
    const steps = size / halfSmallest;
    return Number.isInteger(steps) ? sign | steps : undefined;
  }
  let exponent = 0;
  let significand = size;
  for (; significand >= 2; exponent++) significand /= 2;
  for (; significand < 1; exponent--) significand *= 2;
  const fraction = (significand - 1) * 1024;
  return Number.isInteger(fraction) ? sign | ((exponent + 15) << 10) | fraction : undefined;
}

export interface CborItem {
  /** As its JSON would be read; integers that a double would change are `bigint`. */
  readonly value: unknown;
  /** Where the next item of a sequence begins. */
  readonly end: number;
}

/** One item and nothing behind it. Throws `CborError`. */
export function decodeCbor(bytes: Uint8Array): unknown {
  const { value, end } = decodeCborItem(bytes, 0);
  if (end < bytes.length) {
    throw new CborError(`cbor: ${bytes.length - end} bytes of extraneous data starting at index ${end}`);
  }
  return value;
}

/** The item at `start`. Throws `CborError`. */
export function decodeCborItem(bytes: Uint8Array, start: number): CborItem {
  const input = new Input(bytes, start);
  return { value: input.item(0), end: input.at };
}

const nestedLevelsMax = 64;
const elementsMax = 1024;

const lenient = new TextDecoder("utf-8", { ignoreBOM: true });
const strict = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

class Input {
  readonly bytes: Uint8Array;
  private readonly view: DataView;
  at: number;

  constructor(bytes: Uint8Array, start: number) {
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = start;
  }

  item(level: number): unknown {
    const first = this.byte();
    const major = first >> 5;
    const low = first & 31;
    switch (major) {
      case majors.unsigned:
        return narrow(this.argument(low));
      case majors.negative:
        return narrow(-1n - BigInt(this.argument(low)));
      case majors.bytes:
        return lenient.decode(this.chunks(major, low));
      case majors.text:
        return utf8(this.chunks(major, low));
      case majors.array:
        return this.array(low, nested(level));
      case majors.map:
        return this.map(low, nested(level));
      case majors.tag:
        return this.tagged(Number(this.argument(low)), nested(level));
      default:
        return this.simple(low);
    }
  }

  private array(low: number, level: number): unknown[] {
    const list: unknown[] = [];
    for (let left = this.count(low); left > 0 && !this.isBreak(low); left--) {
      if (list.length === elementsMax) {
        throw new CborError(`cbor: exceeded max number of elements ${elementsMax} for CBOR array`);
      }
      list.push(this.item(level));
    }
    return list;
  }

  private map(low: number, level: number): Record<string, unknown> {
    const map: Record<string, unknown> = {};
    let pairs = 0;
    for (let left = this.count(low); left > 0 && !this.isBreak(low); left--) {
      if (pairs === elementsMax) {
        throw new CborError(`cbor: exceeded max number of key-value pairs ${elementsMax} for CBOR map`);
      }
      const key = this.key();
      if (Object.hasOwn(map, key)) {
        throw new CborError(`cbor: found duplicate map key ${JSON.stringify(key)} at map element index ${pairs}`);
      }
      const value = this.item(level);
      // Keys are a client's: `__proto__` is one like any other.
      if (key === "__proto__")
        Object.defineProperty(map, key, { value, enumerable: true, configurable: true, writable: true });
      else map[key] = value;
      pairs++;
    }
    return map;
  }

  private key(): string {
    const first = this.byte();
    const major = first >> 5;
    if (major === majors.bytes) return utf8(this.chunks(major, first & 31));
    if (major === majors.text) return utf8(this.chunks(major, first & 31));
    throw new CborError(`cbor: cannot unmarshal ${majorNames[major]} into Go value of type string`);
  }

  /** How many elements follow; as many as there are for an indefinite length. A length is no reason to make room. */
  private count(low: number): number {
    const count = low === 31 ? Number.POSITIVE_INFINITY : Number(this.argument(low));
    if (count !== Number.POSITIVE_INFINITY && count > elementsMax && count > this.bytes.length - this.at) throw eof();
    return count;
  }

  private isBreak(low: number): boolean {
    if (low !== 31 || this.bytes[this.at] !== 0xff) return false;
    this.at++;
    return true;
  }

  /** The content of a string, whole or in chunks of its own kind. */
  private chunks(major: number, low: number): Uint8Array {
    if (low !== 31) return this.take(this.argument(low));
    const parts: Uint8Array[] = [];
    for (let first = this.byte(); first !== 0xff; first = this.byte()) {
      if (first >> 5 !== major || (first & 31) === 31) {
        throw new CborError(
          `cbor: wrong element type ${majorNames[first >> 5]} for indefinite-length ${majorNames[major]}`,
        );
      }
      const part = this.take(this.argument(first & 31));
      if (major === majors.text) utf8(part); // each chunk is a text of its own
      parts.push(part);
    }
    const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    parts.reduce((at, part) => (all.set(part, at), at + part.length), 0);
    return all;
  }

  private tagged(tag: number, level: number): unknown {
    if (tag === tags.positiveBig || tag === tags.negativeBig) {
      throw new CborError("cbor: cannot unmarshal bignum into Go value of type interface {}");
    }
    const laterText = laterTexts.get(tag);
    const first = this.bytes[this.at] ?? 0;
    if (laterText !== undefined && first >> 5 === majors.bytes) {
      this.at++;
      return laterText(this.chunks(majors.bytes, first & 31));
    }
    const content = this.item(level);
    if (tag === tags.timeText) return timeText(content);
    return tag === tags.epoch ? epochText(content) : content; // other tags say nothing that JSON could
  }

  private simple(low: number): unknown {
    if (low === 20 || low === 21) return low === 21;
    if (low === 22) return null;
    if (low === 25) return finite(halfNumber(this.view.getUint16(this.skip(2))));
    if (low === 26) return finite(this.view.getFloat32(this.skip(4)));
    if (low === 27) return finite(this.view.getFloat64(this.skip(8)));
    if (low === 31) throw new CborError('cbor: unexpected "break" code');
    const code = low === 24 ? this.byte() : low;
    throw new CborError(`cbor: simple value ${code} is not recognized`);
  }

  /** The number in or behind the first byte. */
  private argument(low: number): number | bigint {
    if (low < 24) return low;
    if (low === 24) return this.byte();
    if (low === 25) return this.view.getUint16(this.skip(2));
    if (low === 26) return this.view.getUint32(this.skip(4));
    if (low === 27) return this.view.getBigUint64(this.skip(8));
    throw new CborError(`cbor: invalid additional information ${low}`);
  }

  private byte(): number {
    return this.bytes[this.skip(1)] as number;
  }

  private take(length: number | bigint): Uint8Array {
    const from = this.skip(Number(length));
    return this.bytes.subarray(from, this.at);
  }

  /** Moves on; the place before. */
  private skip(length: number): number {
    const from = this.at;
    if (length > this.bytes.length - from) throw eof();
    this.at = from + length;
    return from;
  }
}

const majorNames = [
  "positive integer",
  "negative integer",
  "byte string",
  "UTF-8 text string",
  "array",
  "map",
  "tag",
  "primitives",
] as const;

const eof = (): CborError => new CborError("unexpected EOF");

function nested(level: number): number {
  if (level === nestedLevelsMax) throw new CborError(`cbor: exceeded max nested level ${nestedLevelsMax}`);
  return level + 1;
}

function utf8(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes);
  } catch {
    throw new CborError("cbor: invalid UTF-8 string");
  }
}

function narrow(integer: number | bigint): number | bigint {
  if (BigInt.asIntN(64, BigInt(integer)) !== BigInt(integer)) {
    const sign = integer < 0 ? "negative" : "positive";
    throw new CborError(
      `cbor: cannot unmarshal ${sign} integer into Go value of type int64 (${integer} overflows Go's int64)`,
    );
  }
  const number = Number(integer);
  return Number.isSafeInteger(number) ? number : BigInt(integer);
}

function finite(number: number): number {
  if (Number.isFinite(number)) return number;
  throw new CborError(`cbor: floating-point ${Number.isNaN(number) ? "NaN" : "infinity"}`);
}

function halfNumber(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  return exponent === 0 ? sign * fraction * halfSmallest : sign * (1 + fraction / 1024) * powers[exponent]!;
}

/** 2 to the power of the index minus 15. */
const powers: readonly number[] = Array.from({ length: 31 }, (_, index) =>
  index < 15 ? 1 / (1 << (15 - index)) : 1 << (index - 15),
);

/** Byte strings that say how they want to be shown. */
const laterTexts: ReadonlyMap<number, (bytes: Uint8Array) => string> = new Map([
  [tags.base64Url, encodeBase64Url],
  [tags.base64, encodeBase64],
  [tags.base16, (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")],
]);

function timeText(content: unknown): string {
  if (typeof content !== "string") throw new CborError("cbor: tag number 0 must be followed by text string");
  if ("error" in parseTime(content)) throw new CborError(`cbor: cannot set ${content} for time.Time`);
  return content;
}

/** Seconds since 1970. */
function epochText(content: unknown): string {
  if (typeof content !== "number" || Math.abs(content) > 253_402_300_799) {
    throw new CborError("cbor: tag number 1 must be followed by integer or floating-point number");
  }
  const seconds = Math.floor(content);
  const micros = Math.floor((content - seconds) * 1_000_000);
  return micros === 0 ? formatTime(seconds) : formatMicroTime({ seconds, micros });
}
