import fc from "fast-check";
import { expect, it } from "vitest";
import type { Json, JsonObject } from "../contract/http-message.ts";
import { jsonEqual, objectsEqual } from "./equality.ts";

it("is reflexive and symmetric, and a change anywhere ends it", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.jsonValue({ maxDepth: 2 }), (left, right) => {
      expect(jsonEqual(left as Json, structuredClone(left) as Json)).toBe(true);
      expect(jsonEqual(left as Json, right as Json)).toBe(jsonEqual(right as Json, left as Json));
      expect(jsonEqual({ a: [left as Json] }, { a: [left as Json, 1] })).toBe(false);
    }),
    { seed: 9, numRuns: 300 },
  );
  expect(jsonEqual({ a: 1 }, { b: 1 })).toBe(false);
  expect(jsonEqual([], {})).toBe(false);
  expect(jsonEqual({ toString: 1 } as JsonObject, {})).toBe(false);
});

const entry = (time: string, manager = "m"): JsonObject => ({ manager, time, fieldsV1: { "f:data": {} } });
const object = (version: string, entries: Json | undefined, data: Json = { k: "v" }): JsonObject => ({
  metadata: { name: "a", resourceVersion: version, ...(entries === undefined ? {} : { managedFields: entries }) },
  data,
});

it("passes over versions and the times of managed fields, and nothing else", () => {
  const before = object("1", [entry("t1")]);
  expect(objectsEqual(before, object("2", [entry("t2")]))).toBe(true);
  expect(objectsEqual(before, object("1", [entry("t1", "other")]))).toBe(false);
  expect(objectsEqual(before, object("1", [entry("t1"), entry("t1")]))).toBe(false);
  expect(objectsEqual(before, object("1", undefined))).toBe(false);
  expect(objectsEqual(object("1", undefined), before)).toBe(false);
  expect(objectsEqual(before, object("1", [entry("t1")], { k: "w" }))).toBe(false);
  expect(objectsEqual(before, { ...before, extra: 1 })).toBe(false);
  const { metadata, ...rest } = before;
  expect(objectsEqual(before, rest)).toBe(false);
  expect(objectsEqual({ metadata: { name: "a" } }, { metadata: { name: "a", resourceVersion: "7" } })).toBe(true);
  expect(metadata).toBeDefined();
});
