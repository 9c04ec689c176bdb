/** What a path leads to, found the plain way: all of it, step by step. */
import type { Json } from "../../contract/http-message.ts";
import { isObject } from "../../contract/objects.ts";
import type { JsonPath, Step } from "./json-path.ts";

/** Everything that the path leads to, in order; empty when it leads nowhere. */
export function valuesAt(path: JsonPath, object: Json): readonly Json[] {
  let values: readonly Json[] = [object];
  for (const step of path) values = values.flatMap((value) => taken(step, value));
  return values;
}

function taken(step: Step, value: Json): readonly Json[] {
  switch (step.is) {
    case "field":
      return isObject(value) && Object.hasOwn(value, step.name) ? [value[step.name] as Json] : [];
    case "index": {
      const item = Array.isArray(value) ? (value as readonly Json[]).at(step.index) : undefined;
      return item === undefined ? [] : [item];
    }
    case "all":
      if (Array.isArray(value)) return value as readonly Json[];
      return isObject(value) ? (Object.values(value) as readonly Json[]) : [];
    default:
      return Array.isArray(value) ? (value as readonly Json[]).filter((item) => passes(step, item)) : [];
  }
}

function passes({ path, operator, value }: Step & { readonly is: "filter" }, item: Json): boolean {
  let found: Json | undefined = item;
  for (const name of path) found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  if (found === undefined || value === undefined) return found !== undefined;
  if (typeof found !== typeof value || found === null || typeof found === "object") return false;
  return (comparisons[operator] as (left: Json, right: Json) => boolean)(found, value);
}

const comparisons: Readonly<Record<string, (left: Json, right: Json) => boolean>> = {
  "==": (left, right) => left === right,
  "!=": (left, right) => left !== right,
  "<": (left, right) => (left as number) < (right as number),
  "<=": (left, right) => (left as number) <= (right as number),
  ">": (left, right) => (left as number) > (right as number),
  ">=": (left, right) => (left as number) >= (right as number),
};
