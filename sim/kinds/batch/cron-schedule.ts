/**
 * The grammar of schedules: five fields, or a word for a usual one. A reading of the published parser, whose texts say
 * what is wrong. Simplification: zones are not looked up, and of a duration only its form is judged.
 */
import { parseGoDuration } from "../../../wire/durations.ts";

interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const fields: readonly Bounds[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: ["", ..."jan feb mar apr may jun jul aug sep oct nov dec".split(" ")] },
  { min: 0, max: 6, names: "sun mon tue wed thu fri sat".split(" ") },
];
const words = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];

/** Why the schedule cannot be read; undefined when it can. */
export function scheduleError(schedule: string): string | undefined {
  const zoned = /^(?:TZ|CRON_TZ)=\S*\s(.*)$/s.exec(schedule);
  const spec = (zoned?.[1] ?? schedule).trim();
  if (spec.startsWith("@")) return wordError(spec);
  const given = spec.split(/\s+/).filter((field) => field !== "");
  if (given.length !== fields.length) {
    return `expected exactly ${fields.length} fields, found ${given.length}: [${given.join(" ")}]`;
  }
  for (const [at, bounds] of fields.entries()) {
    for (const range of (given[at] as string).split(",")) {
      const error = range === "" ? undefined : rangeError(range, bounds);
      if (error !== undefined) return error;
    }
  }
  return undefined;
}

function wordError(word: string): string | undefined {
  if (words.includes(word)) return undefined;
  const every = "@every ";
  if (!word.startsWith(every)) return `unrecognized descriptor: ${word}`;
  const duration = parseGoDuration(word.slice(every.length));
  return duration === undefined
    ? `failed to parse duration ${word}: time: invalid duration ${JSON.stringify(word.slice(every.length))}`
    : undefined;
}

/** `*`, `5`, `1-5`, each with a step or without. */
function rangeError(range: string, { min, max, names }: Bounds): string | undefined {
  const [part = "", step, ...moreSteps] = range.split("/");
  const [low = "", high, ...moreEnds] = part.split("-");
  const isAll = low === "*" || low === "?";
  const start = isAll ? min : numberOf(low, names);
  if (typeof start === "string") return start;
  if (!isAll && moreEnds.length > 0) return `too many hyphens: ${range}`;
  let end = isAll ? max : high === undefined ? start : numberOf(high, names);
  if (typeof end === "string") return end;
  if (moreSteps.length > 0) return `too many slashes: ${range}`;
  const by = step === undefined ? 1 : numberOf(step);
  if (typeof by === "string") return by;
  if (step !== undefined && high === undefined) end = max;
  if (start < min) return `beginning of range (${start}) below minimum (${min}): ${range}`;
  if (end > max) return `end of range (${end}) above maximum (${max}): ${range}`;
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${range}`;
  return by === 0 ? `step of range should be a positive number: ${range}` : undefined;
}

function numberOf(text: string, names: readonly string[] = []): number | string {
  const named = text === "" ? -1 : names.indexOf(text.toLowerCase());
  if (named >= 0) return named;
  if (!/^[+-]?\d+$/.test(text)) {
    return `failed to parse int from ${text}: strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`;
  }
  const number = Number(text);
  return number < 0 ? `negative number (${number}) not allowed: ${text}` : number;
}
