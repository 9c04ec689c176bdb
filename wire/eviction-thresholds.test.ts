import { describe, expect, it } from "vitest";
import { amountOf, type EvictionRules, type EvictionSettings, parseEvictionSettings } from "./eviction-thresholds.ts";

function rules(settings: EvictionSettings): EvictionRules {
  const parsed = parseEvictionSettings(settings);
  if ("error" in parsed) throw new Error(parsed.error);
  return parsed;
}

const Mi = 2 ** 20;

describe("eviction thresholds: reading", () => {
  it("reads the documents' defaults", () => {
    const parsed = rules({
      evictionHard: {
        "memory.available": "100Mi",
        "nodefs.available": "10%",
        "nodefs.inodesFree": "5%",
        "imagefs.available": "15%",
      },
    });
    expect(parsed.transitionMillis).toBe(300_000);
    expect(parsed.maxPodGraceSeconds).toBe(0);
    expect(parsed.thresholds.map(({ signal, value }) => [signal, amountOf(value, 1_000_000)])).toEqual([
      ["memory.available", 100 * Mi],
      ["nodefs.available", 100_000],
      ["nodefs.inodesFree", 50_000],
      ["imagefs.available", 150_000],
    ]);
  });

  it("gives a soft threshold its grace period, and thresholds of a signal its minimum reclaim", () => {
    const parsed = rules({
      evictionHard: { "memory.available": "100Mi" },
      evictionSoft: { "memory.available": "300M", "pid.available": "10%" },
      evictionSoftGracePeriod: { "memory.available": "1m30s", "pid.available": "0s", "nodefs.available": "1h" },
      evictionMinimumReclaim: { "memory.available": "0.5Gi" },
      evictionPressureTransitionPeriod: "30s",
      evictionMaxPodGracePeriod: -1,
    });
    expect(parsed.thresholds).toEqual([
      {
        signal: "memory.available",
        value: { amount: 100 * Mi, text: "100Mi" },
        graceMillis: 0,
        minimumReclaim: { amount: 512 * Mi, text: "512Mi" },
      },
      {
        signal: "memory.available",
        value: { amount: 300_000_000, text: "300M" },
        graceMillis: 90_000,
        minimumReclaim: { amount: 512 * Mi, text: "512Mi" },
      },
      {
        signal: "pid.available",
        value: { fraction: Math.fround(0.1) },
        graceMillis: 0,
        minimumReclaim: { amount: 0 },
      },
    ]);
    expect(parsed).toMatchObject({ transitionMillis: 30_000, maxPodGraceSeconds: -1 });
  });

  it("drops what is written as no or all percents, also without a grace period, and keeps what only means it", () => {
    const dropped = { "memory.available": "0%", "nodefs.available": "100%" };
    expect(rules({ evictionHard: dropped, evictionSoft: dropped }).thresholds).toEqual([]);
    const kept = rules({ evictionHard: { "memory.available": "0.0%", "nodefs.available": "100.0%" } }).thresholds;
    expect(kept.map(({ value }) => value)).toEqual([{ fraction: 0 }, { fraction: 1 }]);
  });

  it.each<[text: string, capacity: number, amount: number]>([
    ["15%", 100, 15], // single precision lies a little above here, and below for 7 %
    ["7%", 100, 7],
    ["10%", 2 ** 40, 109_951_164_416],
    ["33.3%", 1000, 333],
    ["1e1%", 1000, 100],
    ["5%%", 1000, 50],
    [".5%", 1000, 5],
  ])("%s of %i", (text, capacity, amount) => {
    const [threshold] = rules({ evictionHard: { "nodefs.available": text } }).thresholds;
    const fraction = Math.fround(Math.fround(Number(text.replace(/%+$/, ""))) / 100);
    expect(threshold?.value).toEqual({ fraction });
    expect(Math.abs(amountOf({ fraction }, capacity) - amount)).toBeLessThanOrEqual(Math.max(1, amount / 2 ** 23));
  });

  it("reads percentages in hexadecimal, and takes what is no number as never met", () => {
    const valueOf = (text: string) => rules({ evictionHard: { "nodefs.available": text } }).thresholds[0]?.value;
    expect(valueOf("0x1.9p+3%")).toEqual({ fraction: 0.125 });
    expect(valueOf("0X.8P5%")).toEqual({ fraction: Math.fround(0.16) });
    expect(valueOf("NaN%")).toEqual({ fraction: Number.NaN });
    expect(3 < amountOf({ fraction: Number.NaN }, 100)).toBe(false);
  });

  it("reckons a percentage in single precision and drops the rest", () => {
    // 0.15 is 0.150000005960… there, and 0.07 is 0.070000000298…; 0.29 is 0.289999991655….
    expect(amountOf({ fraction: Math.fround(0.15) }, 10 ** 12)).toBe(150_000_005_960);
    expect(amountOf({ fraction: Math.fround(0.29) }, 100)).toBe(28);
  });
});

