/**
 * Schemas of custom resources for API documents: as their definitions have them, with what every object has.
 * Source: the published server's documents of custom resources.
 */
import { type Dialect, groupInDialect } from "../../../wire/dialect.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { isObject } from "../../contract/objects.ts";
import type { ServedResource } from "../catalogue/served-resource.ts";
import { mappedValues } from "./mapped-values.ts";

/** Makes a reference to a type, which is then part of the document. */
type Refer = (type: string) => JsonObject;

/** Components by the names of their types, and types by group, version and kind in the `svc` dialect. */
export interface CustomSchemas {
  readonly components: ReadonlyMap<string, (refer: Refer) => JsonObject>;
  readonly types: ReadonlyMap<string, string>;
}

export const noCustomSchemas: CustomSchemas = { components: new Map(), types: new Map() };

/** Begins the names of types that no table has. */
const mark = "!";

/** The component's name of a custom type; undefined for every other type. */
export const customComponentName = (type: string): string | undefined =>
  type.startsWith(mark) ? type.slice(mark.length) : undefined;

export function customSchemas(dialect: Dialect, served: readonly ServedResource[]): CustomSchemas {
  const components = new Map<string, (refer: Refer) => JsonObject>();
  const types = new Map<string, string>();
  for (const { row, custom } of served) {
    if (custom === undefined) continue;
    const { version, kind } = row;
    const group = groupInDialect(dialect, row.group);
    const own = `${mark}${group.split(".").reverse().join(".")}.${version}.${kind}`;
    const place = { dialect, group, version };
    components.set(own, (refer) => objectSchema({ ...place, kind }, custom.schema, refer));
    // Operations name a list after its kind, whatever the definition calls it.
    components.set(`${own}List`, (refer) => listSchema({ ...place, kind: custom.listKind }, own, refer));
    types.set(`${row.group}/${version}/${kind}`, own);
    types.set(`${row.group}/${version}/${kind}List`, `${own}List`);
  }
  return { components, types };
}

interface Place {
  readonly dialect: Dialect;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

const text: JsonObject = { type: "string" };

function objectSchema(place: Place, schema: JsonObject, refer: Refer): JsonObject {
  const { properties, ...rest } = schema;
  const metadata = refer("~apimachinery.pkg.apis.meta.v1.ObjectMeta");
  return {
    ...rest,
    type: "object",
    properties: { ...((properties ?? {}) as JsonObject), apiVersion: text, kind: text, metadata },
    ...kindOf(place),
  };
}

function listSchema(place: Place, item: string, refer: Refer): JsonObject {
  return {
    type: "object",
    required: ["items"],
    properties: {
      apiVersion: text,
      items: { type: "array", items: refer(item) },
      kind: text,
      metadata: refer("~apimachinery.pkg.apis.meta.v1.ListMeta"),
    },
    ...kindOf(place),
  };
}

function kindOf({ dialect, group, version, kind }: Place): JsonObject {
  return { [`${dialect.extensionPrefix}group-version-kind`]: [{ group, version, kind }] };
}

const holding = new Set(["properties", "items", "additionalProperties"]);
const onlyInThree = new Set(["allOf", "anyOf", "oneOf", "not", "nullable", "default", "example", "externalDocs"]);

/**
 * The schema for Swagger, which has no alternatives and no null: what they say is left out. Of what may be null, or may
 * have more than it names, old clients must not be told a type, or they would refuse it. Itself where that is the same.
 */
export function forSwagger(schema: JsonObject, prefix: string): JsonObject {
  if (!Object.keys(schema).some((name) => holding.has(name) || onlyInThree.has(name))) return schema;
  const isOpen = schema["nullable"] === true || schema[`${prefix}preserve-unknown-fields`] === true;
  const result: Record<string, Json> = {};
  for (const [name, value] of Object.entries(schema)) {
    if (onlyInThree.has(name) && !isReferring(value)) continue;
    if (isOpen && (name === "properties" || name === "items" || (name === "type" && schema["nullable"] === true)))
      continue;
    if (name === "properties") {
      result[name] = mappedValues(value as JsonObject, (each) => forSwagger(each, prefix));
    } else if ((name === "items" || name === "additionalProperties") && isObject(value)) {
      result[name] = forSwagger(value, prefix);
    } else if (name !== "additionalProperties") result[name] = value as Json;
  }
  return result;
}

/** A reference with company, which is no alternative. */
const isReferring = (value: Json | undefined): boolean =>
  Array.isArray(value) && isObject(value[0] as Json) && (value[0] as JsonObject)["$ref"] !== undefined;
