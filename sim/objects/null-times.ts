/**
 * Templates inside objects have metadata of their own, without a time of creation. Older servers write that as null, newer
 * ones leave it out. Source: the same requests, recorded from 1.33 and 1.36.
 */
import type { Json, JsonObject } from "../contract/http-message.ts";
import { type Draft, isObject } from "../contract/objects.ts";

/** Where templates stand, from the outermost object on; `*` is every item of a list. */
const templates: readonly (readonly string[])[] = [
  ["template"],
  ["spec", "template"],
  ["spec", "jobTemplate"],
  ["spec", "jobTemplate", "spec", "template"],
  ["spec", "volumeClaimTemplates", "*"],
];

/** Leaves the null times of templates out of `draft`; what is shared is copied. */
export function omitNullTimes(draft: Draft): void {
  for (const path of templates) {
    const [field = "", ...rest] = path;
    const before = draft[field];
    if (before === undefined) continue;
    const after = without(before, rest);
    if (after !== before) draft[field] = after;
  }
}

function without(value: Json, path: readonly string[]): Json {
  const [field, ...rest] = path;
  if (field === "*") {
    if (!Array.isArray(value)) return value;
    const items = (value as readonly Json[]).map((item) => without(item, rest));
    return items.some((item, at) => item !== (value as readonly Json[])[at]) ? items : value;
  }
  if (!isObject(value)) return value;
  if (field === undefined) return untimed(value);
  const before = value[field];
  if (before === undefined) return value;
  const after = without(before, rest);
  return after === before ? value : { ...value, [field]: after };
}

/** `object` without the null time of its own metadata. */
export function untimed(object: JsonObject): JsonObject {
  const { metadata } = object;
  if (!isObject(metadata) || metadata["creationTimestamp"] !== null) return object;
  const { creationTimestamp: _, ...rest } = metadata;
  return { ...object, metadata: rest };
}
