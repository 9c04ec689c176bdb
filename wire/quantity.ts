/**
 * Quantities: `100m`, `1.5Gi`, `2e3`. A number, a suffix and through it one of three forms, which writing keeps.
 * Exact: a bigint and a power of ten. Nothing is finer than nano: what is, is rounded away from zero.
 * Source: the type tables (Quantity); the grammar and canonical form as the public API documentation of Quantity
 * gives them, and the behaviour of the 1.33 parser where that is silent.
 * Simplification: exponents beyond ±10,000 are refused as a bad suffix, and more digits as no number; the real server
 * takes any 32-bit exponent, and any number.
 */

export type QuantityForm = "binarySI" | "decimalSI" | "decimalExponent";

export interface Quantity {
  /** The amount is `digits × 10^scale`; `scale` is at least −9. */
  readonly digits: bigint;
  readonly scale: number;
  readonly form: QuantityForm;
  /** The text it was read from, where the server writes it back unchanged. */
  readonly text: string | undefined;
}

export interface QuantityError {
  readonly error: string;
}

const formError = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const numberError = "unable to parse numeric part of quantity";
const suffixError = "unable to parse quantity's suffix";

const nano = -9;
const int64Max = 2n ** 63n - 1n;
const exponentMax = 10_000;

interface Suffix {
  readonly form: QuantityForm;
  /** Of 2 in the binary form, of 10 otherwise. */
  readonly exponent: number;
}

const binarySuffixes = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const decimalSuffixes = ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const suffixes = new Map<string, Suffix>([
  ...binarySuffixes.slice(1).map((name, at): [string, Suffix] => [name, { form: "binarySI", exponent: 10 * at + 10 }]),
  ...decimalSuffixes.map((name, at): [string, Suffix] => [name, { form: "decimalSI", exponent: 3 * at + nano }]),
]);

/** Quantities are few and come again and again; those read of late are kept, up to a number and a length. */
const recent = new Map<string, Quantity | QuantityError>();
const recentMax = 4096;
const recentLengthMax = 32;

export function parseQuantity(text: string): Quantity | QuantityError {
  const known = recent.get(text);
  if (known !== undefined) return known;
  const read = readQuantity(text);
  if (text.length > recentLengthMax) return read;
  if (recent.size >= recentMax) recent.clear();
  recent.set(text, read);
  return read;
}

function readQuantity(text: string): Quantity | QuantityError {
  if (text === "") return { error: formError };
  const match = /^(([+-]?)0*(\d*)(?:\.(\d*))?)([eEinumkKMGTP]*[-+]?\d*)$/.exec(text);
  if (match === null) return { error: formError };
  const [, number = "", sign, whole = "", fraction = "", suffixText = ""] = match;
  const suffix = suffixOf(suffixText);
  if (suffix === undefined) return { error: suffixError };
  if (whole.length + fraction.length > exponentMax) return { error: numberError };
  const parts = { text, number, negative: sign === "-", whole: whole === "" ? "0" : whole, fraction, suffix };
  return inInt64(parts) ?? exactly(parts);
}

interface Parts {
  readonly text: string;
  /** All before the suffix. */
  readonly number: string;
  readonly negative: boolean;
  /** Digits without leading zeros; `0` when none is left. */
  readonly whole: string;
  readonly fraction: string;
  readonly suffix: Suffix;
}

function suffixOf(text: string): Suffix | undefined {
  const known = suffixes.get(text);
  if (known !== undefined) return known;
  const exponent = /^[eE]([+-]?\d+)$/.exec(text)?.[1];
  if (exponent === undefined || Math.abs(Number(exponent)) > exponentMax) return undefined;
  return { form: "decimalExponent", exponent: Number(exponent) };
}

/**
 * The way of small numbers. It alone keeps the text: when that looks canonical enough, which is less than canonical,
 * so that `+1` or `1.500` come back as they went in.
 */
function inInt64({ text, negative, whole, fraction, suffix }: Parts): Quantity | undefined {
  const { form, exponent } = suffix;
  const binary = form === "binarySI";
  if (binary && fraction !== "") return undefined;
  const room = binary ? 14 - whole.length - (exponent / 10) * 3 : 18 - whole.length - fraction.length;
  const scale = (binary ? 0 : exponent) - fraction.length;
  if (room < 0 || scale < nano) return undefined;
  const shifted = whole + fraction;
  const value = BigInt(shifted);
  const size = binary ? value << BigInt(exponent) : value;
  const canonical = binary
    ? (value & 7n) !== 0n
    : scale % 3 === 0 && !shifted.endsWith("000") && !shifted.startsWith("0");
  const kept = canonical || text === "0" ? text : undefined;
  return { digits: negative ? -size : size, scale, form, text: kept };
}

