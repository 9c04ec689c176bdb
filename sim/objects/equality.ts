/** Equality of JSON values, and of objects as the server means it when it asks whether an update changes anything. */
import type { Json, JsonObject } from "../contract/http-message.ts";
import { isObject } from "../contract/objects.ts";

/** Deep equality; the order of keys does not count. Shared subtrees are equal without a look inside. */
export function jsonEqual(left: Json | undefined, right: Json | undefined): boolean {
  if (left === right) return true;
  if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
  if (left === undefined || right === undefined) return false;
  if (Array.isArray(left)) return Array.isArray(right) && listsEqual(left, right);
  return !Array.isArray(right) && fieldsEqual(left as JsonObject, right as JsonObject);
}

function listsEqual(left: readonly Json[], right: readonly Json[]): boolean {
  if (left.length !== right.length) return false;
  for (let at = 0; at < left.length; at++) if (!jsonEqual(left[at], right[at])) return false;
  return true;
}

function fieldsEqual(left: JsonObject, right: JsonObject): boolean {
  let more = 0;
  for (const key in left) {
    if (!Object.hasOwn(right, key) || !jsonEqual(left[key], right[key])) return false;
    more++;
  }
  for (const _ in right) more--;
  return more === 0;
}

/**
 * Would storing `after` change nothing that a client can tell from `before`? The times of managedFields do not count,
 * and neither does resourceVersion, which the store assigns.
 * Source: the facts, sections 2 (no-op writes) and 4 (re-apply without change keeps time and version).
 */
export function objectsEqual(before: JsonObject, after: JsonObject): boolean {
  return comparable(before, after, objectRules);
}

type Rule = (left: Json | undefined, right: Json | undefined) => boolean;

const entryRules: Readonly<Record<string, Rule>> = { time: () => true };
const metadataRules: Readonly<Record<string, Rule>> = {
  resourceVersion: () => true,
  managedFields: (left, right) => {
    const before = (left ?? []) as readonly Json[];
    const after = (right ?? []) as readonly Json[];
    return before.length === after.length && before.every((entry, at) => comparable(entry, after[at], entryRules));
  },
};
const objectRules: Readonly<Record<string, Rule>> = {
  metadata: (left, right) => comparable(left, right, metadataRules),
};

/**
 * Equality with a rule of its own for some keys; a key with a rule may be missing on one side. Keys without one come first:
 * where objects differ at all, it is mostly there.
 */
function comparable(left: Json | undefined, right: Json | undefined, rules: Readonly<Record<string, Rule>>): boolean {
  if (left === right) return true;
  if (!isObject(left) || !isObject(right)) return false;
  for (const key in left) {
    if (Object.hasOwn(rules, key)) continue;
    if (!jsonEqual(left[key], Object.hasOwn(right, key) ? right[key] : undefined)) return false;
  }
  for (const key in right) {
    if (right[key] !== undefined && !Object.hasOwn(left, key) && !Object.hasOwn(rules, key)) return false;
  }
  for (const key in rules) {
    const [before, after] = [ownField(left, key), ownField(right, key)];
    if ((before !== undefined || after !== undefined) && !(rules[key] as Rule)(before, after)) return false;
  }
  return true;
}

const ownField = (object: JsonObject, key: string): Json | undefined =>
  Object.hasOwn(object, key) ? object[key] : undefined;
