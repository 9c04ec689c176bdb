/** Integers of 64 bits as clients write them. */

const digitsMax = 19;

/**
 * Decimal, with an optional sign; undefined for what is none, or has more than 64 bits. A megabyte of digits is not read as a number
 * to find that out.
 */
export function int64OfDecimal(text: string): bigint | undefined {
  if (!/^[+-]?[0-9]+$/.test(text)) return undefined;
  const digits = text.replace(/^[+-]?0*(?=[0-9])/, "");
  if (digits.length > digitsMax) return undefined;
  const number = text.startsWith("-") ? -BigInt(digits) : BigInt(digits);
  return BigInt.asIntN(64, number) === number ? number : undefined;
}
