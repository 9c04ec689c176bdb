/** Directives where they direct nothing: in what a strategic merge patch adds. */
import { unmapped } from "../contract/errors.ts";
import type { Json, JsonObject } from "../contract/http-message.ts";
import { goValue } from "./go-values.ts";
import { isObject } from "../contract/objects.ts";
import { setKey } from "./walker.ts";

type Fields = Record<string, Json>;

/** What is new has no nulls to delete anything with. */
export function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(withoutNulls);
  if (!isObject(value)) return value;
  const result: Fields = {};
  for (const [key, item] of Object.entries(value)) if (item !== null) setKey(result, key, withoutNulls(item));
  return result;
}

/** Where there is nothing to direct, a directive goes, and with it the map that it stands in. */
export function withoutDirectives(value: Json): Json | undefined {
  if (Array.isArray(value)) {
    return (value as readonly Json[]).map(withoutDirectives).filter((item) => item !== undefined);
  }
  if (!isObject(value)) return value;
  if (Object.hasOwn(value, "$patch")) return undefined;
  const result: Fields = {};
  for (const [key, item] of Object.entries(value)) {
    const clean = withoutDirectives(item);
    if (clean !== undefined) setKey(result, key, clean);
  }
  return result;
}

export function unknownDirective(directive: Json | undefined, patch: JsonObject): Error {
  return unmapped(`unknown patch type: ${goValue(directive)} in map: ${goValue(patch)}`);
}
