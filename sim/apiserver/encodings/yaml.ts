/**
 * Objects as YAML as the real server's encoder writes them: keys in its natural order, lists not indented, text in the
 * first style that holds it, long lines broken at spaces.
 * Source: recorded answers (08); the published encoder's rules, against which this one was tried.
 */
import { utf8Length } from "../../../wire/go-strings.ts";
import type { Json } from "../../contract/http-message.ts";
import { goFloat } from "../../objects/go-values.ts";
import { meaningOf } from "../../objects/yaml-scalars.ts";
import { naturalOrder, sortedAtOnce, sortNaturally } from "./natural-order.ts";

const indentBy = 2;
const widthBest = 80;
/** Longer keys, in bytes, and keys of several lines stand behind a question mark. */
const simpleKeyBytesMax = 128;

/** With a final newline. */
export const yamlText = (value: Json): string => [...yamlPieces(value)].join("");

/** Of a piece, but for a text that is longer. */
const pieceCharacters = 32 * 1024;

/** A list or map that holds something, of which some is written. Its first line stands where it is begun. */
interface OpenBlock {
  /** Of a map: in order. */
  readonly keys: readonly string[] | undefined;
  readonly values: Readonly<Record<string, Json>> | readonly Json[];
  readonly count: number;
  readonly indent: number;
  next: number;
}

/** The same in pieces, each made when it is asked for; where others should come in between before there is any, it is empty. */
export function* yamlPieces(root: Json): Generator<string> {
  const out: string[] = [];
  let length = 0;
  const put = (text: string): void => {
    out.push(text);
    length += text.length;
  };
  const open: OpenBlock[] = [];
  if (isBlock(root)) open.push(yield* begun(root, 0));
  else put(line(flowOf(root, indentBy, 0)));
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    if (length > pieceCharacters) {
      yield out.join("");
      out.length = length = 0;
    }
    if (top.next === top.count) {
      open.pop();
      continue;
    }
    const { keys, values, indent } = top;
    if (top.next > 0) put(spaces(indent));
    const key = keys?.[top.next];
    const value = (values as Readonly<Record<string | number, Json>>)[key ?? top.next] as Json;
    top.next++;
    const head = key === undefined ? inItem : headOf(key, indent);
    put(head.text);
    if (isBlock(value)) {
      // A list stands no further in than its key, and begins on a line of its own, as a map does behind a simple key.
      const inner = head.isSimpleKey && Array.isArray(value) ? indent : indent + indentBy;
      put(head.isSimpleKey ? `\n${spaces(inner)}` : " ");
      open.push(yield* begun(value, inner));
    } else {
      const column = head.isSimpleKey ? indent + head.width + 1 : indent + indentBy;
      put(` ${line(flowOf(value, indent + indentBy, column))}`);
    }
  }
  yield out.join("");
}

function* begun(value: Readonly<Record<string, Json>> | readonly Json[], indent: number): Generator<string, OpenBlock> {
  if (isList(value)) return { keys: undefined, values: value, count: value.length, indent, next: 0 };
  const keys = Object.keys(value);
  if (keys.length <= sortedAtOnce) keys.sort(naturalOrder);
  else yield* sortNaturally(keys);
  return { keys, values: value, count: keys.length, indent, next: 0 };
}

/** A list or map that holds something. */
function isBlock(value: Json): value is Readonly<Record<string, Json>> | readonly Json[] {
  if (typeof value !== "object" || value === null) return false;
  return isList(value) ? value.length > 0 : hasMembers(value);
}

/** Narrower than `Array.isArray`, which tells nothing of lists that may not be changed. */
const isList = (value: unknown): value is readonly Json[] => Array.isArray(value);

function hasMembers(map: Readonly<Record<string, Json>>): boolean {
  for (const _key in map) return true;
  return false;
}

const spaces = (count: number): string => (pads[count] ??= " ".repeat(count));
const pads: string[] = [];

/** What stands before a value. */
interface Head {
  readonly text: string;
  /** Columns of it that the value's line has. */
  readonly width: number;
  readonly isSimpleKey: boolean;
}

const inItem: Head = { text: "-", width: 1, isSimpleKey: false };

