import fc from "fast-check";
import { expect, it } from "vitest";
import { humanDuration } from "./human-duration.ts";

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

it.each([
  [-2, "<invalid>"],
  [-1, "0s"],
  [-0.5, "0s"],
  [0, "0s"],
  [62, "62s"],
  [119.9, "119s"],
  [120, "2m"],
  [200, "3m20s"],
  [10 * minute + 5, "10m"],
  [3 * hour - 1, "179m"],
  [3 * hour, "3h"],
  [5 * hour + 10 * minute, "5h10m"],
  [8 * hour + 59 * minute, "8h"],
  [47 * hour, "47h"],
  [2 * day, "2d"],
  [2 * day + 3 * hour, "2d3h"],
  [8 * day + 3 * hour, "8d"],
  [400 * day, "400d"],
  [730 * day, "2y"],
  [3 * 365 * day + 20 * day, "3y20d"],
  [10 * 365 * day + 20 * day, "10y"],
])("%s seconds are %s", (seconds, text) => {
  expect(humanDuration(seconds)).toBe(text);
});

it("never says more than has passed, and less than a tenth too little", () => {
  const units: Readonly<Record<string, number>> = { s: 1, m: minute, h: hour, d: day, y: 365 * day };
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 20 * 365 * day }), (seconds) => {
      const parts = humanDuration(seconds).matchAll(/(\d+)([smhdy])/g);
      const said = Array.from(parts, ([, count, unit]) => Number(count) * (units[unit as string] as number));
      const total = said.reduce((sum, part) => sum + part, 0);
      expect(total).toBeLessThanOrEqual(seconds);
      expect(seconds - total).toBeLessThanOrEqual(seconds / 8);
    }),
    { seed: 3, numRuns: 2_000 },
  );
});
