/**
 * Timestamps: RFC 3339 in UTC with whole seconds (`Time`) or with exactly six digits of fraction (`MicroTime`), made
 * and read by arithmetic alone, so that the simulator needs no `Date`. The reading forgives what Go's forgives, and
 * its error texts are Go's.
 * Source: the facts, section 5 (time fields); Go's time package. The calendar: civil days counted from March, in eras of 400 years.
 */
import { quoteForTime } from "./durations.ts";

export interface Instant {
  /** Since 1970-01-01T00:00:00Z; negative before. */
  readonly seconds: number;
  /** 0 … 999 999, always forwards. */
  readonly micros: number;
}

export interface TimeError {
  /** For example `parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"`. */
  readonly error: string;
}

const secondsPerDay = 86_400;

let lastSeconds = Number.NaN;
let lastText = "";

/** `2026-11-21T02:41:28Z`, from whole seconds since 1970, in the years 0 to 9999. The last answer is kept. */
export function formatTime(unixSeconds: number): string {
  if (unixSeconds !== lastSeconds) {
    lastText = textOf(unixSeconds);
    lastSeconds = unixSeconds;
  }
  return lastText;
}

/** `2026-11-21T02:41:28.000123Z`. */
export function formatMicroTime({ seconds, micros }: Instant): string {
  // Joined, it is one text: a template would leave a tree of its pieces, which every lease and event would keep.
  return [formatTime(seconds).slice(0, -1), ".", String(micros).padStart(6, "0"), "Z"].join("");
}

function textOf(unixSeconds: number): string {
  const days = Math.floor(unixSeconds / secondsPerDay);
  const rest = unixSeconds - days * secondsPerDay;
  const { year, month, day } = civilOfDays(days);
  const [hour, minute, second] = [Math.floor(rest / 3600), Math.floor(rest / 60) % 60, rest % 60];
  const date = [String(year).padStart(4, "0"), two(month), two(day)].join("-");
  return [date, "T", [two(hour), two(minute), two(second)].join(":"), "Z"].join("");
}

const two = (part: number): string => (part < 10 ? `0${part}` : String(part));

/** Days since 1970-01-01 to a date. A year that begins in March has its leap day last, which makes months regular. */
function civilOfDays(days: number): { year: number; month: number; day: number } {
  const fromMarch = days + 719_468; // days since 0000-03-01
  const era = Math.floor(fromMarch / 146_097);
  const dayOfEra = fromMarch - era * 146_097;
  const leaps = Math.floor(dayOfEra / 1460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor((dayOfEra - leaps) / 365);
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

function daysOfCivil(year: number, month: number, day: number): number {
  const marchYear = month <= 2 ? year - 1 : year;
  const era = Math.floor(marchYear / 400);
  const yearOfEra = marchYear - era * 400;
  const dayOfYear = Math.floor((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

function daysInMonth(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** A `Time` as clients may send it: any offset, any fraction, even an hour of one digit. */
export function parseTime(text: string): Instant | TimeError {
  return parse(text, "2006-01-02T15:04:05Z07:00", false);
}

/** A `MicroTime`: the fraction must have exactly six digits. */
export function parseMicroTime(text: string): Instant | TimeError {
  return parse(text, "2006-01-02T15:04:05.000000Z07:00", true);
}

class Rejected extends Error {}

const common = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{6}))?Z$/;

function parse(text: string, layout: string, micro: boolean): Instant | TimeError {
  const quick = common.exec(text);
  if (quick !== null && (quick[7] !== undefined) === micro) {
    const [, year, month, day, hour, minute, second, fraction] = quick.map(Number) as number[];
    const instant = instantOf([year, month, day, hour, minute, second] as Civil, micro ? (fraction as number) : 0, 0);
    if (instant !== undefined) return instant;
  }
  try {
    return new TimeReader(text, layout).read(micro);
  } catch (error) {
    if (error instanceof Rejected) return { error: error.message };
    throw error;
  }
}

type Civil = readonly [year: number, month: number, day: number, hour: number, minute: number, second: number];

/** Undefined when a part is out of range. */
function instantOf(civil: Civil, micros: number, offsetSeconds: number): Instant | undefined {
  const [year, month, day, hour, minute, second] = civil;
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  const days = daysOfCivil(year, month, day);
  return { seconds: days * secondsPerDay + hour * 3600 + minute * 60 + second - offsetSeconds, micros };
}

/** Reads part by part as the layout goes, so that an error names the part and what is left of the text. */
class TimeReader {
  private readonly text: string;
  private readonly layout: string;
  private rest: string;

  constructor(text: string, layout: string) {
    this.text = text;
    this.layout = layout;
    this.rest = text;
  }

  read(micro: boolean): Instant {
    const year = this.number(/^\d{4}/, "2006");
    this.literal("-");
    const month = this.number(/^\d\d/, "01", 1, 12, "month");
    this.literal("-");
    const day = this.number(/^\d\d/, "02");
    this.literal("T");
    const hour = this.number(/^\d\d?/, "15", 0, 23, "hour");
    this.literal(":");
    const minute = this.number(/^\d\d/, "04", 0, 59, "minute");
    this.literal(":");
    const second = this.number(/^\d\d/, "05", 0, 59, "second");
    const fraction = micro ? this.take(/^[.,]\d{6}/, ".000000") : (/^[.,]\d+/.exec(this.rest)?.[0] ?? "");
    if (!micro) this.rest = this.rest.slice(fraction.length);
    const offsetSeconds = this.offset();
    if (this.rest !== "") throw this.rejected(`: extra text: ${quoteForTime(this.rest)}`);
    const micros = Number(fraction.slice(1, 7).padEnd(6, "0"));
    const instant = instantOf([year, month, day, hour, minute, second], micros, offsetSeconds);
    if (instant === undefined) throw this.rejected(": day out of range"); // the last part that nothing has judged
    return instant;
  }

  private offset(): number {
    if (this.rest.startsWith("Z")) {
      this.rest = this.rest.slice(1);
      return 0;
    }
    const zone = this.take(/^[+-]\d\d:\d\d/, "Z07:00");
    const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(4, 6))];
    if (hours > 24) throw this.rejected(": time zone offset hour out of range");
    if (minutes > 60) throw this.rejected(": time zone offset minute out of range");
    return (hours * 60 + minutes) * (zone.startsWith("-") ? -60 : 60);
  }

  private number(pattern: RegExp, element: string, min = 0, max = 9999, name = ""): number {
    const value = Number(this.take(pattern, element));
    if (value < min || value > max) throw this.rejected(`: ${name} out of range`);
    return value;
  }

  private literal(char: string): void {
    if (!this.rest.startsWith(char)) throw this.cannotParse(char);
    this.rest = this.rest.slice(1);
  }

  private take(pattern: RegExp, element: string): string {
    const match = pattern.exec(this.rest)?.[0];
    if (match === undefined) throw this.cannotParse(element);
    this.rest = this.rest.slice(match.length);
    return match;
  }

  private cannotParse(element: string): Rejected {
    const text = quoteForTime(this.text);
    const rest = this.rest === this.text ? text : quoteForTime(this.rest);
    const [layout, wanted] = [quoteForTime(this.layout), quoteForTime(element)];
    return new Rejected(`parsing time ${text} as ${layout}: cannot parse ${rest} as ${wanted}`);
  }

  private rejected(reason: string): Rejected {
    return new Rejected(`parsing time ${quoteForTime(this.text)}${reason}`);
  }
}
