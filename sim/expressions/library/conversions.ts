/** Conversions between types, and sizes. Source: the published language definition. */
import { isInt } from "../syntax.ts";
import { fail } from "../failures.ts";
import {
  type Duration,
  isMap,
  type MapValue,
  type Timestamp,
  type Uint,
  TypeValue,
  typeName,
  type Value,
} from "../values.ts";
import { type FunctionRow, readsLittle, row, walks } from "./function-row.ts";
import { checkedInt, checkedUint } from "./operators.ts";
import { formatDuration, formatTimestamp } from "./times.ts";

const truthy: ReadonlySet<string> = new Set(["1", "t", "true", "TRUE", "True"]);
const falsy: ReadonlySet<string> = new Set(["0", "f", "false", "FALSE", "False"]);

const same = (value: Value): Value => value;

export const conversions: readonly FunctionRow[] = [
  row("dyn(A): dyn", same),
  row("type(A): type<A>", (value: Value) => new TypeValue(typeName(value))),
  row("bool(bool): bool", same),
  row("bool(string): bool", (text: string) => {
    if (truthy.has(text)) return true;
    return falsy.has(text) ? false : fail(`type conversion error from 'string' to 'bool'`);
  }),
  row("int(int): int", same),
  row("int(uint): int", ({ value }: Uint) => checkedInt(value)),
  row("int(double): int", (value: number) => doubleToInt(value)),
  row("int(string): int", (text: string) => readInt(text)),
  row("uint(uint): uint", same),
  row("uint(int): uint", (value: bigint) => checkedUint(value)),
  row("uint(double): uint", (value: number) => doubleToUint(value)),
  row("uint(string): uint", (text: string) => {
    const digits = /^\d+$/.test(text) ? significant(text) : undefined;
    return digits !== undefined ? checkedUint(BigInt(digits)) : fail("type conversion error from 'string' to 'uint'");
  }),
  row("double(double): double", same),
  row("double(int): double", (value: bigint) => Number(value)),
  row("double(uint): double", ({ value }: Uint) => Number(value)),
  row("double(string): double", (text: string) => readDouble(text)),
  row("string(string): string", same, walks),
  row("string(bool): string", (value: boolean) => String(value), unknownSize()),
  row("string(int): string", (value: bigint) => String(value), unknownSize()),
  row("string(uint): string", ({ value }: Uint) => String(value), unknownSize()),
  row("string(double): string", (value: number) => formatDouble(value), unknownSize()),
  row("string(bytes): string", (value: Uint8Array) => decodeUtf8(value), walks),
  row("string(timestamp): string", (value: Timestamp) => formatTimestamp(value), unknownSize()),
  row("string(duration): string", (value: Duration) => formatDuration(value), unknownSize()),
  row("bytes(bytes): bytes", same),
  row("bytes(string): bytes", (text: string) => new TextEncoder().encode(text), walks),
  ...["string", "bytes", "list<A>", "map<A, B>"].flatMap((type) => [
    row(`size(${type}): int`, sizeOf, readsLittle),
    row(`${type}.size(): int`, sizeOf, readsLittle),
  ]),
];

/** The cost model knows no bound for what is written out. */
function unknownSize() {
  return { size: () => Number.POSITIVE_INFINITY };
}

function sizeOf(value: string | Uint8Array | readonly Value[] | MapValue): bigint {
  if (typeof value === "string") return BigInt(textLength(value));
  return BigInt(isMap(value as Value) ? (value as MapValue).size : (value as readonly Value[]).length);
}

/** Characters, not the halves that JavaScript counts. */
export function textLength(text: string): number {
  if (text.length < longText) return charactersIn(text);
  const known = lengths.get(text);
  if (known !== undefined) return known;
  const length = charactersIn(text);
  lengths.set(text, length);
  for (const [oldest] of lengths) {
    if (lengths.size <= lengthsMax) break;
    lengths.delete(oldest);
  }
  return length;
}

/** Those of the last long texts, which are asked for with every call. */
const lengths = new Map<string, number>();
const lengthsMax = 8;
const longText = 256;

function charactersIn(text: string): number {
  let length = text.length;
  for (let at = 0; at < text.length - 1; at++) {
    if ((text.charCodeAt(at) & 0xfc00) === 0xd800 && (text.charCodeAt(at + 1) & 0xfc00) === 0xdc00) {
      length--;
      at++;
    }
  }
  return length;
}

function doubleToInt(value: number): bigint {
  // Doubles beside the limits of 64 bits cannot be told from those beyond.
  if (!(value > -9_223_372_036_854_775_808 && value < 9_223_372_036_854_775_808)) return fail("integer overflow");
  return BigInt(Math.trunc(value));
}

function doubleToUint(value: number): Uint {
  if (!(value >= 0 && value < 18_446_744_073_709_551_616)) return fail("unsigned integer overflow");
  return checkedUint(BigInt(Math.trunc(value)));
}

/** Without leading zeros; undefined for more digits than 64 bits have. */
function significant(text: string): string | undefined {
  const digits = text.replace(/^(-?)0+(?=\d)/, "$1");
  return digits.length > digitsMax ? undefined : digits;
}

const digitsMax = 21; // with a sign

function readInt(text: string): bigint {
  const digits = /^[+-]?\d+$/.test(text) ? significant(text.replace(/^\+/, "")) : undefined;
  const value = digits === undefined ? undefined : BigInt(digits);
  return value !== undefined && isInt(value) ? value : fail(`type conversion error from 'string' to 'int'`);
}

const infinities: Readonly<Record<string, number>> = {
  inf: 1,
  "+inf": 1,
  "-inf": -1,
  infinity: 1,
  "+infinity": 1,
  "-infinity": -1,
};

function readDouble(text: string): number {
  const lower = text.toLowerCase();
  if (lower === "nan") return Number.NaN;
  const sign = Object.hasOwn(infinities, lower) ? infinities[lower] : undefined;
  if (sign !== undefined) return sign * Number.POSITIVE_INFINITY;
  if (/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text)) return Number(text);
  return fail(`type conversion error from 'string' to 'double'`);
}

/** As Go writes a number in its shortest form: with an exponent below 1e-4 and from 1e6. */
export function formatDouble(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  if (value === Number.NEGATIVE_INFINITY) return "-Inf";
  if (Number.isNaN(value)) return "NaN";
  if (Object.is(value, -0)) return "-0";
  const [digits = "", exponent = "0"] = value.toExponential().split("e");
  const power = Number(exponent);
  if (power < -4 || power >= 6) return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  return String(value);
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return fail("invalid UTF-8 in bytes, cannot convert to string");
  }
}
