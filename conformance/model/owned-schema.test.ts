import { expect, it } from "vitest";
import { ownedFields, ownedSchema, type OwnedRecord } from "./owned-schema.ts";

const text = { is: "text" } as const;
const node: OwnedRecord = {
  is: "record",
  atomic: false,
  fields: {
    a: text,
    whole: { is: "record", atomic: true, fields: { a: text } },
    map: { is: "map", atomic: false, values: text },
    deepMap: { is: "map", atomic: false, values: { is: "record", atomic: false, fields: { a: text } } },
    wholeMap: { is: "map", atomic: true, values: text },
    list: { is: "list" },
    set: { is: "set" },
    keyed: {
      is: "keyed",
      keys: ["k", "l"],
      items: { is: "record", atomic: false, fields: { k: text, l: text, a: text } },
    },
  },
};

it("names each field once, and what is atomic as a whole", () => {
  const value = {
    a: "x",
    whole: { a: "x" },
    map: { m: "x" },
    deepMap: { m: { a: "x" } },
    wholeMap: { n: "y", m: "x" },
    list: ["x"],
    set: ["y", "x"],
    keyed: [{ k: "1", l: "2", a: "x" }],
  };
  expect([...ownedFields(node, value, ".spec")]).toEqual([
    [".spec.a", '"x"'],
    [".spec.whole", '{"a":"x"}'],
    [".spec.map.m", '"x"'],
    [".spec.deepMap.m", ""],
    [".spec.deepMap.m.a", '"x"'],
    [".spec.wholeMap", '{"m":"x","n":"y"}'],
    [".spec.list", '["x"]'],
    ['.spec.set[="y"]', ""],
    ['.spec.set[="x"]', ""],
    ['.spec.keyed[k="1",l="2"]', ""],
    ['.spec.keyed[k="1",l="2"].k', '"1"'],
    ['.spec.keyed[k="1",l="2"].l', '"2"'],
    ['.spec.keyed[k="1",l="2"].a', '"x"'],
  ]);
  expect(ownedFields(node, undefined, ".spec").size).toBe(0);
});

it("says in a definition what is atomic and what are keys", () => {
  const { properties } = ownedSchema(node, "x-") as { properties: Record<string, Record<string, unknown>> };
  expect([properties["whole"]?.["x-map-type"], properties["map"]?.["x-map-type"]]).toEqual(["atomic", undefined]);
  expect(properties["wholeMap"]?.["x-map-type"]).toBe("atomic");
  expect(["list", "set", "keyed"].map((name) => properties[name]?.["x-list-type"])).toEqual(["atomic", "set", "map"]);
  expect(properties["keyed"]).toMatchObject({ "x-list-map-keys": ["k", "l"], items: { required: ["k", "l"] } });
});
