/**
 * What a scalar of YAML means to the server's reader: YAML 1.1 as its library has it, which knows octal numbers of two
 * forms, no sexagesimal ones, and leaves times as text.
 * Source: the published resolver of that library, against which each rule was tried.
 */
import { decodeBase64 } from "../../wire/base64.ts";

/** A number is a bigint where the reader has an integer that a double cannot hold. */
export type YamlScalar = string | number | bigint | boolean | null;

/** A scalar that its tag does not allow; the text is the server's. */
export class YamlTagError extends Error {}

const tagPrefix = "tag:yaml.org,2002:";

/** `tag` is the full name, undefined for a scalar without one. Throws `YamlTagError`. */
export function resolveScalar(text: string, tag: string | undefined, isPlain: boolean): YamlScalar {
  if (tag === undefined) return isPlain ? meaningOf(text) : text;
  const name = tag.startsWith(tagPrefix) ? tag.slice(tagPrefix.length) : "";
  if (name === "binary") return textOfBase64(text);
  if (!judgedTags.has(name)) return text;
  const value = meaningOf(text);
  const found = kindOf(text, value);
  if (found === name || (name === "float" && found === "int")) return value;
  throw new YamlTagError(`cannot decode !!${found} \`${text}\` as a !!${name}`);
}

const judgedTags: ReadonlySet<string> = new Set(["bool", "int", "float", "null"]);

const words = new Map<string, YamlScalar>([
  ...["y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"].map((word) => [word, true] as const),
  ...["n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"].map((word) => [word, false] as const),
  ...["", "~", "null", "Null", "NULL"].map((word) => [word, null] as const),
  ...[".nan", ".NaN", ".NAN"].map((word) => [word, NaN] as const),
  ...[".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"].map((word) => [word, Infinity] as const),
  ...["-.inf", "-.Inf", "-.INF"].map((word) => [word, -Infinity] as const),
]);

/** What a plain scalar without a tag means. */
export function meaningOf(text: string): YamlScalar {
  const word = words.get(text);
  if (word !== undefined) return word;
  if (!/^[-+.\d]/.test(text)) return text;
  const digits = text.startsWith(".") ? text.replace(/(?<=\d)_(?=\d)/g, "") : text.replaceAll("_", "");
  const integer = integerOf(digits);
  if (integer !== undefined) return integer;
  const number = decimal.test(digits) ? Number(digits) : NaN;
  return Number.isFinite(number) ? number : text;
}

const decimal = /^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/;
const integerForm = /^([-+]?)(?:(0[xX][\da-fA-F]+)|(0[bB][01]+)|0[oO]?([0-7]+)|(0|[1-9]\d*))$/;
const longMax = 2n ** 63n - 1n;
const unsignedMax = 2n ** 64n - 1n;

/** Of 64 bits in the longest form, with many zeros before them. */
const digitsMax = 200;

/** 64 bits, with a sign or without. */
function integerOf(text: string): number | bigint | undefined {
  const [, sign = "", hex, binary, octal, plain] = integerForm.exec(text) ?? [];
  const digits = hex ?? binary ?? (octal === undefined ? plain : `0o${octal}`);
  if (digits === undefined || digits.length > digitsMax) return undefined;
  const value = BigInt(digits);
  const max = sign === "-" ? longMax + 1n : sign === "+" ? longMax : unsignedMax;
  if (value > max) return undefined;
  const signed = sign === "-" ? -value : value;
  const number = Number(signed);
  return Number.isSafeInteger(number) ? number : signed;
}

function kindOf(text: string, value: YamlScalar): string {
  if (value === null) return "null";
  if (typeof value === "string") return "str";
  if (typeof value === "boolean") return "bool";
  return integerOf(text.replaceAll("_", "")) === undefined ? "float" : "int";
}

const lenient = new TextDecoder();

function textOfBase64(text: string): string {
  const bytes = decodeBase64(text);
  if (typeof bytes === "number") throw new YamlTagError("!!binary value contains invalid base64 data");
  return lenient.decode(bytes);
}

/** How JSON names a key that was no text; undefined for one that it cannot name. */
export function keyText(key: YamlScalar, text: string): string | undefined {
  if (typeof key === "string") return key;
  if (typeof key === "bigint") return key > longMax ? undefined : String(key);
  if (typeof key === "boolean") return String(key);
  if (key === null) return undefined;
  return integerOf(text.replaceAll("_", "")) === undefined ? floatText(key) : String(key);
}

/** The shortest text that a single-precision number is read back from. */
function floatText(value: number): string {
  const single = Math.fround(value);
  if (Number.isNaN(single)) return ".nan";
  if (!Number.isFinite(single)) return single > 0 ? ".inf" : "-.inf";
  if (single === 0) return Object.is(single, -0) ? "-0" : "0";
  let shortest = "";
  for (let digits = 1; digits <= 9; digits++) {
    shortest = single.toExponential(digits - 1);
    if (Math.fround(Number(shortest)) === single) break;
  }
  const [mantissa = "", exponent = ""] = shortest.split("e");
  const power = Number(exponent);
  if (power >= -4 && power < 6) return String(Number(shortest));
  return `${mantissa}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}
