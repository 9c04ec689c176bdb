import { expect, it } from "vitest";
import type { Json } from "../client/types.ts";
import { mergePatch } from "./merge-patch.ts";

/** RFC 7386, appendix A. */
const vectors: readonly (readonly [target: Json, patch: Json, result: Json])[] = [
  [{ a: "b" }, { a: "c" }, { a: "c" }],
  [{ a: "b" }, { b: "c" }, { a: "b", b: "c" }],
  [{ a: "b" }, { a: null }, {}],
  [{ a: "b", b: "c" }, { a: null }, { b: "c" }],
  [{ a: ["b"] }, { a: "c" }, { a: "c" }],
  [{ a: "c" }, { a: ["b"] }, { a: ["b"] }],
  [{ a: { b: "c" } }, { a: { b: "d", c: null } }, { a: { b: "d" } }],
  [{ a: [{ b: "c" }] }, { a: [1] }, { a: [1] }],
  [
    ["a", "b"],
    ["c", "d"],
    ["c", "d"],
  ],
  [{ a: "b" }, ["c"], ["c"]],
  [{ a: "foo" }, null, null],
  [{ a: "foo" }, "bar", "bar"],
  [{ e: null }, { a: 1 }, { e: null, a: 1 }],
  [[1, 2], { a: "b", c: null }, { a: "b" }],
  [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
];

it("does as the vectors of the RFC say", () => {
  for (const [target, patch, result] of vectors) expect(mergePatch(target, patch)).toEqual(result);
});

it("does not touch what it is given", () => {
  const target = Object.freeze({ a: Object.freeze({ b: "c" }) });
  expect(mergePatch(target, { a: { b: null } })).toEqual({ a: {} });
  expect(target).toEqual({ a: { b: "c" } });
});
