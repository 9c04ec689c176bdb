/** What both directions of CBOR share: the kinds of items, their tags, half precision. Source: RFC 8949, sections 3 and 4.2. */

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

/** Which texts of a value are written as bytes. */
export interface CborForm {
  /** The bytes that a text here stands for. */
  readonly bytes?: (text: string) => Uint8Array;
  /** The form of a member by its name, of an item by no name. */
  readonly below?: (name: string) => CborForm | undefined;
}

/** Bytes that are no acceptable CBOR, or a value that has none. */
export class CborError extends Error {}

export const majors = { unsigned: 0, negative: 1, bytes: 2, text: 3, array: 4, map: 5, tag: 6, simple: 7 } as const;

export const tags = {
  timeText: 0,
  epoch: 1,
  positiveBig: 2,
  negativeBig: 3,
  base64Url: 21,
  base64: 22,
  base16: 23,
} as const;

const halfMax = 65_504;
const halfSmallest = 1 / 16_777_216;
const halfSmallestNormal = 1 / 16_384;

/** The 16 bits of a number that half precision holds exactly; undefined for all others. */
export function halfOf(number: number): number | undefined {
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

/** The number that 16 bits of half precision stand for; may be infinite or not a number. */
export function halfNumber(bits: number): number {
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
