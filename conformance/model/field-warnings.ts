/** What a response must say of the fields of a request that the schema does not know or that were there twice. */
import type { WireResponse } from "../../wire/ports.ts";
import type { Violation } from "../client/findings.ts";

/**
 * The texts of all items of a Warning header, which may come repeated or joined by commas. What is no item
 * (`code agent "text"`) becomes a text that says so, and names no field.
 */
export function warningTexts(headers: WireResponse["headers"]): string[] {
  const value = headers["warning"];
  if (value === undefined) return [];
  const lines = typeof value === "string" ? [value] : value;
  return lines.flatMap((line) => {
    const items = [...line.matchAll(warningItem)];
    const rest = line.replace(warningItem, "").replace(/[\s,]/g, "");
    const texts = items.map((item) => (item[1] as string).replace(/\\(.)/g, "$1"));
    return rest === "" ? texts : [...texts, "(not a warning item)"];
  });
}

/** RFC 9111 5.5 calls it obsolete and leaves its form to RFC 7234: code, agent, quoted text, perhaps a quoted date. */
const warningItem = /\d{3} \S+ "((?:[^"\\]|\\.)*)"(?: "[^"]*")?/g;

/** Those that are about unknown or duplicate fields, or no warnings at all. */
export function fieldTexts(texts: readonly string[]): string[] {
  return texts.filter((text) => /\b(unknown|duplicate)\b.*\bfield\b|not a warning item/i.test(text));
}

/** One item for each field, in any order and in any words, and none about another; of other things a server may warn. */
export function judgeWarnings(fields: readonly string[], texts: readonly string[]): Violation | undefined {
  const expected = `one Warning item for each of: ${fields.join(", ") || "none"}`;
  const actual = `${texts.length} items: ${texts.join(" | ") || "none"}`;
  const each = fields.every((field) => texts.filter((text) => names(text, field)).length === 1);
  const others = texts.filter((text) => !fields.some((field) => names(text, field)));
  const apart = texts.every((text) => fields.filter((field) => names(text, field)).length <= 1);
  return each && apart && fieldTexts(others).length === 0 ? undefined : { expected, actual };
}

/** A message names each of the fields. */
export function judgeNamed(fields: readonly string[], message: string): Violation | undefined {
  const missing = fields.filter((field) => !names(message, field));
  if (missing.length === 0) return undefined;
  return { expected: `a message that names ${fields.join(", ")}`, actual: `${missing.join(", ")} not in: ${message}` };
}

/**
 * A message may repeat the whole document, in quotes inside quotes: there a name is followed by a backslash, and is
 * not what the message says.
 */
function names(text: string, field: string): boolean {
  for (let at = text.indexOf(field); at >= 0; at = text.indexOf(field, at + 1)) {
    if (!/^[\w\\]/.test(text.slice(at + field.length))) return true;
  }
  return false;
}
