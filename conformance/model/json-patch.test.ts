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

  it("writes pointers that it reads", () => {
    expect(pointerTo("a/b", "c~d", 0)).toBe("/a~1b/c~0d/0");
    expect(parsePointer(pointerTo("a/b", "c~d", "~1"))).toEqual(["a/b", "c~d", "~1"]);
  });
});
