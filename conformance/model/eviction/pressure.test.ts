import { describe, expect, it } from "vitest";
import { history, reading } from "./hand-written.fixture.ts";
import { describeReading, describeThreshold, isReported, pressuresOf } from "./pressure.ts";

describe("pressure", () => {
  const settings = {
    evictionHard: { "memory.available": "10%" },
    evictionSoft: { "memory.available": "20" },
    evictionSoftGracePeriod: { "memory.available": "10s" },
    evictionMinimumReclaim: { "memory.available": "5" },
  };
  const shown = (available: readonly number[]) => {
    const { rules, readings } = history(settings, available);
    return pressuresOf(rules, readings).map(({ held, driving }) => [held.length, driving.length]);
  };

  it("is held at once, drives after its grace period, and goes when the minimum reclaim is there", () => {
    expect(shown([20, 19, 19, 24, 25])).toEqual([
      [0, 0],
      [1, 0],
      [1, 1],
      [1, 1],
      [0, 0],
    ]);
  });
  it("that never drove asks for no minimum reclaim", () => {
    expect(shown([19, 20, 19])).toEqual([
      [1, 0],
      [0, 0],
      [1, 0],
    ]);
  });
  it("of a hard threshold drives at once", () => {
    expect(shown([9])).toEqual([[2, 1]]);
  });
  it("of what cannot be observed is none", () => {
    const { rules } = history(settings, []);
    const [pressure] = pressuresOf(rules, [{ ...reading(0, 0), signals: {} }]);
    expect(pressure?.held).toEqual([]);
  });
  it("ends where it can be observed no more, and is stale where the figures are the old ones", () => {
    const { rules } = history(settings, []);
    const old = { ...reading(10_000, 9), takenMillis: 0 };
    const unseen = { ...reading(20_000, 0), signals: {} };
    const pressures = pressuresOf(rules, [reading(0, 9), old, unseen, reading(30_000, 9)]);
    expect(pressures.map(({ held, stale }) => [held.length, stale])).toEqual([
      [2, false],
      [2, true],
      [0, false],
      [2, false],
    ]);
  });
  it("is reported while it is held and for the transition period after it, and not before", () => {
    const { rules, readings } = history(settings, [30, 15, 30, 30]);
    const reported = (millis: number) =>
      pressuresOf(rules, readings).map((pressure) => isReported("MemoryPressure", pressure, millis));
    expect(reported(20_000)).toEqual([false, true, true, false]);
    expect(reported(20_001)).toEqual([false, true, true, true]);
    expect(pressuresOf(rules, readings).some((pressure) => isReported("DiskPressure", pressure, 20_000))).toBe(false);
  });
  it("is described by thresholds and readings", () => {
    const { rules } = history(settings, []);
    expect(rules.thresholds.map(describeThreshold)).toEqual([
      "memory.available<10.0000%",
      "memory.available<20 for 10000 ms",
    ]);
    expect(describeReading(reading(7, 9))).toBe("at 7 ms: memory.available 9 of 100");
  });
});
