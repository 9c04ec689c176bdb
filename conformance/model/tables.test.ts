import { describe, expect, it } from "vitest";
import type { JsonObject } from "../client/types.ts";
import { object } from "./hand-written.fixture.ts";
import { columnsText, judgeCarried, judgeColumns, judgeRows, judgeShape } from "./tables.ts";

const apiVersion = "meta.svc.io/v1";
const items = [object("a@1"), object("b@2")];
const partial = (index: number): JsonObject => ({
  kind: "PartialObjectMetadata",
  apiVersion,
  metadata: (items[index] as JsonObject)["metadata"],
});
const table: JsonObject = {
  kind: "Table",
  apiVersion,
  columnDefinitions: [
    { name: "Name", type: "string" },
    { name: "Created At", type: "date" },
  ],
  rows: [
    { cells: ["a", "now"], object: partial(0) },
    { cells: ["b", "now"], object: partial(1) },
  ],
};
const changed = (fields: JsonObject): JsonObject => ({ ...table, ...fields });
const rows = table["rows"] as JsonObject[];

describe("the law of tables", () => {
  it("accepts the table of the objects", () => {
    expect(judgeShape(table, apiVersion)).toBeUndefined();
    expect(judgeColumns(table)).toBeUndefined();
    expect(columnsText(table)).toBe("Name string, Created At date");
    expect(judgeRows(table, items)).toBeUndefined();
    expect(judgeCarried(table, items, "Metadata", apiVersion)).toBeUndefined();
    expect(
      judgeCarried(changed({ rows: rows.map((row, at) => ({ ...row, object: items[at] })) }), items, "Object", ""),
    ).toBeUndefined();
    expect(
      judgeCarried(changed({ rows: rows.map((row) => ({ ...row, object: null })) }), items, "None", ""),
    ).toBeUndefined();
  });

  it("rejects another kind and another version", () => {
    expect(judgeShape(changed({ kind: "List" }), apiVersion)).toBeDefined();
    expect(judgeShape(table, "meta.svc.io/v2")).toBeDefined();
    expect(judgeShape(undefined, apiVersion)).toBeDefined();
  });

  it("rejects missing columns, and columns without a name or a type", () => {
    const name = { name: "Name", type: "string" };
    const nameless = { name: "", type: "string" };
    const untyped = { name: "Name", type: "" };
    const numbered = { name: 7, type: "string" };
    for (const columnDefinitions of [
      [],
      [{ name: "Name" }],
      [nameless],
      [untyped],
      [numbered],
      [name, nameless],
      undefined,
    ]) {
      expect(judgeColumns(changed({ columnDefinitions }))).toBeDefined();
    }
  });

  it("rejects rows too few, too many, in another order, and with cells too few", () => {
    for (const wrong of [
      rows.slice(1),
      [...rows, rows[0]],
      rows.toReversed(),
      [{ ...rows[0], cells: ["a"] }, rows[1]],
      [{ ...rows[0], cells: null }, rows[1]],
    ]) {
      expect(judgeRows(changed({ rows: wrong as JsonObject[] }), items)).toBeDefined();
    }
  });

  it("rejects rows that carry too much, too little or another object", () => {
    expect(judgeCarried(table, items, "None", apiVersion)).toBeDefined();
    expect(judgeCarried(table, items, "Object", apiVersion)).toBeDefined();
    expect(judgeCarried(changed({ rows: [{ cells: ["a", "now"] }] }), items, "Object", apiVersion)).toBeDefined();
    expect(
      judgeCarried(
        changed({ rows: rows.map((row) => ({ ...row, object: partial(0) })) }),
        items,
        "Metadata",
        apiVersion,
      ),
    ).toBeDefined();
  });
});
