/**
 * Validation rules of a schema as data, and the paths by which they name the field that is to blame.
 * Source: the published rules of CustomResourceDefinitions.
 */
import { goQuote } from "../../../wire/go-strings.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import type { Schema } from "./schema.ts";

export interface ValidationRule {
  readonly rule: string;
  readonly message: string;
  readonly messageExpression: string;
  readonly reason: string | undefined;
  readonly fieldPath: string;
  /** Undefined where the definition says nothing. */
  readonly optionalOldSelf: boolean | undefined;
}

export function readRule(raw: JsonObject): ValidationRule {
  const text = (value: Json | undefined): string => (typeof value === "string" ? value : "");
  return {
    rule: text(raw["rule"]),
    message: text(raw["message"]),
    messageExpression: text(raw["messageExpression"]),
    reason: raw["reason"] as string | undefined,
    fieldPath: text(raw["fieldPath"]),
    optionalOldSelf: raw["optionalOldSelf"] as boolean | undefined,
  };
}

/** As Go prints a rule, which is how an error shows it; where it prints an address, a fixed one stands. */
export function showRule({
  rule,
  message,
  messageExpression,
  reason,
  fieldPath,
  optionalOldSelf,
}: ValidationRule): string {
  const address = (isSet: boolean): string => (isSet ? "0xc000000000" : "nil");
  return (
    `apiextensions.ValidationRule{Rule:${goQuote(rule)}, Message:${goQuote(message)}, ` +
    `MessageExpression:${goQuote(messageExpression)}, ` +
    `Reason:(*apiextensions.FieldValueErrorReason)(${address(reason !== undefined)}), ` +
    `FieldPath:${goQuote(fieldPath)}, OptionalOldSelf:(*bool)(${address(optionalOldSelf !== undefined)})}`
  );
}

/** A field by its path from a schema on, `spec.x`, `labels[a]`; or why the path leads nowhere. */
export function resolveFieldPath(
  path: string,
  schema: Schema,
): { readonly path: string; readonly schema: Schema } | { readonly error: string } {
  let at: Schema = schema;
  let found = "";
  let rest = path;
  while (rest !== "") {
    const [whole, name, quoted] = /^(?:\.([^.[\]]+)|\['((?:[^'\\]|\\.)*)'\])/.exec(rest) ?? [];
    if (whole === undefined) return { error: wrongStep(rest) };
    const key = name ?? (quoted as string).replace(/\\(.)/g, "$1");
    const isMap: boolean = at.properties.size === 0 && at.additional !== undefined && at.additional !== "any";
    const next: Schema | "any" | undefined = isMap ? at.additional : at.properties.get(key);
    if (next === undefined || next === "any") return { error: "does not refer to a valid field" };
    found += isMap ? `[${key}]` : found === "" ? key : `.${key}`;
    at = next;
    rest = rest.slice(whole.length);
  }
  return { path: found, schema: at };
}

function wrongStep(rest: string): string {
  if (rest === "." || rest === "[") return "unexpected end of JSON path";
  const inside = /^\[([^\]]*)/.exec(rest)?.[1];
  if (inside !== undefined) return `expected single quoted string but got ${inside}`;
  return `expected [ or . but got: ${/^[^.[\]]*/.exec(rest)?.[0] ?? rest}`;
}
