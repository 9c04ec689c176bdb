/**
 * How many values a text of JSON has, and how deep they are nested, looked at before it is read: members and items at any depth.
 * The bytes alone say little: sixty megabytes are one text or twenty million objects, which take a hundred times as much memory.
 */

/** Of one answer of a server, a long list as well: whoever reads it takes no more. */
export const answerValuesMax = 3_000_000;
/** As of objects: what walks over a value may descend by recursion. */
export const answerDepthMax = 1000;

/** Whether it has no more than `max`. What is no JSON is for its reader to refuse. */
export function hasFewJsonValues(text: Uint8Array, max: number): boolean {
  // A value takes two characters at least.
  return text.length <= 2 * max || countJsonValues(text) <= max;
}

/** Each byte is looked at once or, where it is a space after a bracket, twice. */
export function countJsonValues(text: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const byte = text[at] as number;
    if (byte === quote) at = endOfText(text, at);
    else if (byte === comma) count++;
    else if (byte === openingBrace || byte === openingBracket) {
      const first = afterSpace(text, at + 1);
      if (text[first] !== closingBrace && text[first] !== closingBracket) count++;
    }
  }
  return count;
}

/** Whether lists and objects are nested more than `max` deep. Each byte is looked at once. */
export function isJsonDeeperThan(text: Uint8Array, max: number): boolean {
  if (text.length <= max) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const byte = text[at] as number;
    if (byte === quote) at = endOfText(text, at);
    else if (byte === closingBrace || byte === closingBracket) depth--;
    else if ((byte === openingBrace || byte === openingBracket) && ++depth > max) return true;
  }
  return false;
}

const quote = 34;
const comma = 44;
const backslash = 92;
const openingBracket = 91;
const closingBracket = 93;
const openingBrace = 123;
const closingBrace = 125;

/** Where the text that begins at `at` ends. */
function endOfText(text: Uint8Array, at: number): number {
  let end = at + 1;
  while (end < text.length && text[end] !== quote) end += text[end] === backslash ? 2 : 1;
  return end;
}

function afterSpace(text: Uint8Array, from: number): number {
  let at = from;
  while (text[at] === 32 || text[at] === 10 || text[at] === 13 || text[at] === 9) at++;
  return at;
}
