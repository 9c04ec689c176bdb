/**
 * What a schema makes of a value before anybody judges it: unknown fields are dropped, absent ones get their defaults,
 * keys come in byte order. Doing it again changes nothing.
 * Source: the published rules of pruning and defaulting; recorded answers (create-pruned, create-strict).
 */
import { encodeJson } from "../../../wire/go-strings.ts";
import { sortByBytes } from "../../../wire/go-strings.ts";
import { structNamed } from "../../../wire/schema.ts";
import { toldCharactersMax } from "../../contract/errors.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { int64Of } from "../../objects/int64.ts";
import { isObject } from "../../contract/objects.ts";
import { depthMax, WalkContext } from "../../objects/walk-context.ts";
import { setKey, walkOfStruct } from "../../objects/walker.ts";
import { noLimits, nothingWithin, type Schema } from "./schema.ts";

/** What shaping met on its way. */
export interface Shaping {
  /** Paths of dropped fields, `spec.items[0].junk`, in no order; as many as there is room to tell. */
  readonly unknown: string[];
  /** Characters of such paths that may still be told: a long name stands in all that are below it. */
  unknownRoom: number;
  /** A type error in metadata, or a nesting beyond all measure; the first counts. */
  error: string | undefined;
  /** What defaults may still add, in characters: a short body can ask for a thousand of them a hundred thousand times. */
  room: number;
}

export const newShaping = (): Shaping => ({
  unknown: [],
  unknownRoom: toldCharactersMax,
  error: undefined,
  room: defaultedMax,
});

function drop(path: string, shaping: Shaping): void {
  if (shaping.unknownRoom < 0) return;
  shaping.unknownRoom -= path.length;
  shaping.unknown.push(path);
}

/** As much as a body may have. */
const defaultedMax = 3 * 1024 * 1024;

/** A default, if there is room for it. */
function defaulted(value: Json | undefined, shaping: Shaping): Json {
  if (value === undefined || value === null) return null;
  shaping.room -= 8 + (typeof value === "string" ? value.length : typeof value === "object" ? sizeOf(value) : 0);
  if (shaping.room >= 0) return value;
  shaping.error ??= `Request entity too large: defaults would add more than ${defaultedMax} bytes`;
  return null;
}

const sizes = new WeakMap<object, number>();

function sizeOf(value: object): number {
  let size = sizes.get(value);
  if (size === undefined) sizes.set(value, (size = encodeJson(value).length));
  return size;
}

/** Fields of an embedded resource, and of the root, that no schema needs to name. */
const implied: ReadonlySet<string> = new Set(["apiVersion", "kind", "metadata"]);

/** A whole object: its metadata is read by the type that all objects have. */
export function shapeObject(object: JsonObject, schema: Schema, shaping: Shaping): Record<string, Json> {
  return shapeFields(object, { ...schema, embedded: true }, "", 0, shaping);
}

function shape(value: Json, schema: Schema | undefined, path: string, depth: number, shaping: Shaping): Json {
  if (isScalar(value)) return held(value);
  if (depth > depthMax) {
    shaping.error ??= "json: exceeded max depth";
    return null;
  }
  if (Array.isArray(value)) {
    const items = schema?.items ?? (schema?.preservesUnknown === true ? kept : undefined);
    return (value as readonly Json[]).map((item, at) =>
      shape(orDefault(item, items, shaping), items, `${path}[${at}]`, depth + 1, shaping),
    );
  }
  return shapeFields(value as JsonObject, schema ?? nothing, path, depth, shaping);
}

/** A whole number beyond 2^53 is a bigint here; one of more than 64 bits is what a double makes of it. */
function held(value: Json): Json {
  return typeof (value as unknown) === "bigint" ? (int64Of(value) ?? Number(value)) : value;
}

