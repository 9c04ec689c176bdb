import { describe, expect, it } from "vitest";
import { parseDuration, parseGoDuration } from "./durations.ts";

const second = 1_000_000_000n;

describe("durations: reading", () => {
  it.each<[text: string, nanos: bigint]>([
    ["0", 0n],
    ["-0", 0n],
    ["5s", 5n * second],
    ["+5s", 5n * second],
    ["-1.5h", -5400n * second],
    ["5.0s", 5n * second],
    ["5.s", 5n * second],
    [".5s", second / 2n],
    ["1.004s", 1_004_000_000n],
    ["10ns", 10n],
    ["11us", 11_000n],
    ["12\u00b5s", 12_000n],
    ["12\u03bcs", 12_000n],
    ["3h30m", 12_600n * second],
    ["10.5s4m", 250_500_000_000n],
    ["1h2m3s4ms5us6ns", 3_723_004_005_006n],
    ["39h9m14.425s", 140_954_425_000_000n],
    ["52763797000ns", 52_763_797_000n],
    ["0.3333333333333333333h", 1200n * second],
    ["0.100000000000000000000h", 360n * second],
    ["0.830103483285477580700h", 2_988_372_539_827n],
    ["9223372036854775807ns", 2n ** 63n - 1n],
    ["9223372036s854ms775us807ns", 2n ** 63n - 1n],
    ["-9223372036854775808ns", -(2n ** 63n)],
    ["0.9223372036854775807h", 3_320_413_933_267n],
    ["1s1s", 2n * second],
  ])("%s", (text, nanos) => {
    expect(parseDuration(text)).toBe(nanos);
  });

  it.each([
    ["", 'time: invalid duration ""'],
    ["3", 'time: missing unit in duration "3"'],
    ["-", 'time: invalid duration "-"'],
    ["s", 'time: invalid duration "s"'],
    [".", 'time: invalid duration "."'],
    [".s", 'time: invalid duration ".s"'],
    ["1d", 'time: unknown unit "d" in duration "1d"'],
    ["1 s", 'time: unknown unit " s" in duration "1 s"'],
    ["1.2.3s", 'time: missing unit in duration "1.2.3s"'],
    ["--1s", 'time: invalid duration "--1s"'],
    ["1constructor", 'time: unknown unit "constructor" in duration "1constructor"'],
    ['1"é', String.raw`time: unknown unit "\"\xc3\xa9" in duration "1\"\xc3\xa9"`],
    ["9223372036854775808ns", 'time: invalid duration "9223372036854775808ns"'],
    ["3000000h", 'time: invalid duration "3000000h"'],
    ["-9223372036854775809ns", 'time: invalid duration "-9223372036854775809ns"'],
  ])("refuses %j", (text, error) => {
    expect(parseDuration(text)).toEqual({ error });
    expect(parseGoDuration(text)).toBeUndefined();
  });

  it("gives whole microseconds where those are wanted", () => {
    expect(parseGoDuration("1.5ms")).toBe(1500);
    expect(parseGoDuration("-1999ns")).toBe(-1);
  });
});
