/**
 * The type tables: every built-in type as data. Decoding, defaulting, field validation, patches,
 * managed fields, protobuf and printing are all driven by them, and a custom resource definition is
 * one more table made at run time.
 *
 * The tables speak the `svc` dialect; `wire/dialect.ts` translates names at the edge.
 * Form of `tables/types.json`: a type is `{fields}` or `{is}`; a shape is written as a string:
 * `string`, `integer:int32`, `@core.v1.Container`, `[]` or `{}` before another shape for a list or a
 * map, `a|b` for either, `any`, `object`.
 */
import kindTable from "./tables/kinds.json" with { type: "json" };
import typeTable from "./tables/types.json" with { type: "json" };

export type ScalarName = "string" | "integer" | "number" | "boolean";

export type Shape =
  | { readonly is: "scalar"; readonly type: ScalarName; readonly format: string | undefined }
  /** An integer or a string, or a number or a string: `IntOrString`, `Quantity`. */
  | { readonly is: "either"; readonly types: readonly ScalarName[] }
  | { readonly is: "struct"; readonly type: TypeRow }
  | { readonly is: "list"; readonly items: Shape }
  /** `each`: of which kind its values are as lists or maps, where that is not the usual one. */
  | { readonly is: "map"; readonly values: Shape; readonly each?: FieldRow | undefined }
  /** Any JSON object (`object`) or any JSON value (`any`): nothing below it is known. */
  | { readonly is: "opaque"; readonly objectOnly: boolean };

export interface FieldRow {
  readonly name: string;
  readonly shape: Shape;
  /** The type's own name when the field is one (`@…`), so that Time, Quantity and their kin can be told apart. */
  readonly typeName: string | undefined;
  readonly required: boolean;
  /** Deeply frozen; undefined when there is none. */
  readonly default: unknown;
  readonly enum: readonly string[] | undefined;
  /** Lists: how server-side apply and strategic merge treat the elements. */
  readonly listType: "atomic" | "set" | "map" | undefined;
  readonly listMapKeys: readonly string[] | undefined;
  readonly mapType: "atomic" | "granular" | undefined;
  /** Strategic merge: `merge`, `retainKeys`, `replace` or several joined by commas. */
  readonly patchStrategy: string | undefined;
  readonly patchMergeKey: string | undefined;
  readonly protobuf: ProtobufField | undefined;
}

export interface ProtobufField {
  readonly number: number;
  readonly type: string;
  readonly repeated: boolean;
  /**
   * Where JSON shows a nested message's fields among its holder's: the numbers on the way to that message, outermost
   * first. `Probe.httpGet` is field 2 of the message that is field 1 of Probe.
   */
  readonly within: readonly number[];
}

export interface TypeRow {
  /** Short name, for example `core.v1.Pod` or `~apimachinery.pkg.apis.meta.v1.ObjectMeta`. */
  readonly name: string;
  readonly fields: ReadonlyMap<string, FieldRow>;
  /** Fields in table order. */
  readonly rows: readonly FieldRow[];
  readonly mapType: "atomic" | "granular" | undefined;
  readonly protobufName: string;
  /** Fields that the type does not name are kept, and may hold anything. */
  readonly open?: true;
  /** A custom resource's: no field shows unless somebody set it. */
  readonly custom?: true;
}

interface RawField {
  readonly is: string;
  readonly required?: boolean;
  readonly default?: unknown;
  readonly enum?: readonly string[];
  readonly listType?: string;
  readonly listMapKeys?: readonly string[];
  readonly mapType?: string;
  readonly patchStrategy?: string;
  readonly patchMergeKey?: string;
  readonly pb?: readonly [number, string, string?];
  readonly within?: readonly number[];
}
interface RawType {
  readonly fields?: Readonly<Record<string, RawField>>;
  readonly is?: string;
  readonly mapType?: string;
  readonly protobuf: string;
}

const raw = typeTable as unknown as Readonly<Record<string, RawType>>;
const kinds = kindTable as Readonly<Record<string, string>>;
const shapes = new Map<string, Shape>();

/** The shape of `apiVersion/Kind` (svc dialect), or undefined when no built-in type has that name. */
export function structOfKind(apiVersion: string, kind: string): TypeRow | undefined {
  const name = kinds[`${apiVersion}/${kind}`];
  return name === undefined ? undefined : structNamed(name);
}

/** Every `apiVersion/Kind` of the tables, in table order. */
export function kindNames(): readonly string[] {
  return Object.keys(kinds);
}

/** Every type of the tables by its short name, in table order: structs, and scalars with a name of their own. */
export function typeNames(): readonly string[] {
  return Object.keys(raw);
}

/** A struct by its short name. Throws for a name that is no struct: the tables would be wrong. */
export function structNamed(name: string): TypeRow {
  const shape = shapeNamed(name);
  if (shape.is !== "struct") throw new Error(`type table: ${name} is not a struct`);
  return shape.type;
}

/** What a type is, by its short name. Throws for a name that the tables lack. */
export function shapeNamed(name: string): Shape {
  const known = shapes.get(name);
  if (known !== undefined) return known;
  const row = raw[name];
  if (row === undefined) throw new Error(`type table: no type ${name}`);
  if (row.fields === undefined) {
    const shape = parseShape(row.is as string);
    shapes.set(name, shape);
    return shape;
  }
  const fields = new Map<string, FieldRow>();
  const rows: FieldRow[] = [];
  const type = { name, fields, rows, mapType: row.mapType as TypeRow["mapType"], protobufName: row.protobuf };
  const shape: Shape = { is: "struct", type };
  shapes.set(name, shape); // before the fields: types are recursive
  for (const [fieldName, field] of Object.entries(row.fields)) {
    const fieldRow = parseField(fieldName, field);
    fields.set(fieldName, fieldRow);
    rows.push(fieldRow);
  }
  return shape;
}

function parseField(name: string, field: RawField): FieldRow {
  const pb = field.pb;
  return {
    name,
    shape: parseShape(field.is),
    typeName: field.is.startsWith("@") ? field.is.slice(1) : undefined,
    required: field.required ?? false,
    default: deepFreeze(field.default),
    enum: field.enum,
    listType: field.listType as FieldRow["listType"],
    listMapKeys: field.listMapKeys,
    mapType: field.mapType as FieldRow["mapType"],
    patchStrategy: field.patchStrategy,
    patchMergeKey: field.patchMergeKey,
    protobuf:
      pb === undefined
        ? undefined
        : { number: pb[0], type: pb[1], repeated: pb[2] === "repeated", within: field.within ?? [] },
  };
}

/** A default is handed out as it is, to many objects. */
function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null)
    for (const part of Object.values(Object.freeze(value))) deepFreeze(part);
  return value;
}

function parseShape(text: string): Shape {
  if (text.startsWith("@")) return shapeNamed(text.slice(1));
  if (text.startsWith("[]")) return { is: "list", items: parseShape(text.slice(2)) };
  if (text.startsWith("{}")) return { is: "map", values: parseShape(text.slice(2)) };
  if (text === "any" || text === "object") return { is: "opaque", objectOnly: text === "object" };
  if (text.includes("|")) return { is: "either", types: text.split("|") as ScalarName[] };
  const [type, format] = text.split(":");
  return { is: "scalar", type: type as ScalarName, format };
}
