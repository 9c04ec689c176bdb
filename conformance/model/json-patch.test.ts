import publicRows from "json-patch-test-suite/tests.json" with { type: "json" };
import specRows from "json-patch-test-suite/spec_tests.json" with { type: "json" };
import { describe, expect, it } from "vitest";
import type { Json } from "../client/types.ts";
import { applyJsonPatch, type PatchOperation, parsePointer, pointerTo } from "./json-patch.ts";
import { sameJson } from "./json-values.ts";

interface Row {
  readonly comment?: string;
  readonly doc: Json;
  readonly patch: readonly PatchOperation[];
  readonly expected?: Json;
  readonly error?: string;
  readonly disabled?: boolean;
}

/** A parser has seen to these: a document cannot have a field twice. */
const beyondValues = /duplicate/i;

describe("applyJsonPatch", () => {
  const rows = [...(specRows as unknown as Row[]), ...(publicRows as unknown as Row[])].filter(
    (row) => row.disabled !== true && !beyondValues.test(row.comment ?? ""),
  );
  it(`does as the ${rows.length} public rows say`, () => {
    expect(rows.length).toBeGreaterThan(80);
    const wrong = rows.filter((row) => {
      const result = applyJsonPatch(row.doc, row.patch);
      if (row.error !== undefined) return result !== undefined;
      return row.expected !== undefined && !sameJson(result, row.expected);
    });
    expect(wrong).toEqual([]);
  });

  it("does all or nothing", () => {
    const operations: PatchOperation[] = [
      { op: "add", path: "/a", value: 1 },
      { op: "test", path: "/a", value: 2 },
    ];
    expect(applyJsonPatch({}, operations)).toBeUndefined();
    expect(applyJsonPatch({}, operations.slice(0, 1))).toEqual({ a: 1 });
  });

  it.each<[string, Json, PatchOperation]>([
    ["a pointer without a slash", { a: 1 }, { op: "remove", path: "a" }],
    ["an unknown escape", { "~2": 1 }, { op: "remove", path: "/~2" }],
    ["a source that is no pointer", { a: 1 }, { op: "copy", path: "/b", from: "a" }],
    ["a move into itself", { a: { b: 1 } }, { op: "move", path: "/a/b/c", from: "/a" }],
    ["a move of the whole into it", { a: 1 }, { op: "move", path: "/b", from: "" }],
    ["a test of what is not there", {}, { op: "test", path: "/a" }],
    ["the removal of the whole", { a: 1 }, { op: "remove", path: "" }],
    ["a place beyond a list", { a: [{}] }, { op: "add", path: "/a/1/b", value: 1 }],
    ["a place within a text", { a: "b" }, { op: "add", path: "/a/b", value: 1 }],
    ["an inherited field", {}, { op: "test", path: "/toString", value: 1 }],
    ["a place below an inherited field", {}, { op: "add", path: "/toString/a", value: 1 }],
  ])("refuses %s", (_what, document, operation) => {
    expect(applyJsonPatch(document, [operation])).toBeUndefined();
  });

  it("moves the whole to where it is, and what is beside", () => {
    expect(applyJsonPatch({ a: 1, c: {} }, [{ op: "move", path: "/c/b", from: "/a" }])).toEqual({ c: { b: 1 } });
    expect(applyJsonPatch({ a: { x: 1, b: {} } }, [{ op: "move", path: "/a/b/c", from: "/a/x" }])).toEqual({
      a: { b: { c: 1 } },
    });
    expect(applyJsonPatch({ a: 1 }, [{ op: "move", path: "", from: "" }])).toEqual({ a: 1 });
    expect(applyJsonPatch({ a: { b: 1 } }, [{ op: "move", path: "", from: "/a" }])).toEqual({ b: 1 });
    expect(applyJsonPatch({ a: { b: 1 }, c: {} }, [{ op: "move", path: "/c/a/b", from: "/a/b" }])).toBeUndefined();
    expect(applyJsonPatch({ a: { b: 1 }, c: {} }, [{ op: "move", path: "/c/b", from: "/a/b" }])).toEqual({
      a: {},
      c: { b: 1 },
    });
  });

  it("writes pointers that it reads", () => {
    expect(pointerTo("a/b", "c~d", 0)).toBe("/a~1b/c~0d/0");
    expect(parsePointer(pointerTo("a/b", "c~d", "~1"))).toEqual(["a/b", "c~d", "~1"]);
  });
});
