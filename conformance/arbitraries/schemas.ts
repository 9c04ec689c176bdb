/** Random schemas of custom resources, and values for them: lawful, with fields that they do not name, with elements twice. */
import fc from "fast-check";
import type { Json, JsonObject } from "../client/types.ts";
import type { RecordNode, SchemaNode } from "../model/schema-law.ts";

const names = ["a", "b", "c"] as const;
const texts = ["", "x", "y"] as const;

const anyText: fc.Arbitrary<SchemaNode> = fc.record(
  { is: fc.constant("text" as const), nullable: fc.boolean(), default: fc.constantFrom("d", "") },
  { requiredKeys: ["is", "nullable"] },
);
const anyNumber: fc.Arbitrary<SchemaNode> = fc.record(
  { is: fc.constant("number" as const), nullable: fc.boolean(), default: fc.constantFrom(3, 0) },
  { requiredKeys: ["is", "nullable"] },
);
const anyScalar = fc.oneof(anyText, anyNumber);

function anyRecord(depth: number): fc.Arbitrary<RecordNode> {
  return fc.record(
    {
      is: fc.constant("record" as const),
      fields: fc.dictionary(fc.constantFrom(...names), anyNode(depth - 1), { minKeys: 1, maxKeys: 3 }),
      default: fc.constant({}),
    },
    { requiredKeys: ["is", "fields"] },
  );
}

function anyKeyed(depth: number): fc.Arbitrary<SchemaNode> {
  const key: SchemaNode = { is: "text", nullable: false };
  return fc
    .record({ keys: fc.constantFrom(["k"], ["k", "l"]), fields: anyRecord(depth).map(({ fields }) => fields) })
    .map(({ keys, fields }) => ({
      is: "keyed",
      keys,
      items: { is: "record", fields: { ...fields, k: key, l: key } },
    }));
}

function anyNode(depth: number): fc.Arbitrary<SchemaNode> {
  if (depth <= 0) return anyScalar;
  return fc.oneof(
    anyScalar,
    anyRecord(depth),
    fc.record({ is: fc.constant("list" as const), items: fc.oneof(anyRecord(depth - 1), plainText) }),
    fc.constant<SchemaNode>({ is: "set" }),
    anyKeyed(depth - 1),
    fc.record({ is: fc.constant("map" as const), values: fc.oneof(anyRecord(depth - 1), plainText) }),
    fc.constant<SchemaNode>({ is: "free" }),
  );
}

const plainText = fc.constant<SchemaNode>({ is: "text", nullable: false });

/** Of a `spec`. */
export const anySchema: fc.Arbitrary<RecordNode> = anyRecord(3).map(({ fields }) => ({ is: "record", fields }));

/** Every kind of field once, each below each of those that hold others. */
export const wholeSchema: RecordNode = {
  is: "record",
  fields: {
    a: { is: "text", nullable: false, default: "d" },
    b: { is: "record", fields: { a: { is: "number", nullable: false, default: 3 } }, default: {} },
    list: { is: "list", items: { is: "record", fields: { a: { is: "text", nullable: false, default: "d" } } } },
    set: { is: "set" },
    keyed: {
      is: "keyed",
      keys: ["k", "l"],
      items: {
        is: "record",
        fields: { k: { is: "text", nullable: false }, l: { is: "text", nullable: false }, set: { is: "set" } },
      },
    },
    map: { is: "map", values: { is: "record", fields: { a: { is: "text", nullable: true, default: "d" } } } },
    free: { is: "free" },
  },
};

/** Something that no schema names. */
const stray = { zz: { any: [1] } };

/** A value for `node`: now and then with strays, nulls for fields, and elements twice. */
export function anyValueOf(node: SchemaNode): fc.Arbitrary<Json> {
  switch (node.is) {
    case "text":
      return fc.constantFrom(...texts);
    case "number":
      return fc.integer({ min: 0, max: 3 });
    case "set":
      return fc.array(fc.constantFrom<Json>("x", "y", "z"), { maxLength: 3 });
    case "free":
      return fc.constantFrom<Json>({}, { any: [1, { thing: null }] });
    case "list":
      return fc.array(anyValueOf(node.items), { maxLength: 2 });
    case "map":
      return fc.dictionary(fc.constantFrom("m", "n"), anyValueOf(node.values), { maxKeys: 2 });
    case "keyed": {
      const keys = fc.record(Object.fromEntries(["k", "l"].map((key) => [key, fc.constantFrom("x", "y")])));
      const item = fc.tuple(anyValueOf(node.items), keys).map(([value, own]) => ({ ...(value as JsonObject), ...own }));
      return fc.array(item, { maxLength: 3 });
    }
    case "record": {
      const fields = Object.entries(node.fields).map(([name, field]) => {
        const value = fc.oneof<fc.MaybeWeightedArbitrary<Json>[]>(
          { weight: 6, arbitrary: anyValueOf(field) },
          { weight: 1, arbitrary: fc.constant(null) },
        );
        return [name, value] as const;
      });
      const own = fc.record(Object.fromEntries(fields), { requiredKeys: [] });
      return fc.tuple(own, fc.nat(2)).map(([value, draw]) => (draw === 2 ? { ...value, ...stray } : value) as Json);
    }
  }
}

/** For `wholeSchema`: a stray below every field that holds others, and every list with an element twice. */
export const strayEverywhere: JsonObject = {
  ...stray,
  b: stray,
  list: [stray, { a: null }],
  set: ["x"],
  keyed: [
    { k: "x", l: "x", ...stray },
    { k: "x", l: "y" },
  ], // prettier-ignore
  map: { m: { ...stray, a: null } },
  free: { other: 1 },
};
export const doubledValues: readonly JsonObject[] = [
  { set: ["x", "x"] },
  {
    keyed: [
      { k: "x", l: "x" },
      { k: "x", l: "x" },
    ],
  }, // prettier-ignore
  { keyed: [{ k: "x", l: "x", set: ["y", "y"] }] },
];
