/**
 * Whole numbers that no double holds, which servers keep and tell exactly. A node counts no further than a double does: they become the
 * last that it holds.
 */
import type { Json, JsonObject } from "../../contract/http-message.ts";

/** The object itself, where it has none in what an agent reads. */
export function withPlainNumbers(object: JsonObject): JsonObject {
  const { metadata, spec } = object;
  const [plainMetadata, plainSpec] = [metadataOf(metadata), plainNumbers(spec)];
  if (plainMetadata === metadata && plainSpec === spec) return object;
  return { ...object, metadata: plainMetadata, spec: plainSpec } as JsonObject;
}

/** Only one number of a pod's is read there. */
function metadataOf(metadata: Json | undefined): Json | undefined {
  const seconds = (metadata as JsonObject | undefined)?.["deletionGracePeriodSeconds"] as unknown;
  if (typeof seconds !== "bigint") return metadata;
  return { ...(metadata as JsonObject), deletionGracePeriodSeconds: safe(seconds) };
}

/** The same for any value. Objects of the tables' types lie in one another no deeper than a server reads them. */
export function plainNumbers(value: Json | undefined): Json | undefined {
  if (typeof value === "bigint") return safe(value);
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    const items = value as readonly Json[];
    let list: Json[] | undefined;
    for (const [at, before] of items.entries()) {
      const after = plainNumbers(before) as Json;
      if (after !== before) (list ??= [...items])[at] = after;
    }
    return list ?? value;
  }
  const whole = value as JsonObject;
  let changed: Record<string, Json> | undefined;
  for (const key in whole) {
    const before = whole[key] as Json;
    const after = plainNumbers(before) as Json;
    if (after !== before) (changed ??= { ...whole } as Record<string, Json>)[key] = after;
  }
  return changed ?? value;
}

const safe = (value: bigint): number => (value < 0n ? Number.MIN_SAFE_INTEGER : Number.MAX_SAFE_INTEGER);
