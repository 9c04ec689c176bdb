/** Reads the items of CBOR, with the limits and the texts of the real server. */
import { encodeBase16, encodeBase64, encodeBase64Url } from "./base64.ts";
import { CborError, halfNumber, majors, tags } from "./cbor-grammar.ts";
import { formatMicroTime, formatTime, parseTime } from "./time.ts";

const nestedLevelsMax = 64;
const elementsMax = 1024;

const none = new Uint8Array(0);

const lenient = new TextDecoder("utf-8", { ignoreBOM: true });
const strict = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });

/** Reads from a place on. Every length is a client's word. */
export class CborInput {
  readonly bytes: Uint8Array;
  private readonly view: DataView;
  /** Items that were read so far. */
  itemCount = 0;
  private readonly itemsMax: number;
  /** Chunks that are put together, in the first bytes of a buffer that serves for each string. */
  private joined = none;
  private joinedLength = 0;
  at: number;

  constructor(bytes: Uint8Array, start: number, itemsMax = Number.POSITIVE_INFINITY) {
    this.itemsMax = itemsMax;
    this.bytes = bytes;
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.at = start;
  }

  item(level: number): unknown {
    if (++this.itemCount > this.itemsMax) throw new CborError("cbor: exceeded max number of items in all");
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

  /** The content of a string, whole or in chunks of its own kind, of which there may be millions. It is good until the next one. */
  private chunks(major: number, low: number): Uint8Array {
    if (low !== 31) return this.take(this.argument(low));
    this.joinedLength = 0;
    try {
      while (this.joinChunks(major));
    } catch (error) {
      // Of what came before, wrong bytes are told first.
      if (major === majors.text && error instanceof CborError) utf8(this.joined.subarray(0, this.joinedLength));
      throw error;
    }
    return this.joined.subarray(0, this.joinedLength);
  }

  /** As many short chunks as follow, and what comes behind them; whether more may follow. */
  private joinChunks(major: number): boolean {
    const { bytes } = this;
    const shortest = major << 5;
    const isText = major === majors.text;
    let { at, joined, joinedLength: length } = this;
    for (; at < bytes.length; ) {
      const size = (bytes[at] as number) - shortest;
      if (size < 0 || size >= 24 || size >= bytes.length - at) break;
      if (length + size > joined.length) joined = this.joined = grown(joined, length + size);
      // Each chunk is a text of its own. Where all of them together are one, none begins within a character.
      if (isText && size > 0 && isWithinCharacter(bytes[at + 1] as number)) break;
      for (const end = ++at + size; at < end; at++) joined[length++] = bytes[at] as number;
    }
    this.at = at;
    this.joinedLength = length;
    const first = this.byte();
    if (first === 0xff) return false;
    if (first >> 5 !== major || (first & 31) === 31) {
      throw new CborError(
        `cbor: wrong element type ${majorNames[first >> 5]} for indefinite-length ${majorNames[major]}`,
      );
    }
    const part = this.take(this.argument(first & 31));
    if (isText && part.length > 0 && isWithinCharacter(part[0] as number)) throw invalidUtf8();
    if (length + part.length > joined.length) joined = this.joined = grown(joined, length + part.length);
    joined.set(part, length);
    this.joinedLength += part.length;
    return true;
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

/** The same bytes with room for at least `length`: twice as much each time, so that all growing together costs little. */
function grown(bytes: Uint8Array<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.max(length, 2 * bytes.length, 64));
  larger.set(bytes);
  return larger;
}

const isWithinCharacter = (byte: number): boolean => (byte & 0xc0) === 0x80;

const eof = (): CborError => new CborError("unexpected EOF");

function nested(level: number): number {
  if (level === nestedLevelsMax) throw new CborError(`cbor: exceeded max nested level ${nestedLevelsMax}`);
  return level + 1;
}

function utf8(bytes: Uint8Array): string {
  try {
    return strict.decode(bytes);
  } catch {
    throw invalidUtf8();
  }
}

const invalidUtf8 = (): CborError => new CborError("cbor: invalid UTF-8 string");

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

/** Byte strings that say how they want to be shown. */
const laterTexts: ReadonlyMap<number, (bytes: Uint8Array) => string> = new Map([
  [tags.base64Url, encodeBase64Url],
  [tags.base64, encodeBase64],
  [tags.base16, encodeBase16],
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
