import fc from "fast-check";
import { expect, it } from "vitest";
import { type FieldRow, type Shape, structNamed, type TypeRow } from "../../wire/schema.ts";
import { drained } from "../../wire/steps.ts";
import type { JsonObject } from "../contract/http-message.ts";
import { diffObjects } from "./field-diff.ts";
import { leafCountOf } from "./field-set.ts";
import { largeChange, largeLeafSteps } from "./large-leaves.ts";

const type = structNamed("core.v1.ConfigMap");
/** Names that are in no order, and every sixth of which begins as another does. */
const mapOf = (count: number, salt: string): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`${salt}${(at * 7919) % 100_003}`, "v"]));
const withData = (data: Record<string, string>): JsonObject => ({ data });
const diffOf = (before: JsonObject, after: JsonObject, of = type) => diffObjects(of, before, after, () => false);

it("the set of a large new map is the one that is made at once, and is handed out once", () => {
  const data = mapOf(5_000, "a");
  const atOnce = diffOf({}, withData(data));
  const after = withData({ ...data });
  drained(largeLeafSteps({}, after, true));
  const inSteps = diffOf({}, after);
  expect(inSteps).toEqual(atOnce);
  expect(Object.keys(inSteps.changed?.["f:data"] ?? {})).toEqual(Object.keys(atOnce.changed?.["f:data"] ?? {}));
  expect(inSteps.changed?.["f:data"]).toBe(atOnce.changed?.["f:data"]); // equal sets are one object
  expect(leafCountOf(inSteps.changed?.["f:data"] ?? {})).toBe(5_001);
  (after["data"] as Record<string, string>)["more"] = "v";
  expect(Object.keys(diffOf({}, after).changed?.["f:data"] ?? {})).toHaveLength(5_002);
});

it("95,000 names are filed in some dozens of steps, of 8,192 each", () => {
  const after = withData(mapOf(95_000, "b"));
  let stops = 0;
  for (const _ of largeLeafSteps({}, after, true)) stops++;
  expect(stops).toBeGreaterThan(12 + 4 * 12 + 12);
  expect(stops).toBeLessThan(120);
  expect(largeChange(undefined, after["data"] as JsonObject, true)?.changed).toBeDefined();
});

it("nothing is made of what is small, holds more than scalars, or was something else", () => {
  const made = (before: JsonObject, data: JsonObject): unknown => {
    drained(largeLeafSteps(before, { data }, true));
    return largeChange(before["data"], data, true);
  };
  expect(made({}, mapOf(3_999, "c"))).toBeUndefined();
  expect(made({ data: ["a"] }, mapOf(5_000, "d"))).toBeUndefined();
  expect(made(withData({ a: {} } as never), mapOf(5_000, "g"))).toBeUndefined();
  expect(made({}, { ...mapOf(5_000, "e"), more: {} })).toBeUndefined();
  expect(made({}, mapOf(5_000, "f"))).toBeDefined();
});

it("what was compared with something else is not handed out", () => {
  const before = withData(mapOf(5_000, "h"));
  const after = withData({ ...mapOf(5_000, "h"), more: "v" });
  drained(largeLeafSteps(before, after, true));
  expect(largeChange({}, after["data"] as JsonObject, true)).toBeUndefined();
  expect(largeChange(before["data"], after["data"] as JsonObject, true)).toBeDefined();
});

const finalizersOf = (texts: readonly string[]): JsonObject => ({ metadata: { finalizers: texts } });

/** Large ones, of which some members went, came or changed; sometimes nearly all. */
const edits = fc.record({
  gone: fc.integer({ min: 0, max: 4_500 }),
  come: fc.integer({ min: 0, max: 4_500 }),
  changed: fc.integer({ min: 0, max: 4_500 }),
  turned: fc.boolean(),
  twice: fc.boolean(),
});

