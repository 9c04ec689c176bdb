import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatMicroTime, formatTime, parseMicroTime, parseTime } from "./time.ts";

const secondsMin = -62_167_219_200; // 0000-01-01T00:00:00Z
const secondsMax = 253_402_300_799; // 9999-12-31T23:59:59Z
const second = fc.integer({ min: secondsMin, max: secondsMax });

/** What `Date` says, with its years beyond the first millennium written as ours. */
const dateText = (seconds: number): string => new Date(seconds * 1000).toISOString().replace(".000Z", "Z");

describe("time: writing", () => {
  it("agrees with Date over all years", () => {
    fc.assert(
      fc.property(second, (seconds) => {
        expect(formatTime(seconds)).toBe(dateText(seconds));
      }),
      { seed: 1, numRuns: 3000 },
    );
  });

  it("agrees with Date around every turn of a year, century and leap day", () => {
    for (let year = 0; year < 9999; year += 1) {
      const newYear = new Date(Date.UTC(2000, 0, 1));
      newYear.setUTCFullYear(year);
      const seconds = newYear.getTime() / 1000;
      for (const days of [-1, 0, 58, 59, 60, 365]) {
        const at = Math.min(Math.max(seconds + days * 86_400, secondsMin), secondsMax);
        if (formatTime(at) !== dateText(at)) expect(formatTime(at)).toBe(dateText(at));
      }
    }
  });

  it("writes six digits of fraction, always forwards", () => {
    expect(formatMicroTime({ seconds: 0, micros: 0 })).toBe("1970-01-01T00:00:00.000000Z");
    expect(formatMicroTime({ seconds: 1_795_228_888, micros: 123 })).toBe("2026-11-21T02:41:28.000123Z");
    expect(formatMicroTime({ seconds: -1, micros: 999_999 })).toBe("1969-12-31T23:59:59.999999Z");
  });
});

describe("time: reading", () => {
  it("reads back what it writes", () => {
    fc.assert(
      fc.property(second, fc.integer({ min: 0, max: 999_999 }), (seconds, micros) => {
        expect(parseTime(formatTime(seconds))).toEqual({ seconds, micros: 0 });
        expect(parseMicroTime(formatMicroTime({ seconds, micros }))).toEqual({ seconds, micros });
        expect(parseTime(formatMicroTime({ seconds, micros }))).toEqual({ seconds, micros });
      }),
      { seed: 2, numRuns: 2000 },
    );
  });

  it("agrees with Date on offsets", () => {
    const offset = fc.tuple(
      fc.constantFrom("+", "-"),
      fc.integer({ min: 0, max: 23 }),
      fc.integer({ min: 0, max: 59 }),
    );
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4_000_000_000 }), offset, (seconds, [sign, hours, minutes]) => {
        const two = (part: number): string => String(part).padStart(2, "0");
        const text = formatTime(seconds).replace("Z", `${sign}${two(hours)}:${two(minutes)}`);
        expect(parseTime(text)).toEqual({ seconds: Date.parse(text) / 1000, micros: 0 });
      }),
      { seed: 3, numRuns: 1000 },
    );
  });

  it.each([
    ["2024-02-29T00:00:00Z", 1_709_164_800, 0],
    ["2024-01-01T2:00:00Z", 1_704_074_400, 0],
    ["2024-01-01T00:00:00.5Z", 1_704_067_200, 500_000],
    ["2024-01-01T00:00:00,123456789Z", 1_704_067_200, 123_456],
    ["2024-01-01T00:00:00+24:60", 1_703_977_200, 0],
    ["1970-01-01T00:00:00Z", 0, 0],
  ])("%s", (text, seconds, micros) => {
    expect(parseTime(text)).toEqual({ seconds, micros });
  });

  const layout = '"2006-01-02T15:04:05Z07:00"';
  it.each([
    ["", `parsing time "" as ${layout}: cannot parse "" as "2006"`],
    ["yesterday", `parsing time "yesterday" as ${layout}: cannot parse "yesterday" as "2006"`],
    [
      "20a4-01-01T00:00:00Z",
      `parsing time "20a4-01-01T00:00:00Z" as ${layout}: cannot parse "20a4-01-01T00:00:00Z" as "2006"`,
    ],
    ["2024/01", `parsing time "2024/01" as ${layout}: cannot parse "/01" as "-"`],
    ["2024-1-01T00:00:00Z", `parsing time "2024-1-01T00:00:00Z" as ${layout}: cannot parse "1-01T00:00:00Z" as "01"`],
    ["2024-01-01 00:00:00Z", `parsing time "2024-01-01 00:00:00Z" as ${layout}: cannot parse " 00:00:00Z" as "T"`],
    ["2024-01-01T00:00:00", `parsing time "2024-01-01T00:00:00" as ${layout}: cannot parse "" as "Z07:00"`],
    ["2024-01-01T00:00:00z", `parsing time "2024-01-01T00:00:00z" as ${layout}: cannot parse "z" as "Z07:00"`],
    [
      "2024-01-01T00:00:00+0000",
      `parsing time "2024-01-01T00:00:00+0000" as ${layout}: cannot parse "+0000" as "Z07:00"`,
    ],
    ["2024-01-01T00:00:00Zé", String.raw`parsing time "2024-01-01T00:00:00Z\xc3\xa9": extra text: "\xc3\xa9"`],
    ["2024-13-01T00:00:00Z", `parsing time "2024-13-01T00:00:00Z": month out of range`],
    ["2023-02-29T00:00:00Z", `parsing time "2023-02-29T00:00:00Z": day out of range`],
    ["2024-01-00T00:00:00Z", `parsing time "2024-01-00T00:00:00Z": day out of range`],
    ["2024-01-01T24:00:00Z", `parsing time "2024-01-01T24:00:00Z": hour out of range`],
    ["2024-01-01T00:60:00Z", `parsing time "2024-01-01T00:60:00Z": minute out of range`],
    ["2024-01-01T00:00:60Z", `parsing time "2024-01-01T00:00:60Z": second out of range`],
  ])("refuses %j", (text, error) => {
    expect(parseTime(text)).toEqual({ error });
  });

  const microLayout = '"2006-01-02T15:04:05.000000Z07:00"';
  it.each([
    ["2024-01-01T00:00:00Z", `cannot parse "Z" as ".000000"`],
    ["2024-01-01T00:00:00.12345Z", `cannot parse ".12345Z" as ".000000"`],
    ["2024-01-01T00:00:00.1234567Z", `cannot parse "7Z" as "Z07:00"`],
  ])("a micro time refuses %j", (text, rest) => {
    expect(parseMicroTime(text)).toEqual({ error: `parsing time "${text}" as ${microLayout}: ${rest}` });
  });
});
