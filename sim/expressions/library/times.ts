/**
 * Points in time and spans, exact to the nanosecond.
 *
 * Simplification: of time zones only UTC and fixed offsets are known; the real server also knows the names of regions.
 * Source: the published language definition; RFC 3339.
 */
import { parseDuration } from "../../../wire/durations.ts";
import { fail } from "../failures.ts";
import { Duration, Timestamp } from "../values.ts";
import { type FunctionRow, row } from "./function-row.ts";

const second = 1_000_000_000n;
const day = 86_400n * second;
/** Years 1 to 9999. */
const earliest = -62_135_596_800n * second;
const latest = 253_402_300_799n * second + second - 1n;
const spanMax = 1n << 63n;

export const checkedTimestamp = (nanos: bigint): Timestamp =>
  nanos >= earliest && nanos <= latest ? new Timestamp(nanos) : fail("timestamp overflow");

export const checkedDuration = (nanos: bigint): Duration =>
  nanos >= -spanMax && nanos < spanMax ? new Duration(nanos) : fail("duration overflow");

const grammar = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9})\d*)?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/** RFC 3339; throws for what is not. */
export function readTimestamp(text: string): Timestamp {
  const match = grammar.exec(text);
  const [year, month, date, hour, minute, seconds] = (match ?? []).slice(1, 7).map(Number) as number[];
  const [fraction = "", sign = "+", offsetHour = "0", offsetMinute = "0"] = (match ?? []).slice(7);
  if (match === null || !isCalendarTime(year, month, date, hour, minute, seconds)) {
    return fail(`invalid timestamp ${JSON.stringify(text)}`);
  }
  const offset = BigInt(Number(offsetHour) * 60 + Number(offsetMinute)) * 60n * (sign === "-" ? -1n : 1n);
  const days = BigInt(daysOf(year as number, month as number, date as number));
  const clock = BigInt((hour as number) * 3600 + (minute as number) * 60 + (seconds as number));
  return checkedTimestamp((days * 86_400n + clock - offset) * second + BigInt(fraction.padEnd(9, "0")));
}

function isCalendarTime(year = 0, month = 0, date = 0, hour = 0, minute = 0, seconds = 0): boolean {
  const { month: sameMonth, date: sameDate } = calendarOf(daysOf(year, month, date));
  return sameMonth === month && sameDate === date && month > 0 && hour < 24 && minute < 60 && seconds < 60;
}

/** Days since 1970 of a date in the Gregorian calendar; months from 1. */
function daysOf(year: number, month: number, date: number): number {
  const shifted = month > 2 ? year : year - 1;
  const era = Math.floor(shifted / 400);
  const ofEra = shifted - era * 400;
  const ofYear = Math.floor((153 * ((month + 9) % 12) + 2) / 5) + date - 1;
  return era * 146_097 + ofEra * 365 + Math.floor(ofEra / 4) - Math.floor(ofEra / 100) + ofYear - 719_468;
}

function calendarOf(days: number): { readonly year: number; readonly month: number; readonly date: number } {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const ofEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (ofEra - Math.floor(ofEra / 1460) + Math.floor(ofEra / 36_524) - Math.floor(ofEra / 146_096)) / 365,
  );
  const ofYear = ofEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const shiftedMonth = Math.floor((5 * ofYear + 2) / 153);
  const month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9;
  const date = ofYear - Math.floor((153 * shiftedMonth + 2) / 5) + 1;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, date };
}

export function formatTimestamp({ nanos }: Timestamp): string {
  const { year, month, date, hours, minutes, seconds, fraction } = partsOf(nanos);
  const two = (value: number): string => String(value).padStart(2, "0");
  const rest = fraction === 0 ? "" : `.${String(fraction).padStart(9, "0").replace(/0+$/, "")}`;
  return `${String(year).padStart(4, "0")}-${two(month)}-${two(date)}T${two(hours)}:${two(minutes)}:${two(seconds)}${rest}Z`;
}

