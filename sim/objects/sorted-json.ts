/** JSON values with their keys in byte order, as a map without a type is written. */
import { sortByBytes } from "../../wire/go-strings.ts";
import type { Json, JsonObject } from "../contract/http-message.ts";
import { setKey } from "./walker.ts";

/** A copy with sorted keys at every depth; what `keeps` holds for stays as it is. */
export function sortedJson(value: Json, keeps: (value: object) => boolean = () => false): Json {
  if (typeof value !== "object" || value === null || keeps(value)) return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => sortedJson(item, keeps));
  const result: Record<string, Json> = {};
  for (const key of sortByBytes(Object.keys(value))) {
    setKey(result, key, sortedJson((value as JsonObject)[key] as Json, keeps));
  }
  return result;
}
