/**
 * CBOR as the service speaks it: every text and every key is a byte string, numbers are as short as they can be without
 * loss, an item begins with the tag that marks CBOR, and a value without a place in JSON is refused. Real bytes in
 * typed objects are byte strings under tag 22, "show as base64".
 * The real server shuffles the fields of what it sends, on purpose; here they keep their order.
 * Source: document 1, Media types; RFC 8949; recorded bytes (CBORServingAndStorage).
 */
import { CborError, type CborForm, type CborValue, majors } from "./cbor-grammar.ts";
import { CborInput } from "./cbor-input.ts";
import { CborOutput } from "./cbor-output.ts";

export { CborError, type CborForm, type CborValue } from "./cbor-grammar.ts";

const selfDescribed = 55_799;

/** One item. Throws `CborError` for a number that is not finite. */
export function encodeCbor(value: CborValue, form?: CborForm): Uint8Array {
  const out = new CborOutput();
  out.head(majors.tag, selfDescribed);
  out.item(value, form);
  return out.finish();
}

/** The same, a part at a time. */
export function* encodeCborParts(value: CborValue, form?: CborForm): Generator<Uint8Array> {
  const out = new CborOutput();
  out.head(majors.tag, selfDescribed);
  for (const _ of out.steps(value, form)) yield out.take();
  yield out.take();
}

/** A map whose last value is an item that has been encoded already, as a watch event holds its object. */
export function encodeCborEvent(type: string, object: Uint8Array): Uint8Array {
  const out = new CborOutput();
  out.head(majors.tag, selfDescribed);
  out.head(majors.map, 2);
  for (const text of ["type", type, "object"]) out.item(text);
  out.raw(object);
  return out.finish();
}

/** The beginning of a map with one key more, whose value is an array of `length` items that are still to come. */
export function encodeCborHead(
  head: { readonly [key: string]: CborValue },
  key: string,
  length: number,
  form?: CborForm,
): Uint8Array {
  const out = new CborOutput();
  const entries = Object.entries(head);
  out.head(majors.tag, selfDescribed);
  out.head(majors.map, entries.length + 1);
  for (const [name, value] of entries) {
    out.item(name);
    out.item(value, form?.below?.(name));
  }
  out.item(key);
  out.head(majors.array, length);
  return out.finish();
}

/** Items one after the other, as an array holds them, some at a time. */
export function* encodeCborSequence(items: Iterable<CborValue>, form?: CborForm): Generator<Uint8Array> {
  const out = new CborOutput();
  for (const item of items) for (const _ of out.steps(item, form)) yield out.take();
  yield out.take();
}

export interface CborItem {
  /** As its JSON would be read; integers that a double would change are `bigint`. */
  readonly value: unknown;
  /** Where the next item of a sequence begins. */
  readonly end: number;
  /** Items in it, itself and tags among them. */
  readonly count: number;
}

/** One item and nothing behind it, with no more than so many items in it. Throws `CborError`. */
export function decodeCbor(bytes: Uint8Array, itemsMax?: number): unknown {
  const input = new CborInput(bytes, 0, itemsMax);
  const value = input.item(0);
  const end = input.at;
  if (end < bytes.length) {
    throw new CborError(`cbor: ${bytes.length - end} bytes of extraneous data starting at index ${end}`);
  }
  return value;
}

/** The item at `start`, with no more than so many items in it. Throws `CborError`. */
export function decodeCborItem(bytes: Uint8Array, start: number, itemsMax?: number): CborItem {
  const input = new CborInput(bytes, start, itemsMax);
  const value = input.item(0);
  return { value, end: input.at, count: input.itemCount };
}
