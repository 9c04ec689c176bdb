/**
 * Validation errors as the wire shows them: a reason, a field path and a text in Go's manner.
 * Source: the facts, section 1, error body forms of 422.
 */
import { sortByBytes, encodeJson, goQuote } from "../../wire/go-strings.ts";
import type { Cause } from "../contract/errors.ts";

/** A value as an error text shows it: strings quoted, the rest bare; `undefined` is a nil pointer. */
function shown(value: unknown): string {
  if (typeof value === "string") return goQuote(value);
  if (value === undefined || value === null) return '"null"';
  return typeof value === "object" ? encodeJson(value) : String(value);
}

export const invalidValue = (field: string, value: unknown, detail: string): Cause => ({
  reason: "FieldValueInvalid",
  message: `Invalid value: ${shown(value)}: ${detail}`,
  field,
});

/** A cause for each of `texts`, which say what is wrong with the value. */
export function pushInvalid(field: string, value: unknown, texts: readonly string[], causes: Cause[]): void {
  // Mostly there are none: no iterator is made for that.
  for (let at = 0; at < texts.length; at++) causes.push(invalidValue(field, value, texts[at] as string));
}

/** As `invalidValue`, for a value that is already written the way Go prints it. */
export const invalidText = (field: string, text: string, detail: string): Cause => ({
  reason: "FieldValueInvalid",
  message: `Invalid value: ${text}: ${detail}`,
  field,
});

export const requiredValue = (field: string, detail = ""): Cause => ({
  reason: "FieldValueRequired",
  message: detail === "" ? "Required value" : `Required value: ${detail}`,
  field,
});

export const duplicateValue = (field: string, value: unknown): Cause => ({
  reason: "FieldValueDuplicate",
  message: `Duplicate value: ${shown(value)}`,
  field,
});

/** As `duplicateValue`, for a value that is already written the way Go prints it. */
export const duplicateText = (field: string, text: string): Cause => ({
  reason: "FieldValueDuplicate",
  message: `Duplicate value: ${text}`,
  field,
});

export const notFoundValue = (field: string, value: unknown, detail = ""): Cause => ({
  reason: "FieldValueNotFound",
  message: detail === "" ? `Not found: ${shown(value)}` : `Not found: ${shown(value)}: ${detail}`,
  field,
});

export const tooManyItems = (field: string, count: number, countMax: number): Cause => ({
  reason: "FieldValueTooMany",
  message: `Too many: ${count}: must have at most ${countMax} items`,
  field,
});

export const forbiddenField = (field: string, detail: string): Cause => ({
  reason: "FieldValueForbidden",
  message: `Forbidden: ${detail}`,
  field,
});

export const unsupportedValue = (field: string, value: unknown, supported: readonly string[]): Cause => ({
  reason: "FieldValueNotSupported",
  message: `Unsupported value: ${shown(value)}: supported values: ${supported.map(goQuote).join(", ")}`,
  field,
});

export const tooLongValue = (field: string, bytesMax: number): Cause => ({
  reason: "FieldValueTooLong",
  message: `Too long: may not be more than ${bytesMax} bytes`,
  field,
});

/** A Go slice of strings: `[]string{"a", "b"}`. */
export const goStrings = (values: readonly string[]): string => `[]string{${values.map(goQuote).join(", ")}}`;

/** A Go map of strings: `map[string]string{"a":"b"}`. */
export const goStringMap = (values: Readonly<Record<string, string>>): string =>
  `map[string]string{${sortByBytes(Object.keys(values))
    .map((key) => `${goQuote(key)}:${goQuote(values[key] as string)}`)
    .join(", ")}}`;

/** `2026-01-02T03:04:05Z` as Go prints a time. */
export const goTime = (time: string): string => `${time.slice(0, 10)} ${time.slice(11, 19)} +0000 UTC`;

/** The same of a time with a fraction, whose last zeros go. */
export function goMicroTime(time: string): string {
  const fraction = /\.(\d*[1-9])0*Z$/.exec(time)?.[1];
  return `${time.slice(0, 10)} ${time.slice(11, 19)}${fraction === undefined ? "" : `.${fraction}`} +0000 UTC`;
}
