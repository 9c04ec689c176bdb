/** JSON merge patches: the function of RFC 7386, section 2. */
import { isJsonObject, type Json } from "../client/types.ts";

export function mergePatch(target: Json | undefined, patch: Json): Json {
  if (!isJsonObject(patch)) return patch;
  const merged: Record<string, Json | undefined> = isJsonObject(target) ? { ...target } : {};
  for (const [field, value] of Object.entries(patch)) {
    if (value === null) delete merged[field];
    else if (value !== undefined) merged[field] = mergePatch(merged[field], value);
  }
  return merged;
}
