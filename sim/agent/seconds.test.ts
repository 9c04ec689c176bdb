import { expect, it } from "vitest";
import { microsOfSeconds } from "./seconds.ts";

it("seconds that others have written are micros that a clock counts", () => {
  expect([0, 1, 2.5].map(microsOfSeconds)).toEqual([0, 1_000_000, 2_500_000]);
  expect([-1, -Infinity, NaN].map(microsOfSeconds)).toEqual([0, 0, 0]);
  for (const seconds of [2_147_483_647, Number.MAX_SAFE_INTEGER, 2 ** 63, Infinity])
    expect(Number.isSafeInteger(2 * microsOfSeconds(seconds))).toBe(true);
});
