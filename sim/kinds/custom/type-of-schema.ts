/**
 * A schema as a type table, so that managed fields and apply treat a custom resource by the same code as a built-in
 * type. Decoding and validation read the schema itself: its rules are richer than a table's.
 */
import { type FieldRow, type Shape, structNamed, type TypeRow } from "../../../wire/schema.ts";
import type { Schema } from "./schema.ts";

const text: Shape = { is: "scalar", type: "string", format: undefined };

/** The type of a whole object of `kind`. `custom`: as the type table has it of a custom resource's. */
export function typeOfSchema(kind: string, schema: Schema, custom?: true): TypeRow {
  return new SchemaType(`custom.${kind}`, schema, wholeRows, custom);
}

/** Its fields are made when they are first asked for: a definition may have a hundred thousand, of which an object has few. */
class SchemaType implements TypeRow {
  readonly name: string;
  readonly mapType: TypeRow["mapType"];
  readonly protobufName = "";
  declare readonly open?: true;
  declare readonly custom?: true;
  private readonly schema: Schema;
  private readonly implied: readonly FieldRow[];
  private madeRows: readonly FieldRow[] | undefined;
  private madeFields: ReadonlyMap<string, FieldRow> | undefined;

  /** `implied`: fields that it has before those of the schema, which do not count when they are named there. */
  constructor(name: string, schema: Schema, implied: readonly FieldRow[], custom?: true) {
    this.name = name;
    this.mapType = schema.atomicMap ? "atomic" : undefined;
    if (schema.preservesUnknown) this.open = true;
    if (custom) this.custom = true;
    this.schema = schema;
    this.implied = implied;
  }

  get rows(): readonly FieldRow[] {
    return (this.madeRows ??= this.makeRows());
  }

  get fields(): ReadonlyMap<string, FieldRow> {
    return (this.madeFields ??= new Map(this.rows.map((field) => [field.name, field])));
  }

  private makeRows(): readonly FieldRow[] {
    const rows = [...this.implied];
    const names = new Set(rows.map(({ name }) => name));
    for (const [name, property] of this.schema.properties) if (!names.has(name)) rows.push(fieldOf(name, property));
    return rows;
  }
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
  if (additional === "any") return { is: "map", values: anything };
  if (additional !== undefined) {
    const values = shapeOf(name, additional);
    return isUsual(additional) ? { is: "map", values } : { is: "map", values, each: fieldOf(name, additional) };
  }
  if (properties.size === 0 && (preservesUnknown || embedded) && !schema.atomicMap) return anything;
  return { is: "struct", type: new SchemaType(name, schema, embedded ? embeddedRows(properties) : []) };
}

/** A list is atomic and a map is not, unless their schemas say otherwise. */
const isUsual = ({ type, listType, atomicMap }: Schema): boolean =>
  type === "array" ? listType === "atomic" : !atomicMap;

/** What an embedded object has, as far as its schema does not say it itself. */
const embeddedRows = (properties: Schema["properties"]): readonly FieldRow[] =>
  impliedRows.filter(({ name }) => !properties.has(name));

const impliedRows: readonly FieldRow[] = [row("apiVersion", text), row("kind", text), row("metadata", anything)];

const wholeRows: readonly FieldRow[] = [
  row("apiVersion", text),
  row("kind", text),
  row("metadata", { is: "struct", type: structNamed("~apimachinery.pkg.apis.meta.v1.ObjectMeta") }),
];
