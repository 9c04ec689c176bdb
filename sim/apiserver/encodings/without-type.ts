/** Items of lists, whose kind and apiVersion the list's own stand for. */
import type { Json, JsonObject } from "../../contract/http-message.ts";

export function withoutType(item: Json): Json {
  if (item === null || typeof item !== "object" || Array.isArray(item) || !beginsWithKind(item as JsonObject))
    return item;
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = item as JsonObject;
  return rest as JsonObject;
}

/** Custom resources are written with their fields in byte order, and keep their types in lists. */
export function beginsWithKind(item: JsonObject): boolean {
  for (const first in item) return first === "kind";
  return false;
}
