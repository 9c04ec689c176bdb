import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LatencyHistogram } from "../capacity/latency-histogram.ts";
import type { CapacityRun } from "../schema/capacity-report.ts";
import { curve, logTicks, percentilesOverTime } from "./capacity-charts.ts";

const part = (...micros: readonly number[]) => {
  const histogram = new LatencyHistogram();
  for (const each of micros) histogram.add(each);
  return histogram.data();
};

const run = {
  partMicros: 1_000_000,
  byWho: [{ who: "agents", seconds: [1, 1, 0, 0, 1, 1, 0, 0] }],
  latencyOverTime: [{ sli: "get", parts: [part(400), part(500), part(), part(), part(900), part(2000)] }],
} as unknown as CapacityRun;

it("draws no line over seconds in which nothing was asked, on the scale of the whole run", () => {
  const { markup } = percentilesOverTime(run, "get") ?? { markup: "" };
  const lines = [...markup.matchAll(/ d="([^"]*)"/g)].map(([, path = ""]) => path.split("M").length - 1);
  expect(lines).toContain(2);
  expect(markup).toContain(">7</text>");
  expect(markup).toMatch(/>\d+ µs<\/text>/);
});

it("tells amounts as the tables beside it do", () => {
  const at = (x: number, y: number) => ({ x, y, low: y, high: y });
  expect(curve("store", "bytes", [at(1, 0), at(2, 3e6)], "nodes").markup).toContain(">3.00 MB</text>");
});

it("names both ends of a scale, however near the values lie to each other", () => {
  const near = { ...run, latencyOverTime: [{ sli: "get", parts: [part(360), part(423)] }] } as unknown as CapacityRun;
  const { markup } = percentilesOverTime(near, "get") ?? { markup: "" };
  expect(markup).toContain(">200 µs</text>");
  expect(markup).toContain(">500 µs</text>");
});

describe("ticks of a logarithmic scale", () => {
  it.each([
    [
      [0.36, 0.423],
      [0.2, 0.5],
    ],
    [[1], [1, 2]],
    [
      [0.01, 3],
      [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5],
    ],
    [
      [29.4, 29.5],
      [20, 50],
    ],
  ])("for %j are %j", (values, ticks) => expect(logTicks(values)).toEqual(ticks));

  it("lie around all values, in order, and are two at least", () => {
    const value = fc.double({ min: 0.01, max: 1e7, noNaN: true });
    fc.assert(
      fc.property(fc.array(value, { minLength: 1 }), (values) => {
        const ticks = logTicks(values);
        expect(ticks.length).toBeGreaterThan(1);
        expect([...ticks].sort((one, other) => one - other)).toEqual(ticks);
        expect(ticks[0]).toBeLessThanOrEqual(Math.min(...values));
        expect(ticks.at(-1)).toBeGreaterThanOrEqual(Math.max(...values));
      }),
      { seed: 1 },
    );
  });
});
