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
  // As Go shows a list of fields. Mostly a schedule is written so; it may have a million of them.
  const spaced = oddSpace.test(spec) ? spec.replace(/\s+/g, " ") : spec;
  const count = countOf(spaced);
  if (count !== fields.length) return `expected exactly ${fields.length} fields, found ${count}: [${spaced}]`;
  for (const [at, field] of spaced.split(" ").entries()) {
    const error = fieldError(field, fields[at] as Bounds);
    if (error !== undefined) return error;
  }
  return undefined;
}

const oddSpace = /[^\S ]| {2}/;

/** How many texts a blank each keeps apart. */
function countOf(spaced: string): number {
  let count = spaced === "" ? 0 : 1;
  for (let at = spaced.indexOf(" "); at >= 0; at = spaced.indexOf(" ", at + 1)) count++;
  return count;
}

/** There are few ranges, and a long field has each of them again and again. */
function fieldError(field: string, bounds: Bounds): string | undefined {
  const sound = new Set([""]);
  for (const range of field.split(",")) {
    if (sound.has(range)) continue;
    const error = rangeError(range, bounds);
    if (error !== undefined) return error;
    sound.add(range);
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
