/**
 * When schedules are due. The grammar is judged by the server (`sim/kinds`); this finds the next minute of one that it
 * has taken. Simplification: all times are UTC; time zones are not looked up.
 */
const namesOfMonths = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");
const namesOfDays = "sun mon tue wed thu fri sat".split(" ");

const words: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};

const daySeconds = 86_400;
/** A schedule that names no day of these years names none at all. */
const daysMax = 366 * 5;

interface Fields {
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly days: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  readonly weekdays: ReadonlySet<number>;
  readonly anyDay: boolean;
  readonly anyWeekday: boolean;
}

/** The first time after `seconds` since 1970; undefined when there is none. */
export type NextDue = (seconds: number) => number | undefined;

/** Of a schedule, which is read once: it may be a megabyte long. */
export function dueTimes(schedule: string): NextDue {
  const spec = schedule.replace(/^(?:TZ|CRON_TZ)=\S*\s+/, "").trim();
  const every = /^@every\s+(\d+)([smh])$/.exec(spec);
  if (every !== null) {
    const period = Math.max(1, Number(every[1]) * ({ s: 1, m: 60, h: 3600 }[every[2] as "s"] ?? 1));
    return (seconds) => seconds + period;
  }
  const fields = fieldsOf(words[spec] ?? spec);
  return (seconds) => (fields === undefined ? undefined : nextOf(fields, seconds));
}

function nextOf(fields: Fields, seconds: number): number | undefined {
  const first = Math.floor(seconds / 60) * 60 + 60;
  for (let day = Math.floor(first / daySeconds), count = 0; count < daysMax; day++, count++) {
    if (!isDay(fields, day)) continue;
    for (let hour = 0; hour < 24; hour++) {
      if (!fields.hours.has(hour)) continue;
      for (let minute = 0; minute < 60; minute++) {
        const at = day * daySeconds + hour * 3600 + minute * 60;
        if (at >= first && fields.minutes.has(minute)) return at;
      }
    }
  }
  return undefined;
}

function fieldsOf(spec: string): Fields | undefined {
  const parts = spec.split(/\s+/);
  if (parts.length !== 5) return undefined;
  const [minute = "", hour = "", day = "", month = "", weekday = ""] = parts;
  return {
    minutes: valuesOf(minute, 0, 59),
    hours: valuesOf(hour, 0, 23),
    days: valuesOf(day, 1, 31),
    months: valuesOf(month, 1, 12, ["", ...namesOfMonths]),
    weekdays: valuesOf(weekday, 0, 6, namesOfDays),
    anyDay: /^[*?]/.test(day),
    anyWeekday: /^[*?]/.test(weekday),
  };
}

function valuesOf(field: string, min: number, max: number, names: readonly string[] = []): ReadonlySet<number> {
  const values = new Set<number>();
  const numberOf = (text: string): number => {
    const named = names.indexOf(text.toLowerCase());
    return text !== "" && named >= 0 ? named : Number(text);
  };
  for (const part of new Set(field.split(","))) {
    const [range = "", step = "1"] = part.split("/");
    const [low = "", high] = range.split("-");
    const isAll = low === "*" || low === "?";
    const start = isAll ? min : numberOf(low);
    const end = isAll ? max : high !== undefined ? numberOf(high) : part.includes("/") ? max : start;
    for (let at = start; at <= end && at <= max; at += Math.max(1, Number(step))) values.add(at);
  }
  return values;
}

/** Where both days are restricted, either will do. */
function isDay({ days, months, weekdays, anyDay, anyWeekday }: Fields, day: number): boolean {
  const { month, date } = civil(day);
  if (!months.has(month)) return false;
  const byDate = days.has(date);
  const byWeekday = weekdays.has((day + 4) % 7); // 1970 began on a Thursday
  return anyDay || anyWeekday ? byDate && byWeekday : byDate || byWeekday;
}

/** Month and date of a day since 1970. Source: the well-known arithmetic of the Gregorian calendar in eras of 400 years. */
function civil(day: number): { readonly month: number; readonly date: number } {
  const shifted = day + 719_468;
  const ofEra = shifted - Math.floor(shifted / 146_097) * 146_097;
  const year = Math.floor(
    (ofEra - Math.floor(ofEra / 1460) + Math.floor(ofEra / 36_524) - Math.floor(ofEra / 146_096)) / 365,
  );
  const ofYear = ofEra - (365 * year + Math.floor(year / 4) - Math.floor(year / 100));
  const month = Math.floor((5 * ofYear + 2) / 153);
  return { month: month < 10 ? month + 3 : month - 9, date: ofYear - Math.floor((153 * month + 2) / 5) + 1 };
}
