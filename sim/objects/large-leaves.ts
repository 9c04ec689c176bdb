/**
 * The fields of large new maps of texts (labels, data), as a set, made in steps before it is asked for: a set of a hundred
 * thousand fields takes a tenth of a second, in which nobody else would have a turn.
 */
import type { JsonObject } from "../contract/http-message.ts";
import { isObject } from "../contract/objects.ts";
import { type FieldSet, leavesInSteps } from "./field-set.ts";

/** From here on a map has its set made in steps. */
const largeMin = 4_000;
/** Maps and structures of one object that are looked at: a large map is not hidden among thousands of others. */
const lookedAtMax = 500;

/** By the map: its set with a path for the map itself, and without. */
const made = { true: new WeakMap<JsonObject, FieldSet>(), false: new WeakMap<JsonObject, FieldSet>() };
let isAnyMade = false;

/** Makes the sets of large maps of texts in `after` that `before` does not have. */
export function* largeLeafSteps(before: unknown, after: unknown, self: boolean): Generator<void, void> {
  const open: [before: unknown, after: unknown][] = [[before, after]];
  for (let at = 0; at < open.length && at < lookedAtMax; at++) {
    const [was, is] = open[at] as [unknown, unknown];
    if (!isObject(is)) continue;
    const names = Object.keys(is);
    if (names.length < largeMin) {
      const known = isObject(was) ? was : undefined;
      for (const name of names) if (isObject(is[name])) open.push([known?.[name], is[name]]);
      continue;
    }
    if (isObject(was)) continue;
    yield;
    if (!names.every((name) => typeof is[name] === "string")) continue;
    const steps = names.map((name) => `f:${name}`);
    yield;
    made[`${self}`].set(is, yield* leavesInSteps(self, steps));
    isAnyMade = true;
  }
}

/** The set of a map, where it was made; it is handed out once, since the map may be another after that. */
export function largeLeaves(map: JsonObject, self: boolean): FieldSet | undefined {
  if (!isAnyMade) return undefined;
  const sets = made[`${self}`];
  const set = sets.get(map);
  if (set !== undefined) sets.delete(map);
  return set;
}
