import { expect, it } from "vitest";
import { clockSkewMillis } from "./clock-skew.ts";

const at = (sentAtMillis: number, date: string | undefined, tookMillis = 10) => ({
  sentAtMillis,
  endedAtMillis: sentAtMillis + tookMillis,
  headers: date === undefined ? {} : { date },
});
const noon = Date.parse("2026-01-01T12:00:00Z");

it("finds one clock where one will do", () => {
  expect(clockSkewMillis([])).toBe(0);
  expect(clockSkewMillis([at(noon, undefined)])).toBe(0);
  expect(
    clockSkewMillis([at(noon + 100, "Thu, 01 Jan 2026 12:00:00 GMT"), at(noon + 900, "Thu, 01 Jan 2026 12:00:00 GMT")]),
  ).toBe(0);
  expect(
    clockSkewMillis([at(noon, "Thu, 01 Jan 2026 12:01:00 GMT"), at(noon + 5000, "Thu, 01 Jan 2026 12:01:05 GMT")]),
  ).toBe(0);
});

it("knows that a clock does not go back, by however little two dates show it", () => {
  // The second was asked for once the first had come, and its date is before the first one's.
  const [first, second] = [
    at(noon + 200, "Thu, 01 Jan 2026 12:00:01 GMT"),
    at(noon + 210, "Thu, 01 Jan 2026 12:00:00 GMT"),
  ];
  expect(clockSkewMillis([first, second])).toBe(1);
  expect(clockSkewMillis([second, at(noon + 220, "Thu, 01 Jan 2026 12:00:01 GMT")])).toBe(0);
});

it("finds how far two clocks are apart", () => {
  const found = clockSkewMillis([
    at(noon, "Thu, 01 Jan 2026 12:00:05 GMT"),
    at(noon + 20, "Thu, 01 Jan 2026 11:59:58 GMT"),
  ]);
  expect(found).toBeGreaterThan(5900);
  expect(found).toBeLessThanOrEqual(7000);
});
