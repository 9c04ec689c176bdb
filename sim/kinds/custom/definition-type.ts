/**
 * The type of CustomResourceDefinition as a dialect spells it: the tables name the schema extensions `x-svc-…`, and a
 * body in the other dialect has `x-kubernetes-…`. What is stored, patched and managed is then the dialect's own.
 */
import { type Dialect, svcDialect } from "../../../wire/dialect.ts";
import type { FieldRow, Shape, TypeRow } from "../../../wire/schema.ts";

const tablePrefix = svcDialect.extensionPrefix;
const definitionTypes = /\.v1\.CustomResourceDefinition(?:List)?$/;
const made = new Map<string, WeakMap<TypeRow, TypeRow>>();

/** `type` with its extension fields renamed, wherever they are; the very same type where there is nothing to rename. */
export function typeInDialect(type: TypeRow, dialect: Dialect): TypeRow {
  if (dialect.extensionPrefix === tablePrefix || !definitionTypes.test(type.name)) return type;
  let known = made.get(dialect.extensionPrefix);
  if (known === undefined) made.set(dialect.extensionPrefix, (known = new WeakMap()));
  return renamed(type, dialect.extensionPrefix, known);
}

function renamed(type: TypeRow, prefix: string, known: WeakMap<TypeRow, TypeRow>): TypeRow {
  const before = known.get(type);
  if (before !== undefined) return before;
  const fields = new Map<string, FieldRow>();
  const rows: FieldRow[] = [];
  const copy: TypeRow = { ...type, fields, rows };
  known.set(type, copy); // before the fields: schemas hold schemas
  for (const field of type.rows) {
    const name = field.name.startsWith(tablePrefix) ? prefix + field.name.slice(tablePrefix.length) : field.name;
    const row = { ...field, name, shape: renamedShape(field.shape, prefix, known) };
    fields.set(name, row);
    rows.push(row);
  }
  return copy;
}

function renamedShape(shape: Shape, prefix: string, known: WeakMap<TypeRow, TypeRow>): Shape {
  switch (shape.is) {
    case "struct":
      // Other packages have no extension fields, and are known to other code by identity.
      return shape.type.name.includes("apiextensions") ? { ...shape, type: renamed(shape.type, prefix, known) } : shape;
    case "list":
      return { ...shape, items: renamedShape(shape.items, prefix, known) };
    case "map":
      return { ...shape, values: renamedShape(shape.values, prefix, known) };
    default:
      return shape;
  }
}
