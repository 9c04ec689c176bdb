/**
 * OpenAPI 3 schemas of the built-in types, from the type tables, in a dialect's names.
 * Simplification: there are no descriptions, for the tables have none.
 * Source: document 1, API documents; the published server's schemas for what an extension is called.
 */
import { type Dialect, groupInDialect } from "../../../wire/dialect.ts";
import { splitGroupVersion } from "../../../wire/resources.ts";
import { type FieldRow, kindNames, type Shape, shapeNamed, structOfKind, type TypeRow } from "../../../wire/schema.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { customComponentName, type CustomSchemas } from "./custom-schemas.ts";

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** The schemas of `roots` and of all that they refer to, by component name, sorted. */
export function schemasOf(dialect: Dialect, roots: Iterable<string>, custom: CustomSchemas): JsonObject {
  const found = new Map<string, JsonObject>();
  const waiting = [...roots];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (found.has(name)) continue;
    const refer = (type: string): JsonObject => {
      waiting.push(type);
      return { $ref: `#/components/schemas/${componentName(dialect, type)}` };
    };
    found.set(name, custom.components.get(name)?.(refer) ?? namedSchema(dialect, name, refer));
  }
  const entries = [...found].map(([name, schema]) => [componentName(dialect, name), schema] as const);
  return Object.fromEntries(entries.sort(([left], [right]) => (left < right ? -1 : 1)));
}

/** `core.v1.Pod` → `io.k8s.api.core.v1.Pod`; what is no API group's own has its package's name. */
export function componentName(dialect: Dialect, type: string): string {
  const custom = customComponentName(type);
  if (custom !== undefined) return custom;
  const brand = dialect.groupSuffix.split(".").reverse().join(".");
  return type.startsWith("~") ? `${brand}.${type.slice(1)}` : `${brand}.api.${type}`;
}

type Refer = (type: string) => JsonObject;

function namedSchema(dialect: Dialect, name: string, refer: Refer): JsonObject {
  const shape = shapeNamed(name);
  return shape.is === "struct" ? structSchema(dialect, shape.type, refer) : shapeSchema(shape, refer);
}

function structSchema(dialect: Dialect, type: TypeRow, refer: Refer): JsonObject {
  const { extensionPrefix } = dialect;
  const required = type.rows.filter((row) => row.required).map(({ name }) => name);
  const kinds = kindsOf(type);
  return {
    type: "object",
    ...(required.length === 0 ? {} : { required }),
    properties: Object.fromEntries(type.rows.map((row) => [row.name, fieldSchema(dialect, row, refer)])),
    ...(type.mapType === undefined ? {} : { [`${extensionPrefix}map-type`]: type.mapType }),
    ...(kinds.length === 0
      ? {}
      : { [`${extensionPrefix}group-version-kind`]: kinds.map((kind) => kindInDialect(dialect, kind)) }),
  };
}

export function kindInDialect(dialect: Dialect, { group, version, kind }: GroupVersionKind): JsonObject {
  return { group: groupInDialect(dialect, group), version, kind };
}

function fieldSchema({ extensionPrefix }: Dialect, row: FieldRow, refer: Refer): JsonObject {
  const plain = row.typeName === undefined ? shapeSchema(row.shape, refer) : refer(row.typeName);
  const extensions = {
    "list-type": row.listType,
    "list-map-keys": row.listMapKeys,
    "map-type": row.mapType,
    "patch-strategy": row.patchStrategy,
    "patch-merge-key": row.patchMergeKey,
  };
  const more: Record<string, Json> = {};
  if (row.default !== undefined) more["default"] = row.default as Json;
  if (row.enum !== undefined) more["enum"] = row.enum;
  for (const [name, value] of Object.entries(extensions)) if (value !== undefined) more[extensionPrefix + name] = value;
  // Nothing may stand beside a reference.
  const isReference = "$ref" in plain && Object.keys(more).length > 0;
  return isReference ? { allOf: [plain], ...more } : { ...plain, ...more };
}

function shapeSchema(shape: Shape, refer: Refer): JsonObject {
  switch (shape.is) {
    case "scalar":
      return { type: shape.type, ...(shape.format === undefined ? {} : { format: shape.format }) };
    case "either":
      return {
        oneOf: shape.types.map((type) => ({ type })),
        ...(shape.types.includes("integer") ? { format: "int-or-string" } : {}),
      };
    case "struct":
      return refer(shape.type.name);
    case "list":
      return { type: "array", items: shapeSchema(shape.items, refer) };
    case "map":
      return { type: "object", additionalProperties: shapeSchema(shape.values, refer) };
    case "opaque":
      return shape.objectOnly ? { type: "object" } : {};
  }
}

let kindsByType: ReadonlyMap<TypeRow, readonly GroupVersionKind[]> | undefined;

/** Every group, version and kind (svc dialect) that a type is the type of. */
function kindsOf(type: TypeRow): readonly GroupVersionKind[] {
  kindsByType ??= indexKinds();
  return kindsByType.get(type) ?? [];
}

function indexKinds(): ReadonlyMap<TypeRow, readonly GroupVersionKind[]> {
  const index = new Map<TypeRow, GroupVersionKind[]>();
  for (const name of kindNames()) {
    const slash = name.lastIndexOf("/");
    const [group, version] = splitGroupVersion(name.slice(0, slash));
    const kind = name.slice(slash + 1);
    const type = structOfKind(name.slice(0, slash), kind);
    if (type === undefined) continue;
    const kinds = index.get(type) ?? [];
    kinds.push({ group, version, kind });
    index.set(type, kinds);
  }
  return index;
}
