/**
 * Strict JSON at nearly the native parser's speed: that one reads, and a scan of the text shows whether it lost
 * anything (duplicate keys, integers beyond 2^53, how whole numbers are spelled, unpaired escapes); only then the exact reader runs.
 * Source: the design, one strict decoder; what is strict is told in `json-reader.ts`.
 */
import {
  type JsonDocument,
  type JsonReadOptions,
  type JsonSyntaxError,
  jsonDepthMax,
  readJson,
} from "./json-reader.ts";
import { decodeStrictly } from "./utf8.ts";

const none: readonly never[] = Object.freeze([]);

/** One document, as text or bytes. A text with lone surrogates is read as if each were U+FFFD. */
export function parseJsonStrict(
  input: string | Uint8Array,
  options: JsonReadOptions = {},
): JsonDocument | JsonSyntaxError {
  const text = typeof input === "string" ? wellFormed(input) : decodeStrictly(input);
  if (text === undefined) return readJson(input, options);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return readJson(text, options); // for the error's text
  }
  return isWhole(text, value) ? documentOf(value) : readJson(text, options);
}

/** What the native parser makes of a body, in steps; undefined where only the exact reader can tell what it says. */
export function* quickJsonSteps(body: Uint8Array): Generator<void, JsonDocument | undefined> {
  const text = decodeStrictly(body);
  if (text === undefined) return undefined;
  yield;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  yield;
  const keyCount = countKeysInText(text);
  yield;
  return keyCount !== undefined && keyCount === (yield* countKeys(value)) ? documentOf(value) : undefined;
}

/** Whether the native parser lost nothing. */
function isWhole(text: string, value: unknown): boolean {
  const keyCount = countKeysInText(text);
  if (keyCount === undefined) return false;
  const counting = countKeys(value);
  for (let step = counting.next(); ; step = counting.next()) if (step.done === true) return step.value === keyCount;
}

const documentOf = (value: unknown): JsonDocument => ({
  ok: true,
  value,
  duplicates: none,
  unsafeNumbers: false,
  invalidUtf8: false,
});

const wellFormed = (text: string): string | undefined => (text.isWellFormed() ? text : undefined);

const quote = 34;
const backslash = 92;
const safeDigitsMax = 15; // any integer of 15 digits is exact

/**
 * Members of all objects in a valid text, counted by their colons. Undefined when the native parser may have lost
 * something else: a long number, an exponent, a fraction of zeros, an escaped surrogate, or great depth.
 */
function countKeysInText(text: string): number | undefined {
  let keys = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === quote) {
      for (at++; text.charCodeAt(at) !== quote; at++) {
        if (text.charCodeAt(at) !== backslash) continue;
        at++;
        if (text.charCodeAt(at) === 117 && (text.charCodeAt(at + 1) | 32) === 100) return undefined; // \ud…
      }
    } else if (char === 58) keys++;
    else if (char === 123 || char === 91) {
      if (++depth > jsonDepthMax) return undefined;
    } else if (char === 125 || char === 93) depth--;
    else if (char === 45 || (char >= 48 && char <= 57)) {
      const start = at;
      let point = false;
      let fraction = false;
      for (let next = text.charCodeAt(at + 1); isNumberPart(next); next = text.charCodeAt(at + 1)) {
        if ((next | 32) === 101) return undefined;
        if (next === 46) point = true;
        else if (next !== 48) fraction = point;
        at++;
      }
      if (at - start >= safeDigitsMax || (point && !fraction)) return undefined;
    }
  }
  return keys;
}

const isNumberPart = (char: number): boolean =>
  (char >= 48 && char <= 57) || char === 46 || char === 43 || char === 45 || (char | 32) === 101;

const containersPerStep = 8192;

function* countKeys(value: unknown): Generator<void, number> {
  let count = 0;
  const open: unknown[] = [value];
  for (let left = containersPerStep; open.length > 0; left--) {
    if (left === 0) {
      yield;
      left = containersPerStep;
    }
    const next = open.pop();
    if (Array.isArray(next)) {
      for (const item of next) if (isContainer(item)) open.push(item);
    } else if (isContainer(next)) {
      const keys = Object.keys(next);
      count += keys.length;
      for (const key of keys) if (isContainer(next[key])) open.push(next[key]);
    }
  }
  return count;
}

const isContainer = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;
