/** Stored objects as text and back. */
import { encodeJson } from "../../wire/go-strings.ts";
import { readJson } from "../../wire/json-reader.ts";
import type { JsonObject } from "../contract/http-message.ts";
import { isObject, metadataOf } from "../contract/objects.ts";
import { readFieldSet } from "../objects/field-set.ts";
import { seal } from "../objects/seal.ts";

export const textOfValue = (value: object): string => encodeJson(value);

/** As it was stored: integers of 64 bits stay whole, and sets of fields are the shared ones again. Undefined for what is no object. */
export function valueOfText(text: string): JsonObject | undefined {
  const read = readJson(text);
  if (!read.ok || !isObject(read.value)) return undefined;
  const object = read.value;
  const { managedFields } = metadataOf(object);
  if (!Array.isArray(managedFields)) return seal(object);
  const entries = (managedFields as readonly JsonObject[]).map((entry) => ({
    ...entry,
    fieldsV1: readFieldSet(entry["fieldsV1"]) ?? {},
  }));
  return seal({
    ...object,
    metadata: { ...(object["metadata"] as JsonObject), managedFields: entries },
  }) as unknown as JsonObject;
}

/** Tells apart texts that differ, with the odds of 32 bits: against damage, not against anybody who means it. */
export function sumOf(text: string): number {
  let sum = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    sum = Math.imul(sum ^ (unit & 0xff), 0x01000193);
    sum = Math.imul(sum ^ (unit >> 8), 0x01000193);
  }
  return sum >>> 0;
}