function headOf(key: string, indent: number): Head {
  if (/[\n\r\x85\u2028\u2029]/.test(key) || isLong(key)) {
    const lines = line(scalarOf(key, indent + indentBy, indent + indentBy, false));
    return { text: `? ${lines}${spaces(indent)}:`, width: 1, isSimpleKey: false };
  }
  const name = scalarOf(key, indent, indent, true);
  return { text: `${name}:`, width: [...name].length + 1, isSimpleKey: true };
}

const isLong = (key: string): boolean => key.length * 3 > simpleKeyBytesMax && utf8Length(key) > simpleKeyBytesMax;

const line = (text: string): string => (text.endsWith("\n") ? text : `${text}\n`);

/** What stands on one line but for breaks: a scalar, or an empty list or map. */
function flowOf(value: Json, indent: number, column: number): string {
  if (typeof value === "string") return scalarOf(value, indent, column, false);
  if (typeof value === "number") return numberText(value);
  if (typeof value !== "object" || value === null) return String(value);
  return Array.isArray(value) ? "[]" : "{}";
}

/** What is beyond 64 bits is a fraction to the encoder. */
const numberText = (value: number): string =>
  Number.isInteger(value) && Math.abs(value) < 2 ** 63 ? String(value) : goFloat(value);

function scalarOf(text: string, indent: number, column: number, isKey: boolean): string {
  const traits = traitsOf(text);
  if (text.includes("\n")) {
    return isKey || !traits.block ? doubleQuoted(text, indent, column, !isKey) : literal(text, indent);
  }
  if (!isPlainText(text)) return doubleQuoted(text, indent, column, !isKey);
  if (traits.plain) return isKey ? text : folded(text, indent, column, "");
  if (!traits.single) return doubleQuoted(text, indent, column, !isKey);
  return isKey ? `'${text.replaceAll("'", "''")}'` : folded(text, indent, column, "'");
}

/** Which styles can hold a text. */
interface Traits {
  readonly plain: boolean;
  readonly single: boolean;
  readonly block: boolean;
}

/** Not written as they are: tabs and other control characters, what is beyond 16 bits, the other line breaks. */
const special = /[^\n\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd]|[\u2028\u2029]/;
const indicator = /^(?:---|\.\.\.|[#,[\]{}&*!|>'"%@`]|[?:](?:[ \t]|$)|-(?:[ \t]|$))|:(?:[ \t]|$)|[ \t\n]#/;

function traitsOf(text: string): Traits {
  const isSpecial = special.test(text) || / \n/.test(text);
  const breakBeforeSpace = /\n /.test(text);
  return {
    plain: !isSpecial && !/^[ \n]|[ \n]$|\n/.test(text) && !indicator.test(text),
    single: !isSpecial && !breakBeforeSpace,
    block: !isSpecial && !text.endsWith(" "),
  };
}

/** A plain text, or one in single quotes, with breaks. */
function folded(text: string, indent: number, column: number, quote: "" | "'"): string {
  const isOneLine = column + text.length <= widthBest || !text.includes(" ");
  if (isOneLine) return quote === "" ? text : `'${text.replaceAll("'", "''")}'`;
  const pad = `\n${spaces(indent)}`;
  const out: string[] = [quote];
  let from = 0; // what is written as it is
  let at = column + quote.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit === space && at > widthBest && isBreak(text, index, quote !== "")) {
      out.push(text.slice(from, index), pad);
      from = index + 1;
      at = indent;
    } else if (quote !== "" && unit === apostrophe) {
      out.push(text.slice(from, index), "'");
      from = index;
      at += 2;
    } else at++;
  }
  out.push(text.slice(from), quote);
  return out.join("");
}

/** Whether a line may end at a space: alone among others, and within a text in quotes. */
function isBreak(text: string, index: number, isQuoted: boolean): boolean {
  if (text.charCodeAt(index - 1) === space || text.charCodeAt(index + 1) === space) return false;
  return !isQuoted || (index > 0 && index < text.length - 1);
}

const apostrophe = 0x27;