/** A type of our own with a field like another: a set, or a map, of integers. */
function withNumbers(parent: TypeRow, name: string, shape: Shape): TypeRow {
  const field = { ...(parent.fields.get(name) as FieldRow), shape };
  return { ...type, name: `of ${name}`, fields: new Map([[name, field]]), rows: [field] };
}
const integer: Shape = { is: "scalar", type: "integer", format: "int64" };
const metadata = structNamed("~apimachinery.pkg.apis.meta.v1.ObjectMeta");
const numberSet = withNumbers(metadata, "finalizers", { is: "list", items: integer });
const numberMap = withNumbers(type, "data", { is: "map", values: integer });

it("the change of a large map or set of numbers is the one that is found at once", () => {
  let knownCount = 0;
  fc.assert(
    fc.property(edits, fc.boolean(), ({ gone, come, changed, turned, twice }, isMap) => {
      const numbers = Array.from({ length: 4_500 }, (_, at) => (at * 7919) % 100_003);
      const after = [...numbers.slice(gone), ...Array.from({ length: come }, (_, at) => 200_000 + at)];
      if (turned) after.reverse();
      const mapped = (list: readonly number[], changedCount: number): JsonObject =>
        Object.fromEntries(list.map((number, at) => [`k${number}`, at < changedCount ? -number : number]));
      const [was, is] = isMap
        ? [mapped(numbers, 0), mapped(after, changed)]
        : [numbers, twice ? [...after, ...after.slice(0, 1)] : after];
      const under = (held: unknown): JsonObject => ({ [isMap ? "data" : "finalizers"]: held }) as JsonObject;
      const [before, now] = [under(was), under(is)];
      const of = isMap ? numberMap : numberSet;
      const atOnce = diffOf(before, now, of);
      drained(largeLeafSteps(before, now, true));
      const inSteps = diffOf(before, now, of);
      expect(JSON.stringify(inSteps)).toBe(JSON.stringify(atOnce));
      drained(largeLeafSteps(before, now, true));
      if (largeChange(was, is as never, true) !== undefined) knownCount++;
    }),
    { numRuns: 40 },
  );
  expect(knownCount).toBeGreaterThan(10);
});

it("the change of a large map or set is the one that is found at once", () => {
  let knownCount = 0;
  fc.assert(
    fc.property(edits, fc.constantFrom("map", "set"), ({ gone, come, changed, turned, twice }, form) => {
      const before = Object.entries(mapOf(4_500, "k"));
      const kept = before.slice(gone).map(([key, value], at) => [key, at < changed ? "w" : value]);
      const after = [...kept, ...Object.entries(mapOf(come, "n"))];
      if (turned) after.reverse();
      const listOf = (entries: readonly (readonly unknown[])[]): string[] => entries.map(([key]) => String(key));
      const made = (entries: readonly (readonly unknown[])[]): JsonObject => {
        if (form === "map") return withData(Object.fromEntries(entries) as Record<string, string>);
        return finalizersOf(
          twice && entries.length > 0 ? [...listOf(entries), ...listOf(entries).slice(0, 1)] : listOf(entries),
        );
      };
      const [was, is] = [made(before), made(after)];
      const atOnce = diffOf(was, is);
      drained(largeLeafSteps(was, is, true));
      const inSteps = diffOf(was, is);
      for (const part of ["changed", "removed"] as const) {
        expect(inSteps[part]).toEqual(atOnce[part]);
        expect(JSON.stringify(inSteps[part])).toBe(JSON.stringify(atOnce[part])); // in the same order
      }
      // All that was made was asked for: nothing is left to be handed out.
      const container = (form === "map" ? is["data"] : (is["metadata"] as JsonObject)["finalizers"]) as JsonObject;
      const old = form === "map" ? was["data"] : (was["metadata"] as JsonObject)["finalizers"];
      expect(largeChange(old, container, true)).toBeUndefined();
      drained(largeLeafSteps(was, is, true));
      if (largeChange(old, container, true) !== undefined) knownCount++;
    }),
    { numRuns: 40 },
  );
  expect(knownCount).toBeGreaterThan(10);
});