function shapeFields(
  object: JsonObject,
  schema: Schema,
  path: string,
  depth: number,
  shaping: Shaping,
): Record<string, Json> {
  const result: Record<string, Json> = {};
  if (shaping.room < 0) return result;
  const absent = absentDefaults(object, schema);
  for (const name of keysOf(object, absent)) {
    const own = absent.length > 0 && !Object.hasOwn(object, name) ? undefined : object[name];
    if (schema.embedded && implied.has(name)) {
      if (own === undefined || own === null) continue;
      setKey(result, name, name === "metadata" ? shapeMetadata(own, below(path, name), shaping) : own);
      continue;
    }
    const inner = schemaOf(schema, name);
    if (own === undefined && inner?.default === undefined) continue; // handed over in process, as nothing
    if (inner === undefined) {
      drop(below(path, name), shaping);
      continue;
    }
    const value = own === undefined ? defaulted(inner.default, shaping) : orDefault(own, inner, shaping);
    if (value === null && !(isNullable(inner) && (own === null || inner.default === null))) continue;
    const within = inner === prunedInside ? undefined : inner;
    const shaped = isScalar(value) ? held(value) : shape(value, within, below(path, name), depth + 1, shaping);
    setKey(result, name, shaped);
  }
  return result;
}

const below = (path: string, name: string): string => (path === "" ? name : `${path}.${name}`);

const isScalar = (value: Json): value is Exclude<Json, object> => typeof value !== "object" || value === null;

const isNullable = (schema: Schema): boolean => schema.nullable || schema === kept;

/** The names of fields that get their default. */
function absentDefaults(object: JsonObject, schema: Schema): readonly string[] {
  return defaultsOf(schema).filter((name) => !Object.hasOwn(object, name) && !(schema.embedded && implied.has(name)));
}

/** The names of fields that are there, and of further ones, in byte order. */
function keysOf(object: JsonObject, further: readonly string[]): readonly string[] {
  const keys = Object.keys(object);
  for (const name of further) keys.push(name);
  return sortByBytes(keys);
}

const withDefaults = new WeakMap<Schema["properties"], readonly string[]>();

/** Names of fields with a default. */
function defaultsOf({ properties }: Schema): readonly string[] {
  let names = withDefaults.get(properties);
  if (names === undefined) {
    names = [...properties].flatMap(([name, inner]) => (inner.default === undefined ? [] : [name]));
    withDefaults.set(properties, names);
  }
  return names;
}

/** What is known of a field; undefined when it is to be dropped. */
function schemaOf(schema: Schema, name: string): Schema | undefined {
  const property = schema.properties.get(name);
  if (property !== undefined) return property;
  const { additional } = schema;
  if (additional !== undefined)
    return additional === "any" ? (schema.preservesUnknown ? kept : prunedInside) : additional;
  return schema.preservesUnknown ? kept : undefined;
}

/** A null stands for its default where the schema does not allow null. */
function orDefault(value: Json, schema: Schema | undefined, shaping: Shaping): Json {
  if (value !== null || schema === undefined || schema.nullable) return value;
  return defaulted(schema.default, shaping);
}

function shapeMetadata(metadata: Json, path: string, shaping: Shaping): Json {
  const context = new WalkContext();
  const walked = walkOfStruct(structNamed("~apimachinery.pkg.apis.meta.v1.ObjectMeta"))(metadata, context, undefined);
  shaping.error ??= context.error;
  for (const name of context.unknown) drop(`${path}.${name}`, shaping);
  return inKeyOrder(walked ?? {});
}

/** The same value with the keys of its outermost object in byte order. */
export function inKeyOrder(value: Json): Json {
  if (!isObject(value)) return value;
  const result: Record<string, Json> = {};
  for (const key of sortByBytes(Object.keys(value))) setKey(result, key, value[key] as Json);
  return result;
}

const blank: Omit<Schema, "preservesUnknown"> = {
  type: "",
  format: "",
  nullable: false,
  intOrString: false,
  embedded: false,
  properties: new Map(),
  additional: undefined,
  items: undefined,
  default: undefined,
  enum: undefined,
  required: [],
  listType: "atomic",
  listMapKeys: [],
  atomicMap: false,
  limits: noLimits,
  pattern: undefined,
  allOf: [],
  anyOf: [],
  oneOf: [],
  not: undefined,
  rules: [],
  within: nothingWithin,
};

/** Of which nothing is known, and nothing kept. */
const nothing: Schema = { ...blank, preservesUnknown: false };
/** Everything below is kept as it is. */
const kept: Schema = { ...blank, preservesUnknown: true };
/** `additionalProperties: true` keeps the field, but knows nothing of what is in it. */
const prunedInside: Schema = { ...blank, preservesUnknown: false };
