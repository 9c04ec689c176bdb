/**
 * What a schema is to expressions: types with the bounds that it sets, or else the bounds that the size of a request
 * sets. Fields whose names are no identifiers have escaped ones; what has no type is not seen at all.
 * Source: the published rules of validation rules (types, escaping, bounds).
 */
import { largest } from "../../../wire/lists.ts";
import { bool, type CelType, double, duration, int, type ObjectField, timestamp } from "../../expressions/types.ts";
import type { Schema } from "./schema.ts";

/** Bytes of the largest request. */
const requestMax = 3 * 1024 * 1024;

export class RuleTypes {
  private readonly known = new Map<Schema, CelType | undefined>();

  /** `isRoot`: a whole object, which has a kind and a name whatever its schema says. */
  of(schema: Schema, isRoot: boolean): CelType | undefined {
    if (!this.known.has(schema)) this.known.set(schema, this.make(schema, isRoot));
    return this.known.get(schema);
  }

  private make(schema: Schema, isRoot: boolean): CelType | undefined {
    const type = this.makeNonNull(schema, isRoot);
    return type?.is === "simple" && schema.nullable ? { ...type, nullable: true } : type;
  }

  private makeNonNull(schema: Schema, isRoot: boolean): CelType | undefined {
    if (schema.intOrString) return { is: "simple", name: "dyn", max: requestMax - 2 };
    const { additional, items } = schema;
    if (schema.type === "array") {
      const of = items === undefined ? undefined : this.of(items, items.embedded);
      if (of === undefined || items === undefined) return undefined;
      const max = schema.limits.maxItems ?? Math.floor(requestMax / (bytesMin(items) + 1));
      return { is: "list", of, max, ...keysOf(schema) };
    }
    if (schema.type === "object" && additional !== undefined) {
      const value = additional === "any" ? undefined : this.of(additional, additional.embedded);
      if (value === undefined || additional === "any") return undefined;
      const max = schema.limits.maxProperties ?? Math.floor((requestMax - 2) / (bytesMin(additional) + 6));
      return { is: "map", key: text(requestMax), value, max };
    }
    if (schema.type === "object") return this.object(schema, isRoot);
    return scalars[schema.type]?.(schema);
  }

  private object(schema: Schema, isRoot: boolean): CelType {
    const fields = new Map<string, ObjectField>();
    for (const [name, property] of schema.properties) {
      const type = this.of(property, property.embedded);
      const escaped = escapeName(name);
      if (type !== undefined && escaped !== undefined) fields.set(escaped, { name, type });
    }
    if (isRoot) for (const [name, type] of rootFields) fields.set(name, { name, type });
    return { is: "object", name: `selfType${this.known.size}`, fields };
  }
}

function keysOf({ listType, listMapKeys }: Schema) {
  if (listType === "set") return { keys: { by: "value" } } as const;
  return listType === "map" ? ({ keys: { by: "fields", fields: listMapKeys } } as const) : {};
}

const text = (max: number): CelType => ({ is: "simple", name: "string", max });

const scalars: Readonly<Record<string, (schema: Schema) => CelType>> = {
  boolean: () => bool,
  integer: () => int,
  number: () => double,
  string: stringType,
};

function stringType({ format, limits, enum: values }: Schema): CelType {
  if (format === "date" || format === "date-time") return timestamp;
  if (format === "duration") return duration;
  const lengthMax = limits.maxLength;
  if (format === "byte") return { is: "simple", name: "bytes", max: lengthMax ?? requestMax - 2 };
  if (values !== undefined)
    return text(
      largest(
        values.map((each) => String(each).length),
        0,
      ),
    );
  // A character takes up to four bytes.
  return text(lengthMax === undefined ? requestMax - 2 : lengthMax * 4);
}

const rootFields: readonly (readonly [string, CelType])[] = [
  ["apiVersion", text(requestMax)],
  ["kind", text(requestMax)],
  [
    "metadata",
    {
      is: "object",
      name: "selfType.metadata",
      fields: new Map(["name", "generateName"].map((name) => [name, { name, type: text(253 * 4) }])),
    },
  ],
];

/** Bytes of the shortest value in JSON: how many fit into a request is a bound where the schema has none. */
function bytesMin(schema: Schema): number {
  if (schema.type === "object" && schema.additional === undefined) {
    let sum = 2;
    for (const name of schema.required) {
      const property = schema.properties.get(name);
      if (property !== undefined && property.default === undefined) sum += name.length + 4 + bytesMin(property);
    }
    return sum;
  }
  return shortest[schema.type] ?? 2;
}

const shortest: Readonly<Record<string, number>> = { boolean: 4, integer: 1, number: 1 };

/** How many values of a schema fit into a request. */
export const countMax = (schema: Schema): number => Math.floor(requestMax / (bytesMin(schema) + 1));

const reserved: ReadonlySet<string> = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);

const escapes: Readonly<Record<string, string>> = {
  __: "__underscores__",
  ".": "__dot__",
  "-": "__dash__",
  "/": "__slash__",
};

/** A field's name in expressions; undefined for one that has none. */
function escapeName(name: string): string | undefined {
  if (reserved.has(name)) return `__${name}__`;
  const escaped = name.replace(/__|[.\-/]/g, (part) => escapes[part] ?? part);
  return /^[A-Za-z_]\w*$/.test(escaped) ? escaped : undefined;
}
