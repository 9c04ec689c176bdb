/**
 * JSON merge patch. Copies only the paths that change, so the result shares every other subtree with its input, and is
 * the input itself when nothing changes.
 * Source: RFC 7386.
 */
import type { Json, JsonObject } from "../contract/http-message.ts";
import { isObject } from "../contract/objects.ts";
import { copiedMap, setKey } from "./walker.ts";

/** The document that `patch` makes of `target`. Neither is changed; the result may contain parts of both. */
export function applyMergePatch(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const base = isObject(target) ? target : undefined;
  let result: Record<string, Json> | undefined;
  for (const key of Object.keys(patch)) {
    const value = patch[key];
    if (value === undefined) continue;
    const present = base !== undefined && Object.hasOwn(base, key);
    if (value === null) {
      if (!present) continue;
      result ??= copyOf(base);
      delete result[key];
      continue;
    }
    const before = present ? base[key] : undefined;
    const after = applyMergePatch(before, value);
    if (present && after === before) continue;
    result ??= copyOf(base);
    setKey(result, key, after);
  }
  return result ?? base ?? {};
}

const copyOf = (base: JsonObject | undefined): Record<string, Json> => (base === undefined ? {} : copiedMap(base));
