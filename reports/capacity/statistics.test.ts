import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LatencyHistogram } from "./latency-histogram.ts";
import { difference, estimate, tDistribution, tQuantile } from "./statistics.ts";

describe("Student's t", () => {
  /** Two-sided 95 % and 99 %, from the published tables. */
  it.each([
    [1, 12.706, 63.657],
    [2, 4.303, 9.925],
    [5, 2.571, 4.032],
    [10, 2.228, 3.169],
    [30, 2.042, 2.75],
    [120, 1.98, 2.617],
  ])("with %d degrees of freedom is as in the tables", (freedom, at95, at99) => {
    expect(tQuantile(0.975, freedom)).toBeCloseTo(at95, 2);
    expect(tQuantile(0.995, freedom)).toBeCloseTo(at99, 2);
    expect(tDistribution(at95, freedom)).toBeCloseTo(0.975, 3);
  });
});

describe("an interval of confidence", () => {
  it("is that of the textbook", () => {
    const found = estimate([4, 5, 6, 7, 8]);
    expect(found?.mean).toBe(6);
    expect(found?.halfWidth).toBeCloseTo(2.776 * Math.sqrt(2.5 / 5), 2);
    expect(estimate([])).toBeUndefined();
    expect(estimate([3])).toEqual({ mean: 3, halfWidth: 0, count: 1 });
  });
});

describe("a difference", () => {
  it("of pairs is not hidden by what both have in common", () => {
    const before = [100, 200, 300, 400, 500];
    const after = before.map((value, index) => value * 1.05 + (index % 2));
    expect(difference(before, after, true)?.chance).toBeLessThan(0.05);
    expect(difference(before, after, false)?.chance).toBeGreaterThan(0.5);
  });

  it("of the same is none", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { minLength: 1 }), (values) => {
        expect(difference(values, values, true)).toMatchObject({ relative: 0, chance: 1 });
      }),
    );
  });
});

describe("a histogram of latencies", () => {
  const values = fc.array(fc.nat({ max: 2 ** 40 }), { minLength: 1, maxLength: 200 });
  const filled = (all: readonly number[]): LatencyHistogram => {
    const histogram = new LatencyHistogram();
    for (const value of all) histogram.add(value);
    return histogram;
  };

  it("says percentiles at most 3.2 % above the true ones", () => {
    fc.assert(
      fc.property(values, fc.integer({ min: 1, max: 100 }), (all, percent) => {
        const sorted = all.toSorted((one, other) => one - other);
        const exact = sorted[Math.ceil((percent * all.length) / 100) - 1] as number;
        const said = filled(all).percentile(percent) as number;
        expect(said).toBeGreaterThanOrEqual(exact);
        expect(said).toBeLessThanOrEqual(exact * 1.032 + 1);
      }),
    );
  });

  it("merges to that of the whole, in whatever order", () => {
    fc.assert(
      fc.property(values, values, (one, other) => {
        const merged = LatencyHistogram.of([filled(other).data(), filled(one).data()]);
        expect(merged.data()).toEqual(filled([...one, ...other]).data());
      }),
    );
  });
});