const escapes: Readonly<Record<string, string>> = {
  "\0": "0",
  "\x07": "a",
  "\b": "b",
  "\t": "t",
  "\n": "n",
  "\v": "v",
  "\f": "f",
  "\r": "r",
  "\x1b": "e",
  '"': '"',
  "\\": "\\",
  "\x85": "N",
  "\u2028": "L",
  "\u2029": "P",
};

function doubleQuoted(text: string, indent: number, column: number, breaks: boolean): string {
  const pad = `\n${spaces(indent)}`;
  const out = ['"'];
  let from = 0; // what is written as it is
  let at = column + 1;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit === space) {
      const isEdge = index === 0 || index === text.length - 1;
      if (!breaks || at <= widthBest || isEdge || text.charCodeAt(index - 1) === space) {
        at++;
        continue;
      }
      const next = text.charCodeAt(index + 1) === space ? "\\" : "";
      out.push(text.slice(from, index), pad, next);
      from = index + 1;
      at = indent + next.length;
    } else if (isPlainUnit(unit)) at++;
    else {
      const char = String.fromCodePoint(text.codePointAt(index) as number);
      const written = writtenInQuotes(char);
      if (from < index) out.push(text.slice(from, index));
      out.push(written);
      index += char.length - 1;
      from = index + 1;
      at += written.length;
    }
  }
  out.push(text.slice(from), '"');
  return out.join("");
}

const space = 0x20;

/** Printable ASCII but for a quote and a backslash. */
const isPlainUnit = (unit: number): boolean => unit >= space && unit < 0x7f && unit !== 0x22 && unit !== 0x5c;

const inQuotes = new Map<string, string>();
const inQuotesMax = 10_000;

/** Remembers what it was asked for: a text of nothing else would ask it for each character. */
function writtenInQuotes(char: string): string {
  const known = inQuotes.get(char);
  if (known !== undefined) return known;
  const written = special.test(char) || char in escapes ? escaped(char) : char;
  if (inQuotes.size >= inQuotesMax) inQuotes.clear();
  inQuotes.set(char, written);
  return written;
}

function escaped(char: string): string {
  const short = escapes[char];
  if (short !== undefined) return `\\${short}`;
  const code = char.codePointAt(0) as number;
  const [letter, digits] = code <= 0xff ? ["x", 2] : code <= 0xffff ? ["u", 4] : ["U", 8];
  return `\\${letter}${code
    .toString(16)
    .toUpperCase()
    .padStart(digits as number, "0")}`;
}

/** Line by line, with a hint where the text begins with a space or a break, and one for the breaks at its end. */
function literal(text: string, indent: number): string {
  const pad = " ".repeat(indent);
  const first = /^[ \n]/.test(text) ? String(indentBy) : "";
  const last = !text.endsWith("\n") ? "-" : text === "\n" || text.endsWith("\n\n") ? "+" : "";
  const lines = text.replaceAll(/\n(?!\n|$)/g, `\n${pad}`);
  return `|${first}${last}\n${text.startsWith("\n") ? "" : pad}${lines}`;
}

/** Would a reader take the text for a text? */
function isPlainText(text: string): boolean {
  if (sexagesimal.test(text) || isTimestamp(text)) return false;
  return typeof meaningOf(text) === "string";
}

/** A number in old readers. */
const sexagesimal = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+(?:\.[0-9_]*)?$/;

const timestamp =
  /^\d{4}-(\d\d?)-(\d\d?)(?:(?:[Tt](\d\d?):(\d\d?):(\d\d?)(?:[.,]\d+)?(?:Z|[-+]\d\d:\d\d))|(?: (\d\d?):(\d\d?):(\d\d?)(?:[.,]\d+)?))?$/;

function isTimestamp(text: string): boolean {
  const found = timestamp.exec(text);
  if (found === null) return false;
  const [month = 0, day = 0, ...clock] = found.slice(1).map((part) => Number(part ?? 0));
  const [hours, minutes, seconds] = [0, 1, 2].map((at) => (clock[at] ?? 0) + (clock[at + 3] ?? 0)) as [
    number,
    number,
    number,
  ];
  const isDay = month >= 1 && month <= 12 && day >= 1 && day <= (daysOfMonths[month - 1] as number);
  return isDay && hours < 24 && minutes < 60 && seconds < 60;
}

const daysOfMonths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