function exactly({ number, negative, whole, fraction, suffix }: Parts): Quantity | QuantityError {
  if (!/\d/.test(number)) return { error: numberError };
  const { form, exponent } = suffix;
  let digits = BigInt(whole + fraction);
  if (form === "binarySI") digits <<= BigInt(exponent);
  const scale = -fraction.length + (form === "binarySI" ? 0 : exponent);
  const amount = roundAway(digits, scale, nano);
  if (form === "binarySI" && isMore(amount, int64Max)) amount.digits = int64Max * 10n ** BigInt(-amount.scale);
  const tiny = form === "binarySI" && digits !== 0n && !isMore(amount, 1n) && !isSame(amount, 1n);
  return {
    digits: negative ? -amount.digits : amount.digits,
    scale: amount.scale,
    form: tiny ? "decimalSI" : form,
    text: undefined,
  };
}

interface Amount {
  digits: bigint;
  scale: number;
}

/** At a scale of at least `least`; a remainder counts as one more, away from zero. */
function roundAway(digits: bigint, scale: number, least: number): Amount {
  if (scale >= least) return { digits, scale };
  const divisor = 10n ** BigInt(least - scale);
  const quotient = digits / divisor;
  const rest = digits % divisor;
  return { digits: rest === 0n ? quotient : quotient + (rest > 0n ? 1n : -1n), scale: least };
}

const isMore = (amount: Amount, integer: bigint): boolean => compareAmounts(amount, { digits: integer, scale: 0 }) > 0;
const isSame = (amount: Amount, integer: bigint): boolean =>
  compareAmounts(amount, { digits: integer, scale: 0 }) === 0;

/** Negative, zero or positive, whatever the forms. */
export function compareQuantities(left: Quantity, right: Quantity): number {
  return compareAmounts(left, right);
}

function compareAmounts(left: Readonly<Amount>, right: Readonly<Amount>): number {
  if (left.scale === right.scale) return left.digits === right.digits ? 0 : left.digits > right.digits ? 1 : -1;
  const scale = Math.min(left.scale, right.scale);
  const difference = atScale(left, scale) - atScale(right, scale);
  return difference === 0n ? 0 : difference > 0n ? 1 : -1;
}

const atScale = ({ digits, scale }: Readonly<Amount>, lower: number): bigint =>
  scale === lower ? digits : digits * (powers[scale - lower] ?? 10n ** BigInt(scale - lower));

/** Of ten, the small ones. */
const powers: readonly bigint[] = Array.from({ length: 19 }, (_, exponent) => 10n ** BigInt(exponent));

/** The sum, in the form of `left`, or of `right` where `left` is zero. */
export function addQuantities(left: Quantity, right: Quantity): Quantity {
  if (right.digits === 0n && left.digits !== 0n) return left;
  if (left.digits === 0n) return right;
  const scale = Math.min(left.scale, right.scale);
  return { digits: atScale(left, scale) + atScale(right, scale), scale, form: left.form, text: undefined };
}

export function negateQuantity(quantity: Quantity): Quantity {
  return { ...quantity, digits: -quantity.digits, text: undefined };
}

/** The amount in units of `10^scale`, rounded away from zero: 0 gives the value, −3 the milli value. */
export function quantityAt(quantity: Quantity, scale: number): bigint {
  const rounded = roundAway(quantity.digits, quantity.scale, scale);
  return atScale(rounded, scale);
}

/** As the server writes it: canonical, but for texts that it keeps. */
export function formatQuantity(quantity: Quantity): string {
  return quantity.text ?? canonicalQuantity(quantity);
}

/** No fraction, the largest suffix that needs none, and no binary suffix below 1024 or for a broken number. */
export function canonicalQuantity(quantity: Quantity): string {
  if (quantity.digits === 0n) return "0";
  return (quantity.form === "binarySI" ? inBinary(quantity) : undefined) ?? inDecimal(quantity);
}

function inBinary(quantity: Quantity): string | undefined {
  let value = quantityAt(quantity, 0);
  if (!isSame(quantity, value) || (value > -1024n && value < 1024n)) return undefined;
  let at = 0;
  while (value % 1024n === 0n) {
    value /= 1024n;
    at++;
  }
  const suffix = binarySuffixes[at];
  return suffix === undefined ? undefined : value + suffix;
}

/** Beyond `E` there is no suffix: an exponent takes its place. */
function inDecimal({ digits, scale, form }: Quantity): string {
  let mantissa = digits;
  let exponent = scale;
  while (mantissa % 10n === 0n) {
    mantissa /= 10n;
    exponent++;
  }
  for (; exponent % 3 !== 0; exponent--) mantissa *= 10n;
  const suffix = form === "decimalExponent" ? undefined : decimalSuffixes[(exponent - nano) / 3];
  return mantissa + (suffix ?? (exponent === 0 ? "" : `e${exponent}`));
}
