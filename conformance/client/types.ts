/** The few shapes of the wire that checks read. Everything else of an object stays as it came. */

export type Json = null | boolean | number | string | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json | undefined;
}

export interface ObjectMeta extends JsonObject {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly generation?: number;
  readonly creationTimestamp?: string | null;
  readonly deletionTimestamp?: string | null;
  readonly deletionGracePeriodSeconds?: number;
  readonly finalizers?: readonly string[];
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export interface ApiObject extends JsonObject {
  readonly metadata: ObjectMeta;
}

/** A collection, read: absent fields are undefined, an empty continue token is none. */
export interface ApiList {
  readonly resourceVersion: string;
  readonly continueToken: string | undefined;
  readonly remainingItemCount: number | undefined;
  readonly items: readonly ApiObject[];
}

export interface WatchEvent {
  readonly type: string;
  readonly object: JsonObject;
}

/** `namespace/name`, or the name alone for a cluster-scoped object. */
export function keyOf(object: ApiObject): string {
  const { namespace, name } = object.metadata;
  return namespace === undefined ? name : `${namespace}/${name}`;
}

export function versionOf(object: ApiObject): string {
  return object.metadata.resourceVersion ?? "";
}

export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isApiObject(value: Json | undefined): value is ApiObject {
  if (!isJsonObject(value) || !isJsonObject(value["metadata"])) return false;
  return typeof value["metadata"]["name"] === "string";
}

/** The objects of an array field of a document; none when there is no such array. */
export function objectsIn(document: Json | undefined, field: string): JsonObject[] {
  const value = isJsonObject(document) ? document[field] : undefined;
  return Array.isArray(value) ? (value as readonly Json[]).filter(isJsonObject) : [];
}
