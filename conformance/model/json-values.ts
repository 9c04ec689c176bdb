/** JSON documents as values: compared without regard to the order of fields, and read by path. */
import { isJsonObject, type Json } from "../client/types.ts";

/** Fields in any order; a field that is undefined is absent. Lists in order. */
export function sameJson(left: Json | undefined, right: Json | undefined): boolean {
  if (left === right) return true;
  if (Array.isArray(left)) {
    if (!Array.isArray(right) || left.length !== right.length) return false;
    return left.every((item, at) => sameJson(item as Json, right[at] as Json));
  }
  if (!isJsonObject(left) || !isJsonObject(right)) return false;
  const fields = new Set([...Object.keys(left), ...Object.keys(right)]);
  return [...fields].every((field) => sameJson(left[field], right[field]));
}

/** Deeper than any object of the suite. */
const levelsMax = 64;

/**
 * Whether two documents are surely the same, field by field: without a copy of either, since most pairs are the same. False
 * may also be said of what nests deeper than `levels`.
 */
export function isAlike(left: Json | undefined, right: Json | undefined, levels = levelsMax): boolean {
  if (left === right) return true;
  if (levels === 0) return false;
  if (Array.isArray(left) || Array.isArray(right)) {
    if (!Array.isArray(left) || !Array.isArray(right) || left.length !== right.length) return false;
    return left.every((item, at) => isAlike(item as Json, right[at] as Json, levels - 1));
  }
  if (!isJsonObject(left) || !isJsonObject(right)) return false;
  const fields = Object.keys(left);
  if (fields.length !== Object.keys(right).length) return false;
  return fields.every((field) => Object.hasOwn(right, field) && isAlike(left[field], right[field], levels - 1));
}

/** Without nulls and without empty maps and lists, which a server may leave out: undefined when nothing is left. */
export function withoutEmpty(value: Json | undefined): Json | undefined {
  if (value === null || value === undefined) return undefined;
  if (Array.isArray(value))
    return value.length === 0 ? undefined : value.map((item) => withoutEmpty(item as Json) ?? {});
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).flatMap(([field, inner]) => {
    const left = withoutEmpty(inner);
    return left === undefined ? [] : [[field, left] as const];
  });
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}

/** What is at a path of field names and list indices; undefined when the path leads nowhere. */
export function valueAt(document: Json | undefined, ...path: readonly (string | number)[]): Json | undefined {
  let value = document;
  for (const step of path) {
    if (Array.isArray(value)) value = (value as readonly Json[])[step as number];
    else if (isJsonObject(value) && Object.hasOwn(value, step)) value = value[step];
    else return undefined;
  }
  return value;
}
