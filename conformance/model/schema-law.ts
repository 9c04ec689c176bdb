/**
 * What a definition's schema makes of a value, told over the parts that the schema was made of: nothing is read from
 * the schema's own words, so that no reader of them is believed.
 * Source: the published rules of pruning, defaulting and null values.
 */
import { isJsonObject, type Json, type JsonObject } from "../client/types.ts";

export type SchemaNode =
  | { readonly is: "text"; readonly default?: string; readonly nullable: boolean }
  | { readonly is: "number"; readonly default?: number; readonly nullable: boolean }
  | { readonly is: "record"; readonly fields: Readonly<Record<string, SchemaNode>>; readonly default?: JsonObject }
  | { readonly is: "list"; readonly items: SchemaNode }
  | { readonly is: "set" }
  /** Elements are told apart by these fields of theirs, which each of them has. */
  | { readonly is: "keyed"; readonly keys: readonly string[]; readonly items: RecordNode }
  | { readonly is: "map"; readonly values: SchemaNode }
  /** Whatever is in it is kept. */
  | { readonly is: "free" };

export type RecordNode = Extract<SchemaNode, { is: "record" }>;

/** In the words of a definition. */
export function schemaText(node: SchemaNode, extensionPrefix: string): JsonObject {
  const inner = (each: SchemaNode): JsonObject => schemaText(each, extensionPrefix);
  switch (node.is) {
    case "text":
    case "number":
      return {
        type: node.is === "text" ? "string" : "integer",
        ...(node.nullable ? { nullable: true } : {}),
        ...(node.default === undefined ? {} : { default: node.default }),
      };
    case "record":
      return {
        type: "object",
        properties: Object.fromEntries(Object.entries(node.fields).map(([name, field]) => [name, inner(field)])),
        ...(node.default === undefined ? {} : { default: node.default }),
      };
    case "list":
      return { type: "array", items: inner(node.items) };
    case "set":
      return { type: "array", items: { type: "string" }, [`${extensionPrefix}list-type`]: "set" };
    case "keyed":
      return {
        type: "array",
        items: { ...inner(node.items), required: [...node.keys] },
        [`${extensionPrefix}list-type`]: "map",
        [`${extensionPrefix}list-map-keys`]: [...node.keys],
      };
    case "map":
      return { type: "object", additionalProperties: inner(node.values) };
    case "free":
      return { type: "object", [`${extensionPrefix}preserve-unknown-fields`]: true };
  }
}

/** The value as it is kept: without what is not named, with defaults for what is left out or null. */
export function shapedBy(node: SchemaNode, value: Json): Json {
  switch (node.is) {
    case "record":
      return isJsonObject(value) ? shapedRecord(node, value) : value;
    case "list":
    case "keyed":
      return Array.isArray(value) ? (value as readonly Json[]).map((item) => shapedBy(node.items, item)) : value;
    case "map":
      return isJsonObject(value)
        ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shapedBy(node.values, item as Json)]))
        : value;
    default:
      return value;
  }
}

function shapedRecord({ fields }: RecordNode, value: JsonObject): JsonObject {
  const kept: Record<string, Json> = {};
  for (const [name, field] of Object.entries(fields)) {
    const own = Object.hasOwn(value, name) ? value[name] : undefined;
    if (own === null && "nullable" in field && field.nullable) kept[name] = null;
    else {
      const said = own ?? ("default" in field ? field.default : undefined);
      if (said !== undefined) kept[name] = shapedBy(field, said);
    }
  }
  return kept;
}

/** Whether a list in it that takes each element once has one twice. */
export function hasDoubles(node: SchemaNode, value: Json | undefined): boolean {
  switch (node.is) {
    case "record":
      return isJsonObject(value) && Object.entries(node.fields).some(([name, field]) => hasDoubles(field, value[name]));
    case "map":
      return isJsonObject(value) && Object.values(value).some((item) => hasDoubles(node.values, item));
    case "list":
      return Array.isArray(value) && (value as readonly Json[]).some((item) => hasDoubles(node.items, item));
    case "set":
      return Array.isArray(value) && new Set(value).size < value.length;
    case "keyed": {
      if (!Array.isArray(value)) return false;
      const items = value as readonly JsonObject[];
      const names = items.map((item) => JSON.stringify(node.keys.map((key) => item[key])));
      return new Set(names).size < names.length || items.some((item) => hasDoubles(node.items, item));
    }
    default:
      return false;
  }
}
