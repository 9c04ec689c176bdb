import { describe, expect, test } from "vitest";
import { hasDoubles, schemaText, type SchemaNode, shapedBy } from "./schema-law.ts";

const text: SchemaNode = { is: "text", nullable: false };
const node: SchemaNode = {
  is: "record",
  fields: {
    a: { is: "text", default: "d", nullable: false },
    n: { is: "number", default: 3, nullable: true },
    list: { is: "list", items: { is: "record", fields: { a: { is: "text", default: "i", nullable: false } } } },
    set: { is: "set" },
    keyed: { is: "keyed", keys: ["k", "l"], items: { is: "record", fields: { k: text, l: text } } },
    map: { is: "map", values: { is: "record", fields: { a: text } } },
    free: { is: "free" },
    box: { is: "record", fields: { a: { is: "text", default: "b", nullable: false } }, default: {} },
  },
};

describe("what a schema makes of a value", () => {
  test("defaults stand for what is absent or null, at every depth", () => {
    expect(shapedBy(node, { a: null, n: null, list: [{}, { a: "x" }] })).toEqual({
      a: "d",
      n: null,
      list: [{ a: "i" }, { a: "x" }],
      box: { a: "b" },
    });
  });

  test("what is not named goes, in lists and maps as well; what is free stays", () => {
    const sent = { zz: 1, list: [{ zz: 1 }], map: { m: { a: "x", zz: 1 } }, free: { zz: [{ y: null }] }, n: 1 };
    expect(shapedBy(node, sent)).toEqual({
      a: "d",
      n: 1,
      list: [{ a: "i" }],
      map: { m: { a: "x" } },
      free: { zz: [{ y: null }] },
      box: { a: "b" },
    });
  });

  test("doubles are found by value or by all keys", () => {
    expect(
      hasDoubles(node, {
        set: ["x", "y"],
        keyed: [
          { k: "x", l: "p" },
          { k: "x", l: "q" },
        ],
      }),
    ).toBe(false); // prettier-ignore
    expect(hasDoubles(node, { set: ["x", "x"] })).toBe(true);
    expect(
      hasDoubles(node, {
        keyed: [
          { k: "x", l: "p" },
          { k: "x", l: "p" },
        ],
      }),
    ).toBe(true); // prettier-ignore
  });

  test("the words of a definition", () => {
    expect(schemaText({ is: "keyed", keys: ["k"], items: { is: "record", fields: { k: text } } }, "x-svc-")).toEqual({
      type: "array",
      items: { type: "object", properties: { k: { type: "string" } }, required: ["k"] },
      "x-svc-list-type": "map",
      "x-svc-list-map-keys": ["k"],
    });
  });
});
