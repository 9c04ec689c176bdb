/** Directives where they direct nothing: in what a strategic merge patch adds. */
import { unmapped } from "../contract/errors.ts";
import type { Json, JsonObject } from "../contract/http-message.ts";
import { paced } from "../expressions/pace.ts";
import { goValue } from "./go-values.ts";
import { valuesOf } from "./members.ts";
import { isObject } from "../contract/objects.ts";
import { setKey } from "./walker.ts";

type Fields = Record<string, Json>;

/**
 * What is stored of a value that a patch adds: without nulls, which have nothing to delete, and without directives; undefined where
 * nothing is left. Of a judgement, in parts.
 */
export function added(value: Json): Json | undefined {
  if (typeof value !== "object" || value === null) return value;
  const { isPlain, count } = paced(
    () => plainness(value),
    ({ count: looked }) => valueCost * looked,
  );
  if (isPlain) return value;
  const cost = (): number => valueCost * count;
  const left = paced(() => withoutNulls(value), cost);
  return paced(() => withoutDirectives(left), cost);
}

/** Of a value that is looked at or cleaned, by the measure of expressions (`pace.ts`). */
const valueCost = 3;

/** Whether there are neither nulls nor directives in a value, which is mostly so; and how many values there are. */
function plainness(value: object): { readonly isPlain: boolean; readonly count: number } {
  let isPlain = true;
  let count = 0;
  const open: object[] = [value];
  for (let container = open.pop(); container !== undefined; container = open.pop()) {
    const children = valuesOf(container);
    count += children.length + 1;
    const isMap = !Array.isArray(container);
    if (isMap && Object.hasOwn(container, "$patch")) isPlain = false;
    for (const child of children) {
      if (child === null) isPlain &&= !isMap;
      else if (typeof child === "object") open.push(child);
    }
  }
  return { isPlain, count };
}

/** What is new has no nulls to delete anything with. Where nothing goes, the value itself; so for what follows. */
export function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return withItems(value as readonly Json[], withoutNulls);
  return isObject(value) ? withFields(value, (item) => (item === null ? undefined : withoutNulls(item))) : value;
}

/** Where there is nothing to direct, a directive goes, and with it the map that it stands in. */
export function withoutDirectives(value: Json): Json | undefined {
  if (Array.isArray(value)) {
    return withItems(value as readonly Json[], withoutDirectives);
  }
  if (!isObject(value)) return value;
  return Object.hasOwn(value, "$patch") ? undefined : withFields(value, withoutDirectives);
}

/** The list of what `clean` leaves of each item; undefined leaves nothing. */
function withItems(list: readonly Json[], clean: (item: Json) => Json | undefined): readonly Json[] {
  const items = list.map(clean);
  return items.every((item, at) => item === list[at]) ? list : items.filter((item) => item !== undefined);
}

function withFields(map: JsonObject, clean: (item: Json) => Json | undefined): JsonObject {
  let changed: Fields | undefined;
  for (const key of Object.keys(map)) {
    const item = map[key] as Json;
    const left = clean(item);
    if (left === item) continue;
    changed ??= { ...map };
    if (left === undefined) delete changed[key];
    else setKey(changed, key, left);
  }
  return changed ?? map;
}

export function unknownDirective(directive: Json | undefined, patch: JsonObject): Error {
  return unmapped(`unknown patch type: ${goValue(directive)} in map: ${goValue(patch)}`);
}
