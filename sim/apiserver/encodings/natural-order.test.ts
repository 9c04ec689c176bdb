import { expect, it } from "vitest";
import { naturalOrder } from "./natural-order.ts";

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
