/**
 * Objects as YAML as the real server's encoder writes them: keys in its natural order, lists not indented, text in the
 * first style that holds it, long lines broken at spaces.
 * Source: recorded answers (08); the published encoder's rules, against which this one was tried.
 */
import { utf8Length } from "../../../wire/go-strings.ts";
import type { Json } from "../../contract/http-message.ts";
import { goFloat } from "../../objects/go-values.ts";
import { meaningOf } from "../../objects/yaml-scalars.ts";
import { naturalOrder } from "./natural-order.ts";

const indentBy = 2;
const widthBest = 80;
/** Longer keys, in bytes, and keys of several lines stand behind a question mark. */
const simpleKeyBytesMax = 128;

/** With a final newline. */
export function yamlText(value: Json): string {
  return line(blockOf(value, 0) ?? flowOf(value, indentBy, 0));
}

/** A list or map that holds something: its lines, the first without its indentation. Undefined for all else. */
function blockOf(value: Json, indent: number): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const pad = " ".repeat(indent);
  if (Array.isArray(value)) {
    const items = (value as readonly Json[]).map((item) => `-${inlineOf(item, indent)}`);
    return items.length === 0 ? undefined : items.join(pad);
  }
  const keys = Object.keys(value).sort(naturalOrder);
  if (keys.length === 0) return undefined;
  return keys.map((key) => entryOf(key, (value as Readonly<Record<string, Json>>)[key] as Json, indent)).join(pad);
}

function entryOf(key: string, value: Json, indent: number): string {
  const pad = " ".repeat(indent);
  if (/[\n\r\x85\u2028\u2029]/.test(key) || isLong(key)) {
    return `? ${line(scalarOf(key, indent + indentBy, indent + 2, false))}${pad}:${inlineOf(value, indent)}`;
  }
  const name = scalarOf(key, indent, indent, true);
  const isList = Array.isArray(value);
  const block = blockOf(value, isList ? indent : indent + indentBy);
  if (block !== undefined) return `${name}:\n${isList ? pad : `${pad}  `}${block}`;
  return `${name}: ${line(flowOf(value, indent + indentBy, indent + [...name].length + 2))}`;
}

const isLong = (key: string): boolean => key.length * 3 > simpleKeyBytesMax && utf8Length(key) > simpleKeyBytesMax;

/** What follows the one character of an indicator, on its line. */
function inlineOf(value: Json, indent: number): string {
  return ` ${line(blockOf(value, indent + indentBy) ?? flowOf(value, indent + indentBy, indent + 2))}`;
}

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
  const pad = `\n${" ".repeat(indent)}`;
  let result = quote;
  let at = column + quote.length;
  let afterSpace = false;
  for (let index = 0; index < text.length; index++) {
    const char = text[index] as string;
    const isEdge = quote !== "" && (index === 0 || index === text.length - 1);
    if (char === " " && !afterSpace && at > widthBest && !isEdge && text[index + 1] !== " ") {
      result += pad;
      at = indent;
    } else {
      result += char === quote ? "''" : char;
      at += char === quote ? 2 : 1;
    }
    afterSpace = char === " ";
  }
  return result + quote;
}

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
  const pad = `\n${" ".repeat(indent)}`;
  const chars = [...text];
  let result = '"';
  let at = column + 1;
  let afterSpace = false;
  chars.forEach((char, index) => {
    const isEdge = index === 0 || index === chars.length - 1;
    if (char === " " && breaks && !afterSpace && at > widthBest && !isEdge) {
      const next = chars[index + 1] === " " ? "\\" : "";
      result += pad + next;
      at = indent + next.length;
    } else {
      const written = special.test(char) || char in escapes ? escaped(char) : char;
      result += written;
      at += written.length;
    }
    afterSpace = char === " ";
  });
  return `${result}"`;
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
