import fc from "fast-check";
import { expect, it } from "vitest";
import type { FieldSet } from "../field-set.ts";
import { pathCountOf, pathTextsOf } from "./path-text.ts";

const leaf: FieldSet = {};

it("tells fields by name, then keys, values and indices, and what ends at a level before what is below it", () => {
  const set = {
    "i:10": leaf,
    "i:9": leaf,
    "v:2": leaf,
    "v:10": leaf,
    'k:{"name":"b"}': { ".": leaf, "f:image": leaf },
    'k:{"name":"a"}': { "f:image": leaf },
    "f:b": leaf,
    "f:a": { ".": leaf, "f:c": leaf },
    "f:Z": leaf,
  } as FieldSet;
  expect(pathTextsOf(set)).toEqual([
    ".Z",
    ".a",
    ".b",
    '[name="b"]',
    "[=2]",
    "[=10]",
    "[9]",
    "[10]",
    ".a.c",
    '[name="a"].image',
    '[name="b"].image',
  ]);
});

it("tells the same of a set in whatever order its steps stand", () => {
  const step = fc.constantFrom("f:a", "f:b", "f:é", "f:10", "f:9", "v:1", 'v:"x"', 'k:{"name":"a"}', "i:3", "i:20");
  const sets = fc.letrec<{ set: [string, unknown][] }>((tie) => ({
    set: fc.uniqueArray(fc.tuple(step, fc.oneof({ maxDepth: 3 }, fc.constant([]), tie("set"))), {
      selector: ([name]) => name,
    }) as fc.Arbitrary<[string, unknown][]>,
  })).set;
  const made = (steps: readonly [string, unknown][], isBackwards: boolean): FieldSet =>
    Object.fromEntries(
      (isBackwards ? steps.toReversed() : steps).map(([name, below]) => [
        name,
        made(below as [string, unknown][], isBackwards),
      ]),
    ) as FieldSet;
  fc.assert(
    fc.property(sets, (steps) => {
      const texts = pathTextsOf(made(steps, false));
      expect(pathTextsOf(made(steps, true))).toEqual(texts);
      expect(new Set(texts).size).toBe(texts.length);
      expect(pathCountOf(made(steps, true))).toBe(texts.length);
      const room = { left: 12 };
      const told = pathTextsOf(made(steps, false), room);
      expect(texts.slice(0, told.length)).toEqual(told);
      expect(told.length === texts.length || room.left < 0).toBe(true);
    }),
  );
});
