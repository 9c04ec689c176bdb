import fc from "fast-check";
import { expect, it } from "vitest";
import type { Json } from "../client/types.ts";
import { isAlike, sameJson, valueAt, withoutEmpty } from "./json-values.ts";

it("takes documents for the same whatever the order of their fields, and no others", () => {
  expect(sameJson({ a: 1, b: [{ c: null }] }, { b: [{ c: null }], a: 1 })).toBe(true);
  expect(sameJson({ a: undefined }, {})).toBe(true);
  for (const [left, right] of [
    [{ a: 1 }, { a: "1" }],
    [
      [1, 2],
      [2, 1],
    ],
    [{}, []],
    [{ a: null }, {}],
    [[1], [1, 2]],
    [
      [1, 2],
      [1, 3],
    ],
    [
      { a: 1, b: 2 },
      { a: 1, b: 3 },
    ],
    [[], { length: 0 }],
    ["", {}],
    [null, {}],
  ] as const) {
    expect(sameJson(left as never, right as never)).toBe(false);
  }
});

it("leaves out what a server may leave out, and nothing else", () => {
  expect(withoutEmpty({ a: {}, b: { c: null, d: [] }, e: "", f: 0, g: [{}, { h: [] }] })).toEqual({
    e: "",
    f: 0,
    g: [{}, {}],
  });
  expect(withoutEmpty({ a: { b: [] } })).toBeUndefined();
});

it("reads by path", () => {
  const document = { a: [{ b: "c" }] };
  expect(valueAt(document, "a", 0, "b")).toBe("c");
  expect(valueAt(document, "a", 1, "b")).toBeUndefined();
  expect(valueAt(document, "toString")).toBeUndefined();
});

it("is sure only of what its texts would say, too", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.jsonValue({ maxDepth: 4 }), (left, right) => {
      expect(isAlike(left as never, structuredClone(left) as never)).toBe(true);
      expect(isAlike(left as never, right as never)).toBe(sameJson(left as never, right as never));
    }),
    { seed: 1, numRuns: 300 },
  );
  const chain = (levels: number): Json => JSON.parse("[".repeat(levels) + "]".repeat(levels)) as Json;
  expect([isAlike(chain(60), chain(60)), isAlike(chain(70), chain(70))]).toEqual([true, false]);
  expect([isAlike([], {}), isAlike({}, []), isAlike({ a: 1 }, { b: 1 }), isAlike(null, {})]).toEqual([
    false,
    false,
    false,
    false,
  ]);
});
