/**
 * What a strategic merge patch promises of one list with a merge key. Where elements that the patch does not name come
 * to stand is left to the server, unless an order is given.
 * Source: document 1, Updates 2; the observed rules that the requirements of `strategic` name.
 */
import type { JsonObject } from "../client/types.ts";
import type { Violation } from "../client/findings.ts";
import { sameJson } from "./json-values.ts";

/** An element of a list whose merge key is `name`. */
export interface Element extends JsonObject {
  readonly name: string;
}

/** The patch that leads from one list to another, its order included. Names are unique in both. */
export function listDifference(from: readonly Element[], to: readonly Element[], list: string): JsonObject {
  const before = new Map(from.map((element) => [element.name, element]));
  const after = new Set(to.map(({ name }) => name));
  const gone = from.filter(({ name }) => !after.has(name)).map(({ name }) => ({ name, $patch: "delete" }));
  const changed = to.flatMap((element) => {
    const old = before.get(element.name);
    return sameJson(old, element) ? [] : [{ ...nullsFor(old, element), ...element }];
  });
  const order = to.length === 0 ? {} : { [`$setElementOrder/${list}`]: to.map(({ name }) => ({ name })) };
  const elements = [...changed, ...gone];
  return { ...order, ...(elements.length === 0 ? {} : { [list]: elements }) };
}

function nullsFor(old: Element | undefined, element: Element): JsonObject {
  const fields = Object.keys(old ?? {}).filter((field) => !(field in element));
  return Object.fromEntries(fields.map((field) => [field, null]));
}

/**
 * A patch without directives of order: what it names and does not delete is there once, merged; what it deletes is
 * gone; all else is as it was, in its own order where names are unique. Of an element that was there several times and
 * is named, only a deletion is judged.
 */
export function judgeMerged(
  before: readonly Element[],
  patch: readonly Element[],
  after: readonly Element[],
): Violation | undefined {
  const named = new Map(patch.map((element) => [element.name, element]));
  const counts = new Map<string, number>();
  for (const { name } of before) counts.set(name, (counts.get(name) ?? 0) + 1);
  for (const [name, { $patch, ...fields }] of named) {
    const there = after.filter((element) => element.name === name);
    if ($patch === "delete") {
      if (there.length > 0) return { expected: `no ${name}`, actual: JSON.stringify(after) };
    } else if ((counts.get(name) ?? 0) <= 1) {
      const merged = { ...before.find((element) => element.name === name), ...fields };
      const expected = Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null));
      if (there.length !== 1 || !sameJson(there[0], expected)) {
        return { expected: `one ${name}: ${JSON.stringify(expected)}`, actual: JSON.stringify(after) };
      }
    }
  }
  const isUnique = [...counts.values()].every((count) => count === 1);
  const rest = (list: readonly Element[]) => {
    const texts = list
      .filter(({ name }) => !named.has(name))
      .map((element) => JSON.stringify(Object.entries(element).sort(([a], [b]) => (a < b ? -1 : 1))));
    return (isUnique ? texts : texts.sort()).join(" ");
  };
  if (rest(before) === rest(after)) return undefined;
  return { expected: `what the patch does not name, as it was: ${rest(before)}`, actual: rest(after) };
}
