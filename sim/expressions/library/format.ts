/**
 * `"%s is %d".format([…])`: the clauses s, d, f, e, b, x, X, o and %%, with a precision for f and e.
 * Source: the published string extension.
 */
import { exhausted, fail } from "../failures.ts";
import { Duration, isList, isMap, Timestamp, TypeValue, typeName, Uint, type Value } from "../values.ts";
import { formatDouble } from "./conversions.ts";
import { formatDuration, formatTimestamp } from "./times.ts";

const precisionMax = 100;

export function formatValues(template: string, values: readonly Value[]): string {
  let used = 0;
  return template.replace(
    /%(?:(%)|(?:\.(\d*))?([a-zA-Z]?))/g,
    (_whole, percent?: string, precision?: string, clause = "") => {
      if (percent !== undefined) return "%";
      const write = Object.hasOwn(clauses, clause) ? clauses[clause] : undefined;
      if (write === undefined)
        return fail(`could not parse formatting clause: unrecognized formatting clause ${JSON.stringify(clause)}`);
      const at = used++;
      if (at >= values.length) return fail(`index ${at} out of range`);
      const digits = precision === undefined ? undefined : Number(precision);
      if (digits !== undefined && digits > precisionMax) return fail("precision must be at most 100");
      return write(values[at] as Value, digits);
    },
  );
}

type Clause = (value: Value, precision: number | undefined) => string;

const clauses: Readonly<Record<string, Clause>> = {
  s: (value) => display(value, { characters: charactersMax }),
  d: (value) => (typeof value === "number" ? infinite(value) : undefined) ?? String(integer(value, "decimal")),
  f: (value, precision = 6) => infinite(value) ?? fixed(real(value), precision),
  e: (value, precision = 6) => infinite(value) ?? scientific(real(value), precision),
  b: (value) => (typeof value === "boolean" ? String(Number(value)) : integer(value, "binary").toString(2)),
  o: (value) => integer(value, "octal").toString(8),
  x: (value) => hex(value),
  X: (value) => hex(value).toUpperCase(),
};

/** What the largest budget could pay for. */
const charactersMax = 1_000_000;

/** A value as `%s` shows it; keys of maps in order. Lists may hold one another many times over. */
function display(value: Value, room: { characters: number }): string {
  const text = displayed(value, room);
  room.characters -= text.length + 1;
  return room.characters < 0 ? exhausted() : text;
}

function displayed(value: Value, room: { characters: number }): string {
  const inner = (each: Value): string => display(each, room);
  if (typeof value === "string") return value;
  if (typeof value === "number") return infinite(value) ?? formatDouble(value);
  if (value === null) return "null";
  if (isList(value)) return `[${value.map(inner).join(", ")}]`;
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Uint8Array) return new TextDecoder().decode(value);
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatDuration(value);
  if (value instanceof TypeValue) return value.name;
  if (isMap(value)) {
    const entries = value.keys().map((key) => `${inner(key)}: ${inner(value.get(key) as Value)}`);
    return `{${entries.sort().join(", ")}}`;
  }
  if (typeof value === "boolean" || typeof value === "bigint") return String(value);
  return fail(
    `error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given ${typeName(value)}`,
  );
}

function integer(value: Value, clause: string): bigint {
  if (typeof value === "bigint") return value;
  if (value instanceof Uint) return value.value;
  return fail(`error during formatting: ${clause} clause can only be used on integers, was given ${typeName(value)}`);
}

function real(value: Value): number {
  if (typeof value === "number") return value;
  if (typeof value === "bigint") return Number(value);
  if (value instanceof Uint) return Number(value.value);
  return fail(`error during formatting: fixed-point clause can only be used on doubles, was given ${typeName(value)}`);
}

function infinite(value: Value): string | undefined {
  if (value === "NaN" || (typeof value === "number" && Number.isNaN(value))) return "NaN";
  if (value === "Infinity" || value === Number.POSITIVE_INFINITY) return "Infinity";
  return value === "-Infinity" || value === Number.NEGATIVE_INFINITY ? "-Infinity" : undefined;
}

/** What lies in the middle goes to the even digit; JavaScript's own goes up. */
function fixed(value: number, precision: number): string {
  const text = value.toFixed(precision);
  const exact = Math.abs(value).toFixed(Math.min(precisionMax, precision + 30));
  const point = exact.indexOf(".") + 1;
  const rest = exact.slice(point + precision);
  if (precision >= precisionMax || !/^50*$/.test(rest)) return text;
  const cut = precision === 0 ? exact.slice(0, point - 1) : exact.slice(0, point + precision);
  return Number(cut.at(-1)) % 2 === 0 ? `${value < 0 ? "-" : ""}${cut}` : text;
}

function scientific(value: number, precision: number): string {
  const [digits = "", exponent = "0"] = value.toExponential(precision).split("e");
  const power = Number(exponent);
  return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

function hex(value: Value): string {
  const bytes = typeof value === "string" ? new TextEncoder().encode(value) : value;
  if (bytes instanceof Uint8Array) return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return integer(value, "hex").toString(16);
}
