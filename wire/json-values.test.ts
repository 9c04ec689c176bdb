import fc from "fast-check";
import { expect, it } from "vitest";
import { countJsonValues, hasFewJsonValues, isJsonDeeperThan } from "./json-values.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Members and items at any depth, and how deep they are nested. */
function measured(value: unknown): { count: number; depth: number } {
  if (typeof value !== "object" || value === null) return { count: 0, depth: 0 };
  const inner = Object.values(value).map(measured);
  const count = inner.reduce((sum, each) => sum + each.count, inner.length);
  return { count, depth: 1 + inner.reduce((most, each) => Math.max(most, each.depth), 0) };
}

it("counts the values of a text, and sees how deep they are nested, as whoever reads it would", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(undefined, 1, "\t"), (value, space) => {
      const text = bytes(JSON.stringify(value, null, space));
      const { count, depth } = measured(JSON.parse(new TextDecoder().decode(text)));
      expect(countJsonValues(text)).toBe(count);
      expect([isJsonDeeperThan(text, depth - 1), isJsonDeeperThan(text, depth)]).toEqual([depth > 0, false]);
    }),
    { seed: 1, numRuns: 500 },
  );
});

it("has few values up to the limit", () => {
  const text = bytes(`[${"{},".repeat(10)}{}]`);
  expect([hasFewJsonValues(text, 10), hasFewJsonValues(text, 11)]).toEqual([false, true]);
});

it("takes no text for values, however it ends", () => {
  for (const text of ['{"a":"[[[,,,', '["\\\\",1]', '["\\"[,"]', '["a\\'])
    expect(isJsonDeeperThan(bytes(text), 1)).toBe(false);
  expect(countJsonValues(bytes('["\\\\",1]'))).toBe(2);
});
