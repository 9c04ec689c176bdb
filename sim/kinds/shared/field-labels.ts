/** Fields of objects that selectors may name: each a label with what an object has there. */
import type { Json, JsonObject } from "../../contract/http-message.ts";

/** A field's value as selectors compare it; "" when there is none. */
export type FieldValue = (object: JsonObject) => string;

export type FieldLabel = readonly [label: string, value: FieldValue];

/** The string at a path of fields; "" when there is none. */
export const at =
  (...path: readonly string[]): FieldValue =>
  (object) => {
    const value = walk(object, path);
    return typeof value === "string" ? value : "";
  };

/** A flag that is false when absent. */
export const flagAt =
  (...path: readonly string[]): FieldValue =>
  (object) =>
    String(walk(object, path) === true);

export const countAt =
  (...path: readonly string[]): FieldValue =>
  (object) =>
    String(walk(object, path) ?? 0);

function walk(object: JsonObject, path: readonly string[]): Json | undefined {
  let value: Json | undefined = object;
  for (const name of path) {
    if (value === null || typeof value !== "object" || Array.isArray(value)) return undefined;
    value = (value as JsonObject)[name];
  }
  return value;
}

/** Strings, each by its own path. */
export const plainFields = (...labels: readonly string[]): readonly FieldLabel[] =>
  labels.map((label) => [label, at(...label.split("."))]);

export const nameAndNamespace = plainFields("metadata.name", "metadata.namespace");
