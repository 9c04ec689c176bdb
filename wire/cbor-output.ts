/** Writes the items of CBOR. */
import { CborError, type CborValue, halfOf, majors, tags } from "./cbor-grammar.ts";

const encoder = new TextEncoder();

/** Grows as it is written to. */
export class CborOutput {
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
