/**
 * Functions of texts. Positions count characters, as the language does, and not the halves that JavaScript counts.
 * Source: the published language definition and the second version of its string extension.
 */
import { exhausted, fail } from "../failures.ts";
import { type Value } from "../values.ts";
import { textLength } from "./conversions.ts";
import { formatValues } from "./format.ts";
import {
  type CostRule,
  type FunctionRow,
  product,
  readsLittle,
  row,
  traversal,
  walks,
  walksArgument,
} from "./function-row.ts";

const search: CostRule = { cost: (text, part = 1) => product(traversal(text), traversal(part)) };

const joining: CostRule = { ...walks, growing: true };

/** Unicode's white space, to which JavaScript counts one that is none any more. */
const isSpace = (unit: string): boolean => unit !== "\ufeff" && /[\s\u0085]/.test(unit);

export const strings: readonly FunctionRow[] = [
  row("string.contains(string): bool", (text: string, part: string) => text.includes(part), search),
  row("string.startsWith(string): bool", (text: string, part: string) => text.startsWith(part), walksArgument),
  row("string.endsWith(string): bool", (text: string, part: string) => text.endsWith(part), walksArgument),
  row("string.charAt(int): string", charAt, { ...readsLittle, size: () => 1 }),
  row("string.indexOf(string): int", (text: string, part: string) => indexOf(text, part, 0n), search),
  row("string.indexOf(string, int): int", indexOf, search),
  row("string.lastIndexOf(string): int", (text: string, part: string) => lastIndexOf(text, part, undefined), search),
  row("string.lastIndexOf(string, int): int", lastIndexOf, search),
  row("string.lowerAscii(): string", (text: string) => text.replace(/[A-Z]+/g, (part) => part.toLowerCase()), walks),
  row("string.upperAscii(): string", (text: string) => text.replace(/[a-z]+/g, (part) => part.toUpperCase()), walks),
  row("string.trim(): string", trim, walks),
  row(
    "string.replace(string, string): string",
    (text: string, from: string, to: string) => replace(text, from, to, -1n),
    replaced(),
  ),
  row("string.replace(string, string, int): string", replace, replaced()),
  row("string.split(string): list<string>", (text: string, by: string) => split(text, by, -1n), walks),
  row("string.split(string, int): list<string>", split, walks),
  row("string.substring(int): string", (text: string, from: bigint) => substring(text, from, undefined), walks),
  row("string.substring(int, int): string", substring, walks),
  row("list<string>.join(): string", (parts: readonly string[]) => join(parts, ""), joining),
  row("list<string>.join(string): string", (parts: readonly string[], by: string) => join(parts, by), joining),
  row("strings.quote(string): string", (text: string) => quote(text), walks),
  row(
    "string.format(list<dyn>): string",
    (template: string, values: readonly Value[]) => formatValues(template, values),
    {
      growing: true,
      cost: traversal,
      size: (template) => template,
    },
  ),
];

/** Every character replaced may become as many as there are in the replacement. */
function replaced(): CostRule {
  return { growing: true, cost: traversal, size: (text, _from, to = 1) => Math.max(text, product(text + 1, to)) };
}

/** From both ends: an expression would begin anew at each space within. */
function trim(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isSpace(text[start] as string)) start++;
  while (end > start && isSpace(text[end - 1] as string)) end--;
  return text.slice(start, end);
}

/** Whether characters are what JavaScript counts. */
const isPlain = (text: string): boolean => textLength(text) === text.length;
const charactersOf = (text: string): readonly string[] => (isPlain(text) ? text.split("") : [...text]);

function charAt(text: string, at: bigint): string {
  const characters = isPlain(text) ? text : charactersOf(text);
  if (at < 0n || at > BigInt(characters.length)) return fail(`index out of range: ${at}`);
  return characters[Number(at)] ?? "";
}

function indexOf(text: string, part: string, from: bigint): bigint {
  const length = BigInt(textLength(text));
  if (from < 0n || (from > length && part !== "")) return fail(`index out of range: ${from}`);
  const found = text.indexOf(part, unitAt(text, from));
  return found < 0 ? -1n : BigInt(textLength(text.slice(0, found)));
}

/** Where the character stands, as JavaScript counts. */
const unitAt = (text: string, at: bigint): number =>
  isPlain(text) ? Number(at) : charactersOf(text).slice(0, Number(at)).join("").length;

function lastIndexOf(text: string, part: string, from: bigint | undefined): bigint {
  const length = BigInt(textLength(text));
  if (from !== undefined && (from < 0n || from >= length) && part !== "") return fail(`index out of range: ${from}`);
  if (from === undefined && part === "") return length;
  const start = from === undefined ? text.length : unitAt(text, from);
  const found = text.lastIndexOf(part, start);
  return found < 0 ? -1n : BigInt(textLength(text.slice(0, found)));
}

/** What the largest budget could pay for. */
const charactersMax = 10_000_000;

function countOf(text: string, part: string): number {
  let count = 0;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + part.length)) count++;
  return count;
}

/** `count` below 0: all. */
function replace(text: string, from: string, to: string, count: bigint): string {
  const places = from === "" ? text.length + 1 : countOf(text, from);
  if (text.length + places * to.length > charactersMax) return exhausted();
  if (count < 0n)
    return from === ""
      ? charactersOf(text).reduce((all, each) => all + each + to, to)
      : text.replaceAll(from, () => to);
  if (from === "") {
    const characters = charactersOf(text);
    const gaps = Math.min(Number(count), characters.length + 1);
    return characters.map((each, at) => (at < gaps ? to : "") + each).join("") + (gaps > characters.length ? to : "");
  }
  const parts = text.split(from);
  const replacedCount = Math.min(Number(count), parts.length - 1);
  return (
    parts.slice(0, replacedCount + 1).join(to) +
    parts
      .slice(replacedCount + 1)
      .map((part) => from + part)
      .join("")
  );
}

function join(parts: readonly string[], by: string): string {
  const length = parts.reduce((sum, part) => sum + part.length + by.length, 0);
  return length > charactersMax ? exhausted() : parts.join(by);
}

/** `count` below 0: as many parts as there are. */
function split(text: string, by: string, count: bigint): Value {
  if (count === 0n) return [];
  if (count === 1n) return [text];
  const parts = by === "" ? charactersOf(text) : text.split(by);
  if (count < 0n || BigInt(parts.length) <= count) return parts;
  return [...parts.slice(0, Number(count) - 1), parts.slice(Number(count) - 1).join(by)];
}

function substring(text: string, from: bigint, to: bigint | undefined): string {
  const length = BigInt(textLength(text));
  const end = to ?? length;
  if (from < 0n || from > length) return fail(`index out of range: ${from}`);
  if (end < 0n || end > length) return fail(`index out of range: ${end}`);
  if (from > end) return fail(`invalid substring range. start: ${from}, end: ${end}`);
  if (isPlain(text)) return text.slice(Number(from), Number(end));
  return charactersOf(text).slice(Number(from), Number(end)).join("");
}

const escapes: Readonly<Record<string, string>> = {
  "\u0007": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  "\\": "\\\\",
  '"': '\\"',
};

const quote = (text: string): string =>
  `"${text.replace(/[\u0007\b\f\n\r\t\v\\"]/g, (each) => escapes[each] ?? each).toWellFormed()}"`;
