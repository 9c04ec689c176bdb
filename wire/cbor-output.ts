/** Writes the items of CBOR. */
import { CborError, type CborForm, type CborValue, halfOf, majors, tags } from "./cbor-grammar.ts";

const encoder = new TextEncoder();

/** Keys and values between two stops, and bytes. */
const valuesPerStep = 3_000;
const bytesPerStep = 256 * 1024;

/** Grows as it is written to. */
export class CborOutput {
  private bytes = new Uint8Array(1024);
  private view = new DataView(this.bytes.buffer);
  private length = 0;
  /** Until the next stop: of values so many more, of bytes those up to here. */
  private valuesLeft = valuesPerStep;
  private bytesMax = bytesPerStep;

  finish(): Uint8Array {
    return this.bytes.slice(0, this.length);
  }

  /** What has been written since the last time. */
  take(): Uint8Array {
    const taken = this.finish();
    this.length = 0;
    this.bytesMax = bytesPerStep;
    return taken;
  }

  item(value: CborValue, form?: CborForm): void {
    for (const _ of this.steps(value, form));
  }

  /** The same, with stops. No recursion: what was read from JSON may lie deeper than the stack. */
  *steps(value: CborValue, form?: CborForm): Generator<void, void> {
    const waiting: CborValue[] = [value];
    const forms: (CborForm | undefined)[] = [form];
    while (waiting.length > 0) {
      if (--this.valuesLeft < 0 || this.length > this.bytesMax) {
        this.valuesLeft = valuesPerStep;
        this.bytesMax = this.length + bytesPerStep;
        yield;
      }
      const next = waiting.pop() as CborValue;
      const its = forms.pop();
      if (typeof next === "string") {
        if (its?.bytes === undefined) this.text(next);
        else this.shownBytes(its.bytes(next));
      } else if (typeof next === "number") this.number(next);
      else if (typeof next === "bigint") this.integer(next);
      else if (typeof next === "boolean") this.byte(next ? 0xf5 : 0xf4);
      else if (next === null) this.byte(0xf6);
      else if (next instanceof Uint8Array) this.shownBytes(next);
      else if (Array.isArray(next)) {
        this.head(majors.array, next.length);
        const ofItems = its?.below?.("");
        for (let at = next.length - 1; at >= 0; at--) {
          waiting.push(next[at] as CborValue);
          forms.push(ofItems);
        }
      } else this.map(next as { readonly [key: string]: CborValue | undefined }, its, waiting, forms);
    }
  }

  /** JSON would show them as base64. */
  private shownBytes(bytes: Uint8Array): void {
    this.head(majors.tag, tags.base64);
    this.head(majors.bytes, bytes.length);
    this.raw(bytes);
  }

  private map(
    map: { readonly [key: string]: CborValue | undefined },
    form: CborForm | undefined,
    waiting: CborValue[],
    forms: (CborForm | undefined)[],
  ): void {
    const below = form?.below;
    const keys = Object.keys(map);
    let count = 0;
    for (let at = keys.length - 1; at >= 0; at--) {
      const key = keys[at] as string;
      const value = map[key];
      if (value === undefined) continue;
      waiting.push(value, key);
      forms.push(below?.(key), undefined);
      count++;
    }
    this.head(majors.map, count);
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
