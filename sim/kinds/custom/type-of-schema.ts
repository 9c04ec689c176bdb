/**
 * A schema as a type table, so that managed fields and apply treat a custom resource by the same code as a built-in
 * type. Decoding and validation read the schema itself: its rules are richer than a table's.
 */
import { type FieldRow, type Shape, structNamed, type TypeRow } from "../../../wire/schema.ts";
import type { Schema } from "./schema.ts";

const text: Shape = { is: "scalar", type: "string", format: undefined };

/** The type of a whole object of `kind`. */
export function typeOfSchema(kind: string, schema: Schema): TypeRow {
  const rows: FieldRow[] = [
    row("apiVersion", text),
    row("kind", text),
    row("metadata", { is: "struct", type: structNamed("~apimachinery.pkg.apis.meta.v1.ObjectMeta") }),
  ];
  const ofEveryObject = new Set(rows.map(({ name }) => name));
  for (const [name, property] of schema.properties) if (!ofEveryObject.has(name)) rows.push(fieldOf(name, property));
  return struct(`custom.${kind}`, rows, schema);
}

function struct(name: string, rows: readonly FieldRow[], schema: Schema): TypeRow {
  return {
    name,
    rows,
    fields: new Map(rows.map((field) => [field.name, field])),
    mapType: schema.atomicMap ? "atomic" : undefined,
    protobufName: "",
    ...(schema.preservesUnknown ? { open: true } : undefined),
  };
}

function fieldOf(name: string, schema: Schema): FieldRow {
  // One literal, as `row` has it: a definition may have a hundred thousand fields.
  return {
    name,
    shape: shapeOf(name, schema),
    typeName: undefined,
    required: false,
    default: schema.default,
    enum: undefined,
    listType: schema.type === "array" ? schema.listType : undefined,
    listMapKeys: schema.listMapKeys.length === 0 ? undefined : schema.listMapKeys,
    mapType: schema.atomicMap ? "atomic" : undefined,
    patchStrategy: undefined,
    patchMergeKey: undefined,
    protobuf: undefined,
  };
}

function row(name: string, shape: Shape): FieldRow {
  return {
    name,
    shape,
    typeName: undefined,
    required: false,
    default: undefined,
    enum: undefined,
    listType: undefined,
    listMapKeys: undefined,
    mapType: undefined,
    patchStrategy: undefined,
    patchMergeKey: undefined,
    protobuf: undefined,
  };
}

function shapeOf(name: string, schema: Schema): Shape {
  if (schema.intOrString) return { is: "either", types: ["integer", "string"] };
  switch (schema.type) {
    case "object":
      return objectShape(name, schema);
    case "array":
      return { is: "list", items: schema.items === undefined ? anything : shapeOf(name, schema.items) };
    case "string":
    case "boolean":
    case "number":
    case "integer":
      return { is: "scalar", type: schema.type, format: schema.type === "integer" ? "int64" : undefined };
    default:
      return anything;
  }
}

const anything: Shape = { is: "opaque", objectOnly: false };

function objectShape(name: string, schema: Schema): Shape {
  const { properties, additional, preservesUnknown, embedded } = schema;
  if (additional !== undefined)
    return { is: "map", values: additional === "any" ? anything : shapeOf(name, additional) };
  if (properties.size === 0 && (preservesUnknown || embedded) && !schema.atomicMap) return anything;
  const rows = embedded ? impliedRows.filter((field) => !properties.has(field.name)) : [];
  for (const [field, property] of properties) rows.push(fieldOf(field, property));
  return { is: "struct", type: struct(name, rows, schema) };
}

const impliedRows: readonly FieldRow[] = [row("apiVersion", text), row("kind", text), row("metadata", anything)];