export function readDuration(text: string): Duration {
  const nanos = parseDuration(text);
  return typeof nanos === "bigint" ? checkedDuration(nanos) : fail(`invalid duration ${JSON.stringify(text)}`);
}

/** `1.5s`. */
export function formatDuration({ nanos }: Duration): string {
  const size = nanos < 0n ? -nanos : nanos;
  const fraction = String(size % second)
    .padStart(9, "0")
    .replace(/0+$/, "");
  return `${nanos < 0n ? "-" : ""}${size / second}${fraction === "" ? "" : `.${fraction}`}s`;
}

type Parts = ReturnType<typeof partsOf>;

function partsOf(nanos: bigint) {
  const days = floorDivided(nanos, day);
  const rest = nanos - days * day;
  const clock = Number(rest / second);
  return {
    ...calendarOf(Number(days)),
    days: Number(days),
    hours: Math.floor(clock / 3600),
    minutes: Math.floor(clock / 60) % 60,
    seconds: clock % 60,
    fraction: Number(rest % second),
  };
}

const floorDivided = (value: bigint, by: bigint): bigint => (value - (((value % by) + by) % by)) / by;

/** The zone's offset in nanoseconds. */
export function zoneOffset(zone: string): bigint {
  if (zone === "" || zone === "UTC" || zone === "Z") return 0n;
  const [, sign = "+", hours = "", minutes = ""] = /^([+-]?)(\d\d):(\d\d)$/.exec(zone) ?? [];
  if (hours === "") return fail(`unknown time zone ${zone}`);
  return BigInt(Number(hours) * 60 + Number(minutes)) * 60n * second * (sign === "-" ? -1n : 1n);
}

const parts: Readonly<Record<string, (parts: Parts) => number>> = {
  getFullYear: ({ year }) => year,
  getMonth: ({ month }) => month - 1,
  getDate: ({ date }) => date,
  getDayOfMonth: ({ date }) => date - 1,
  getDayOfWeek: ({ days }) => (((days + 4) % 7) + 7) % 7,
  getDayOfYear: ({ days, year }) => days - daysOf(year, 1, 1),
  getHours: ({ hours }) => hours,
  getMinutes: ({ minutes }) => minutes,
  getSeconds: ({ seconds }) => seconds,
  getMilliseconds: ({ fraction }) => Math.floor(fraction / 1_000_000),
};

const spans: Readonly<Record<string, bigint>> = {
  getHours: 3600n * second,
  getMinutes: 60n * second,
  getSeconds: second,
};

export const times: readonly FunctionRow[] = [
  row("timestamp(timestamp): timestamp", (value: Timestamp) => value),
  row("timestamp(string): timestamp", (text: string) => readTimestamp(text)),
  row("timestamp(int): timestamp", (seconds: bigint) => checkedTimestamp(seconds * second)),
  row("duration(duration): duration", (value: Duration) => value),
  row("duration(string): duration", (text: string) => readDuration(text)),
  row("duration(int): duration", (nanos: bigint) => checkedDuration(nanos)),
  row("int(timestamp): int", ({ nanos }: Timestamp) => floorDivided(nanos, second)),
  row("int(duration): int", ({ nanos }: Duration) => nanos),
  ...Object.entries(parts).flatMap(([name, part]) => [
    row(`timestamp.${name}(): int`, ({ nanos }: Timestamp) => BigInt(part(partsOf(nanos)))),
    row(`timestamp.${name}(string): int`, ({ nanos }: Timestamp, zone: string) =>
      BigInt(part(partsOf(nanos + zoneOffset(zone)))),
    ),
  ]),
  ...Object.entries(spans).map(([name, unit]) => row(`duration.${name}(): int`, ({ nanos }: Duration) => nanos / unit)),
  row("duration.getMilliseconds(): int", ({ nanos }: Duration) => (nanos % second) / 1_000_000n),
];
