import { expect, it } from "vitest";
import { structNamed } from "../../wire/schema.ts";
import { drained } from "../../wire/steps.ts";
import type { JsonObject } from "../contract/http-message.ts";
import { diffObjects } from "./field-diff.ts";
import { leafCountOf } from "./field-set.ts";
import { largeLeafSteps, largeLeaves } from "./large-leaves.ts";

const type = structNamed("core.v1.ConfigMap");
/** Names that are in no order, and every sixth of which begins as another does. */
const mapOf = (count: number, salt: string): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`${salt}${(at * 7919) % 100_003}`, "v"]));
const withData = (data: Record<string, string>): JsonObject => ({ data });
const diffOf = (before: JsonObject, after: JsonObject) => diffObjects(type, before, after, () => false);

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
  expect(largeLeaves(after["data"] as JsonObject, true)).toBeDefined();
});

it("nothing is made of what is small, was there before, or holds more than texts", () => {
  const made = (before: JsonObject, data: JsonObject): unknown => {
    drained(largeLeafSteps(before, { data }, true));
    return largeLeaves(data, true);
  };
  expect(made({}, mapOf(3_999, "c"))).toBeUndefined();
  expect(made(withData({ a: "b" }), mapOf(5_000, "d"))).toBeUndefined();
  expect(made({}, { ...mapOf(5_000, "e"), more: {} })).toBeUndefined();
  expect(made({}, mapOf(5_000, "f"))).toBeDefined();
});
