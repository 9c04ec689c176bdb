/**
 * Large maps of texts (labels, data) and large sets of fields, put in byte order a part at a time before an object is decoded: a
 * hundred thousand keys take a tenth of a second at once, in which nobody else would have a turn.
 */
import type { JsonObject } from "../contract/http-message.ts";
import { isObject } from "../contract/objects.ts";
import { sortedInSteps } from "./sorted-steps.ts";
import { rememberLarge } from "./value-limit.ts";

/** From here on a map is put in order before. */
const largeMin = 4_000;
/** Maps and structures of one object that are looked at: a large map is not hidden among thousands of others. */
const lookedAtMax = 500;
/** Members put in order, or copied, before others have their turn. */
const membersPerStep = 16_384;

const copies = new WeakMap<JsonObject, JsonObject>();
/** Of those that have empty maps among their texts, as sets of fields do. */
const sets = new WeakMap<JsonObject, JsonObject>();
let isAnyCopied = false;

/** Puts the large maps of texts and sets of fields in `value` in order. What is `known`'s own is left: it is so already. */
export function* largeMapSteps(value: unknown, known?: unknown): Generator<void, void> {
  const open: [value: unknown, known: unknown][] = [[value, known]];
  for (let at = 0; at < open.length && at < lookedAtMax; at++) {
    const [is, was] = open[at] as [unknown, unknown];
    if (is === was || !isObject(is)) continue;
    const names = Object.keys(is);
    if (names.length >= largeMin) yield* putInOrder(is, names);
    else {
      for (const name of names) {
        if (isObject(is[name])) open.push([is[name], isObject(was) ? was[name] : undefined]);
        else if (name === "managedFields" && Array.isArray(is[name]))
          for (const entry of is[name] as readonly unknown[]) open.push([entry, undefined]);
      }
    }
  }
}

/** Leaves alone what has anything but texts and empty maps, and names that byte order and code units put in different places. */
function* putInOrder(map: JsonObject, names: readonly string[]): Generator<void, void> {
  yield;
  const sorted = yield* sortedInSteps(names, membersPerStep);
  const copy: Record<string, JsonObject[string]> = {};
  let count = 0;
  let isOfTexts = true;
  yield;
  for (const name of sorted) {
    if (++count % membersPerStep === 0) yield;
    const value = map[name];
    if (name === "__proto__" || highUnit.test(name)) return;
    if (typeof value === "string") copy[name] = value;
    else if (isEmptyMap(value)) {
      copy[name] = {};
      isOfTexts = false;
    } else return;
  }
  (isOfTexts ? copies : sets).set(map, copy);
  rememberLarge(copy);
  isAnyCopied = true;
}

function isEmptyMap(value: unknown): boolean {
  if (!isObject(value)) return false;
  for (const _ in value) return false;
  return true;
}

const highUnit = /[\ud800-\uffff]/;

/** A map of texts in order, if it has been put so; handed out once, since it becomes part of an object. */
export const orderedBefore = (map: JsonObject): JsonObject | undefined => handedOut(copies, map);

/** The same of what may have empty maps among its texts. */
export const orderedSetBefore = (map: JsonObject): JsonObject | undefined =>
  handedOut(sets, map) ?? handedOut(copies, map);

/** Whether a map has been put in order, and has not been handed out. */
export const isInOrder = (map: object): boolean =>
  isAnyCopied && (copies.has(map as JsonObject) || sets.has(map as JsonObject));

function handedOut(from: WeakMap<JsonObject, JsonObject>, map: JsonObject): JsonObject | undefined {
  if (!isAnyCopied) return undefined;
  const copy = from.get(map);
  if (copy !== undefined) from.delete(map);
  return copy;
}
