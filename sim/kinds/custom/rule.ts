/**
 * Validation rules of a schema as data.
 * Source: the published rules of CustomResourceDefinitions.
 */
import { goQuote } from "../../../wire/go-strings.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";

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
