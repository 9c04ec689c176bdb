/**
 * PartialObjectMetadata and its list: an object's metadata alone. Source: the facts, section 5; recorded answers.
 */
import { notAcceptable } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import type { ShownInParts } from "../encodings/shown-payload.ts";

/** Is it a list that this server put together? An object may have a field `items` of its own, but is never without a uid. */
export function isList({ items, metadata }: JsonObject): boolean {
  return Array.isArray(items) && (metadata as JsonObject | undefined)?.["uid"] === undefined;
}

/** What `as=PartialObjectMetadata` makes of an object. Throws 406 for a list; `goType` names what was asked for. */
export function partialOfOne(object: JsonObject, apiVersion: string, goType: string): JsonObject {
  if (!isList(object)) return partialObject(object, apiVersion);
  throw wrongArity("PartialObjectMetadata", `a list (${goType}List)`);
}

/** What `as=PartialObjectMetadataList` makes of a list. Throws 406 for a single object. */
export function partialOfList(object: JsonObject, apiVersion: string, goType: string): JsonObject {
  const { head, objects, shown } = partialInParts(object, apiVersion, goType);
  return { ...head, items: objects.map((item) => shown(item)) };
}

/** The same, item by item. */
export function partialInParts(object: JsonObject, apiVersion: string, goType: string): ShownInParts {
  if (!isList(object)) throw wrongArity("PartialObjectMetadataList", `not a list (${goType})`);
  return {
    head: { kind: "PartialObjectMetadataList", apiVersion, metadata: listMetadata(object) },
    field: "items",
    objects: object["items"] as readonly JsonObject[],
    shown: (item) => partialObject(item, apiVersion),
  };
}

/** A list's metadata as what is made of it bears it: an empty token is not said again. */
export function listMetadata(list: JsonObject): JsonObject {
  const { continue: token, ...metadata } = list["metadata"] as JsonObject;
  return token === "" ? metadata : (list["metadata"] as JsonObject);
}

export function partialObject(object: JsonObject, apiVersion: string): JsonObject {
  return { kind: "PartialObjectMetadata", apiVersion, metadata: object["metadata"] as JsonObject };
}

function wrongArity(kind: string, what: string): Error {
  return notAcceptable(`you requested ${kind}, but the requested object is ${what}`, false);
}