describe("eviction thresholds: refusing", () => {
  it.each<[settings: EvictionSettings, error: RegExp]>([
    [{ evictionHard: { "memory.free": "1Gi" } }, /^unsupported eviction signal memory\.free$/],
    [{ evictionHard: { toString: "1Gi" } }, /^unsupported eviction signal toString$/],
    [{ evictionHard: { "memory.available": "0" } }, /^eviction threshold memory\.available must be positive: 0$/],
    [{ evictionHard: { "memory.available": "-1Gi" } }, /must be positive: -1Gi$/],
    [{ evictionHard: { "memory.available": "=1Gi" } }, /quantity of memory\.available cannot be read: =1Gi/],
    [{ evictionHard: { "memory.available": "-1%" } }, /must be >= 0%/],
    [{ evictionHard: { "memory.available": "101%" } }, /must be <= 100%/],
    [{ evictionHard: { "memory.available": "a%" } }, /percentage of memory\.available cannot be read: a%/],
    [{ evictionHard: { "memory.available": "%" } }, /cannot be read: %/],
    [{ evictionHard: { "memory.available": "1e39%" } }, /cannot be read: 1e39%/],
    [{ evictionHard: { "memory.available": "0x1p200%" } }, /cannot be read: 0x1p200%/],
    [{ evictionHard: { "memory.available": "0x1%" } }, /cannot be read: 0x1%/],
    [{ evictionHard: { "memory.available": "Inf%" } }, /must be <= 100%/],
    [{ evictionSoft: { "nodefs.available": "1Gi" } }, /grace period must be specified .* nodefs\.available$/],
    [{ evictionSoftGracePeriod: { "nodefs.available": "-1s" } }, /-1s, must be a positive value/],
    [{ evictionSoftGracePeriod: { "nodefs.available": "soon" } }, /grace period of nodefs\.available cannot be read/],
    [{ evictionMinimumReclaim: { "nodefs.available": "0%" } }, /minimum reclaim nodefs\.available must be positive/],
    [{ evictionMinimumReclaim: { "nodefs.available": "-1" } }, /^negative eviction minimum reclaim/],
    [{ evictionMinimumReclaim: { "a.b": "1" } }, /^unsupported eviction signal a\.b$/],
    [{ evictionPressureTransitionPeriod: "5" }, /^evictionPressureTransitionPeriod cannot be read: 5: .*missing unit/],
  ])("%j", (settings, error) => {
    expect(parseEvictionSettings(settings)).toEqual({ error: expect.stringMatching(error) });
  });

  it("accepts a minimum reclaim of nothing, and a transition in the past", () => {
    const settings = { evictionMinimumReclaim: { "nodefs.available": "0" }, evictionPressureTransitionPeriod: "-1s" };
    expect(rules(settings).transitionMillis).toBe(-1000);
  });
});
