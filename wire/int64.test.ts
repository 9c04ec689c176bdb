import fc from "fast-check";
import { expect, it, vi } from "vitest";
import { int64OfDecimal } from "./int64.ts";

it.each<[string, bigint | undefined]>([
  ["0", 0n],
  ["-0", 0n],
  ["+7", 7n],
  ["-7", -7n],
  ["007", 7n],
  [`-${"0".repeat(50)}7`, -7n],
  ["9223372036854775807", 9_223_372_036_854_775_807n],
  ["9223372036854775808", undefined],
  ["-9223372036854775808", -9_223_372_036_854_775_808n],
  ["-9223372036854775809", undefined],
  ["10000000000000000000", undefined],
  ["", undefined],
  ["+", undefined],
  ["+-1", undefined],
  ["1.0", undefined],
  ["1\n", undefined],
])("%s is %s", (text, value) => {
  expect(int64OfDecimal(text)).toBe(value);
});

it("reads what was written", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 65n), max: 2n ** 65n }), (value) => {
      const isFit = BigInt.asIntN(64, value) === value;
      expect(int64OfDecimal(String(value))).toBe(isFit ? value : undefined);
    }),
    { seed: 1 },
  );
});

it("makes no number of more digits than can mean something", () => {
  const made = vi.spyOn(globalThis, "BigInt");
  const texts = ["9".repeat(100_000), `-${"0".repeat(100_000)}9`];
  expect(texts.map(int64OfDecimal)).toEqual([undefined, -9n]);
  const lengths = made.mock.calls.map(([digits]) => String(digits).length);
  made.mockRestore();
  expect(Math.max(...lengths)).toBeLessThanOrEqual(19);
});
