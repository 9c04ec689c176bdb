/**
 * JSON values as Go prints them, for error texts: `map[a:1 b:[x y]]`, `<nil>`, and the `%#v` form of the typed merge.
 * Source: recorded answers (05, 06: strategic merge); the language's rules for `%v` and `%#v`.
 */
import { compareBytes, goQuote } from "../../wire/go-strings.ts";
import type { Json } from "../contract/http-message.ts";
import { isObject } from "../contract/objects.ts";

/** `%v`. Integers stand as they are: the reader of patches keeps them apart from fractions. */
export function goValue(value: Json | undefined): string {
  if (value === null || value === undefined) return "<nil>";
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map(goValue).join(" ")}]`;
  if (isObject(value))
    return `map[${sortedFields(value)
      .map(([key, item]) => `${key}:${goValue(item)}`)
      .join(" ")}]`;
  return typeof value === "number" && !Number.isInteger(value) ? goFloat(value) : String(value);
}

/** `%#v`. Every number is a float here, as the reader of applied configurations leaves them. */
export function goSyntax(value: Json | undefined): string {
  if (value === null || value === undefined) return "interface {}(nil)";
  if (Array.isArray(value)) return `[]interface {}{${(value as readonly Json[]).map(goSyntax).join(", ")}}`;
  if (isObject(value)) {
    const fields = sortedFields(value).map(([key, item]) => `${goQuote(key)}:${goSyntax(item)}`);
    return `map[string]interface {}{${fields.join(", ")}}`;
  }
  if (typeof value === "string") return goQuote(value);
  return typeof value === "number" ? goFloat(value) : String(value);
}

/** The Go type that a JSON value is decoded into. */
export function goType(value: Json): string {
  if (value === null) return "<nil>";
  if (Array.isArray(value)) return "[]interface {}";
  if (typeof value === "object") return "map[string]interface {}";
  if (typeof (value as unknown) === "bigint") return "int64";
  if (typeof value === "number") return Number.isInteger(value) ? "int64" : "float64";
  return typeof value === "boolean" ? "bool" : "string";
}

/** The shortest form that reads back, with an exponent below 1e-4 and from 1e6 on. */
export function goFloat(value: number): string {
  const [digits = "", exponent = ""] = value.toExponential().split("e");
  const power = Number(exponent);
  if (power >= -4 && power < 6) return String(value);
  return `${digits}e${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
}

function sortedFields(value: object): [string, Json][] {
  return (Object.entries(value) as [string, Json][]).sort(([left], [right]) => compareBytes(left, right));
}
