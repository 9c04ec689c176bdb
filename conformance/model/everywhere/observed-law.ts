/**
 * What the answers of known implementations are like, though no document promises it. Judged after all that is promised,
 * so that a server which is different here is still held to its promises.
 */
import {
  type ApiObject,
  isApiObject,
  isJsonObject,
  type Json,
  type JsonObject,
  objectsIn,
} from "../../client/types.ts";
import type { Asked } from "./asked.ts";
import { type Breach, breach } from "./breach.ts";
import { isStoredObject } from "./object-law.ts";

/** An answer to a list. */
export function judgeListObserved(asked: Asked, { metadata, items }: JsonObject): Breach | undefined {
  if (!isJsonObject(metadata) || !Array.isArray(items)) return undefined;
  const objects = (items as readonly Json[]).filter(isApiObject);
  return judgeRemaining(metadata) ?? judgeOrder(objects) ?? firstOf(objects, (item) => judgeUntracked(asked, item));
}

/** An object anywhere: nobody owns what the server keeps for itself. */
export function judgeUntracked(asked: Asked, object: JsonObject): Breach | undefined {
  if (!isStoredObject(asked, object)) return undefined;
  return firstOf(objectsIn(object.metadata, "managedFields"), (entry) => {
    const { fieldsV1 } = entry;
    const ofMetadata = isJsonObject(fieldsV1) ? fieldsV1["f:metadata"] : undefined;
    const own = isJsonObject(ofMetadata) ? serverKept.find((field) => field in ofMetadata) : undefined;
    if (own === undefined) return undefined;
    return breach("apply.untracked", `managedFields: nobody owns ${own}`, JSON.stringify(entry).slice(0, 400));
  });
}

const serverKept = [
  "f:name",
  "f:namespace",
  "f:uid",
  "f:creationTimestamp",
  "f:generation",
  "f:resourceVersion",
  "f:managedFields",
];

function judgeRemaining({ remainingItemCount: remaining }: JsonObject): Breach | undefined {
  if (remaining == null || (typeof remaining === "number" && remaining > 0)) return undefined;
  return breach("pages.remaining-exact", "remainingItemCount of at least one", JSON.stringify(remaining));
}

/** By the bytes of `namespace/name`. Names are ASCII, so that comparing texts is comparing bytes. */
function judgeOrder(items: readonly ApiObject[]): Breach | undefined {
  let before = "";
  for (const { metadata } of items) {
    if (metadata.uid === undefined) return undefined; // made up for the answer, and kept under no key
    const key = metadata.namespace === undefined ? metadata.name : `${metadata.namespace}/${metadata.name}`;
    if (key < before) return breach("lists.key-order", `${key} before ${before}`, `${before} before ${key}`);
    before = key;
  }
  return undefined;
}

function firstOf<T>(values: readonly T[], judge: (value: T) => Breach | undefined): Breach | undefined {
  for (const value of values) {
    const found = judge(value);
    if (found !== undefined) return found;
  }
  return undefined;
}
