import { expect, it } from "vitest";
import { type Bench, measure, summary } from "./harness.ts";

const writes: Bench = { name: "store.writes", unit: "writes/s", target: 100, run: () => 0 };
const bytes: Bench = { name: "store.bytes", unit: "bytes", target: 100, run: () => 0 };

it("takes the median, and says how far it is beyond the target", () => {
  expect(summary(writes, [300, 100, 200])).toEqual({
    name: "store.writes",
    unit: "writes/s",
    min: 100,
    median: 200,
    max: 300,
    rounds: 3,
    target: 100,
    ratio: 2,
  });
  expect(summary(bytes, [50])).toMatchObject({ median: 50, ratio: 2 });
});

it("leans to the worse side when two are in the middle", () => {
  expect(summary(writes, [1, 2]).median).toBe(1);
  expect(summary(bytes, [1, 2]).median).toBe(2);
});

it("leaves warm-up rounds out", async () => {
  let round = 0;
  const measured = await measure({ name: "a", unit: "n", run: async () => round++ }, 3, 2);
  expect(measured).toEqual({ name: "a", unit: "n", min: 2, median: 3, max: 4, rounds: 3 });
});

it("refuses a figure that is none", async () => {
  await expect(measure({ name: "a", unit: "n", run: () => Number.NaN }, 1)).rejects.toThrow("a returned NaN");
});
