import { expect, it } from "vitest";
import { LatencyHistogram } from "../capacity/latency-histogram.ts";
import type { CapacityRun } from "../schema/capacity-report.ts";
import { curve, percentilesOverTime } from "./capacity-charts.ts";

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
