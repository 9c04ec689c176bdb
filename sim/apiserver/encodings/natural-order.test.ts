import fc from "fast-check";
import { expect, it } from "vitest";
import { naturalOrder, sortedAtOnce, sortNaturally } from "./natural-order.ts";

/** Every pair of each list is compared both ways. */
it.each([
  [["", "-", "0", "1", "2", "10", "A", "a", "a0", "a1", "a01", "a2", "a10", "aa", "é"]],
  [["k1", "k1.0", "k1.2", "k1.10", "k2", "k10", "k100", "ka"]],
  [["v1-😀", "v1a"]],
])("keys are in their natural order: %j", (keys) => {
  for (const [at, left] of keys.entries()) {
    for (const [other, right] of keys.entries()) {
      expect([left, right, Math.sign(naturalOrder(left, right))]).toEqual([left, right, Math.sign(at - other)]);
    }
  }
});

it("many keys are put in order in steps, as they would be at once", () => {
  const count = fc.integer({ min: 1, max: 7 * sortedAtOnce });
  fc.assert(
    fc.property(count, fc.integer({ min: 1, max: 50_000 }), (length, factor) => {
      const keys = Array.from({ length }, (_, at) => `k${(at * factor) % 99_991}.${at % 3}`);
      const atOnce = keys.toSorted(naturalOrder);
      const steps = [...sortNaturally(keys)].length;
      expect(keys).toEqual(atOnce);
      expect(steps).toBeGreaterThanOrEqual(Math.ceil(length / sortedAtOnce));
    }),
    { seed: 1, numRuns: 30 },
  );
});
