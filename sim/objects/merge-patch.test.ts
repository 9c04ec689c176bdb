import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mergePatchVectors } from "../../wire/merge-patch-vectors.fixture.ts";
import type { Json, JsonObject } from "../contract/http-message.ts";
import { applyMergePatch } from "./merge-patch.ts";
import { seal } from "./seal.ts";

describe("the cases of RFC 7386, appendix A", () => {
  it.each(mergePatchVectors)("%j + %j = %j", (target, patch, expected) => {
    expect(applyMergePatch(seal(target), patch)).toEqual(expected);
  });
});

it("keeps what it does not change, and the whole when it changes nothing", () => {
  const target: JsonObject = seal({ kept: { deep: [1] }, changed: { a: 1, b: { c: 2 } } });
  const result = applyMergePatch(target, { changed: { a: 2 } }) as JsonObject;
  expect(result["kept"]).toBe(target["kept"]);
  expect((result["changed"] as JsonObject)["b"]).toBe((target["changed"] as JsonObject)["b"]);
  expect(applyMergePatch(target, { changed: { a: 1 }, absent: null })).toBe(target);
});

it("has no special keys", () => {
  const patch = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}') as Json;
  const result = applyMergePatch(seal({}), patch);
  expect(JSON.stringify(result)).toBe(JSON.stringify(patch));
  expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
});

it("is what the RFC's own few lines say, and leaves its input alone", () => {
  const naive = (target: unknown, patch: unknown): unknown => {
    if (typeof patch !== "object" || patch === null || Array.isArray(patch)) return patch;
    const isObject = typeof target === "object" && target !== null && !Array.isArray(target);
    const result = new Map<string, unknown>(isObject ? Object.entries(target) : []);
    for (const [key, value] of Object.entries(patch)) {
      if (value === null) result.delete(key);
      else result.set(key, naive(result.get(key), value));
    }
    return Object.fromEntries(result);
  };
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.jsonValue({ maxDepth: 4 }), (target, patch) => {
      const before = JSON.stringify(target);
      expect(applyMergePatch(seal(target) as Json, patch as Json)).toEqual(naive(target, patch));
      expect(JSON.stringify(target)).toBe(before);
    }),
    { seed: 11, numRuns: 500 },
  );
});
