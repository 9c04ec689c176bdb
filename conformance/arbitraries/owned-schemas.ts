/** Random schemas of custom resources, of all that decides who owns what, and values for them without anything empty. */
import fc from "fast-check";
import type { Json, JsonObject } from "../client/types.ts";
import type { OwnedNode, OwnedRecord } from "../model/owned-schema.ts";

const names = ["a", "b", "c"] as const;
const text: OwnedNode = { is: "text" };
const anyWords = fc.uniqueArray(fc.constantFrom("x", "y", "z"), { minLength: 1, maxLength: 3 });

const anyRecord = (depth: number): fc.Arbitrary<OwnedRecord> =>
  fc.record({
    is: fc.constant("record" as const),
    atomic: fc.nat(3).map((draw) => draw === 3),
    fields: fc.dictionary(fc.constantFrom(...names), anyNode(depth - 1), { minKeys: 1, maxKeys: 3 }),
  });

const anyKeyed = (depth: number): fc.Arbitrary<OwnedNode> =>
  fc
    .record({ keys: fc.constantFrom(["k"], ["k", "l"]), fields: anyRecord(depth).map(({ fields }) => fields) })
    .map(({ keys, fields }) => ({
      is: "keyed",
      keys,
      items: { is: "record", atomic: false, fields: { ...fields, k: text, l: text } },
    }));

function anyNode(depth: number): fc.Arbitrary<OwnedNode> {
  const leaves = [fc.constant(text), fc.constant<OwnedNode>({ is: "list" }), fc.constant<OwnedNode>({ is: "set" })];
  if (depth <= 0) return fc.oneof(...leaves);
  // What is left of a record in a map whose fields have gone, while its key is somebody's, nobody promises: none is drawn.
  const wholes: OwnedNode[] = [text, { is: "list" }, { is: "set" }, { is: "map", atomic: true, values: text }];
  const values = fc.oneof(fc.constantFrom(...wholes), anyKeyed(depth - 1));
  const anyMap = fc.record({ is: fc.constant("map" as const), atomic: fc.boolean(), values });
  return fc.oneof(...leaves, anyRecord(depth), anyMap, anyKeyed(depth - 1));
}

/** Of a `spec`. */
export const anyOwnedSchema: fc.Arbitrary<OwnedRecord> = anyRecord(3).map((node) => ({ ...node, atomic: false }));

/** A value for `node`, of which nothing is empty: whether what is empty is owned is another question. */
function anyOwnedValue(node: OwnedNode): fc.Arbitrary<Json> {
  switch (node.is) {
    case "text":
      return fc.constantFrom("x", "y");
    case "list":
    case "set":
      return anyWords as fc.Arbitrary<Json>;
    case "map":
      return fc.dictionary(fc.constantFrom("m", "n"), anyOwnedValue(node.values), { minKeys: 1, maxKeys: 2 });
    case "record":
      return anyFields(node).filter((value) => Object.keys(value).length > 0) as fc.Arbitrary<Json>;
    case "keyed": {
      const keys = fc.record(Object.fromEntries(["k", "l"].map((key) => [key, fc.constantFrom("x", "y")])));
      const item = fc.tuple(anyFields(node.items), keys).map(([value, own]) => ({ ...value, ...own }));
      const selector = (element: JsonObject): string => JSON.stringify(node.keys.map((key) => element[key]));
      return fc.uniqueArray(item, { minLength: 1, maxLength: 3, selector }) as fc.Arbitrary<Json>;
    }
  }
}

/** Some of its fields, or none. */
export function anyFields({ fields }: OwnedRecord): fc.Arbitrary<JsonObject> {
  const values = Object.entries(fields).map(([name, field]) => [name, anyOwnedValue(field)] as const);
  return fc.record(Object.fromEntries(values), { requiredKeys: [] }) as fc.Arbitrary<JsonObject>;
}

/** Every kind of field once, granular and atomic. */
export const wholeOwnedSchema: OwnedRecord = {
  is: "record",
  atomic: false,
  fields: {
    a: text,
    record: { is: "record", atomic: false, fields: { a: text, b: text } },
    wholeRecord: { is: "record", atomic: true, fields: { a: text, b: text } },
    map: { is: "map", atomic: false, values: text },
    wholeMap: { is: "map", atomic: true, values: text },
    list: { is: "list" },
    set: { is: "set" },
    keyed: {
      is: "keyed",
      keys: ["k", "l"],
      items: {
        is: "record",
        atomic: false,
        fields: { k: text, l: text, set: { is: "set" }, wholeMap: { is: "map", atomic: true, values: text } },
      },
    },
  },
};
