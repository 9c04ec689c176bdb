/**
 * Base64, standard with padding and URL-safe without, in plain JavaScript: wire code also runs where no Buffer is.
 * Reading is Go's: line breaks are passed over, unused bits ignored, and an error names the byte where it gave up.
 * Source: the type tables (`byte` strings); the facts, section 3 (continue tokens); Go's encoding/base64.
 */

const shared = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

interface Alphabet {
  readonly letters: string;
  /** By character code: the six bits, or 255. */
  readonly values: Uint8Array;
  readonly padded: boolean;
}

const standard = alphabet(`${shared}+/`, true);
const urlSafe = alphabet(`${shared}-_`, false);

export const encodeBase64 = (bytes: Uint8Array): string => encode(bytes, standard);
export const encodeBase64Url = (bytes: Uint8Array): string => encode(bytes, urlSafe);

/** The bytes; or, for a text that is not base64, the input byte that Go's error names. */
export const decodeBase64 = (text: string): Uint8Array | number => decode(text, standard);
export const decodeBase64Url = (text: string): Uint8Array | number => decode(text, urlSafe);

/** The error text for what a decoding gave instead of bytes. */
export const base64Error = (inputByte: number): string => `illegal base64 data at input byte ${inputByte}`;

function alphabet(letters: string, padded: boolean): Alphabet {
  const values = new Uint8Array(128).fill(255);
  for (let at = 0; at < letters.length; at++) values[letters.charCodeAt(at)] = at;
  return { letters, values, padded };
}

function encode(bytes: Uint8Array, { letters, padded }: Alphabet): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 3) {
    const group = ((bytes[at] as number) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0);
    const count = Math.min(4, bytes.length - at + 1);
    for (let letter = 0; letter < count; letter++) text += letters[(group >> (18 - 6 * letter)) & 63];
    if (padded) text += "=".repeat(4 - count);
  }
  return text;
}

function decode(text: string, { values, padded }: Alphabet): Uint8Array | number {
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4));
  let length = 0;
  let held = 0; // letters of the group that is being read
  let bits = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const value = code < 128 ? (values[code] as number) : 255;
    if (value !== 255) {
      bits = (bits << 6) | value;
      held++;
      if (held > 1) bytes[length++] = (bits >> (8 - 2 * held)) & 255;
      if (held === 4) held = bits = 0;
    } else if (code === 10 || code === 13) continue;
    else if (code === 61 && padded && held > 1) {
      const end = endOfPadding(text, at, held);
      return end < 0 ? bytes.subarray(0, length) : end;
    } else return at;
  }
  if (held === 1 || (held > 0 && padded)) return text.length - held;
  return bytes.subarray(0, length);
}

/** -1 when the text ends properly with the padding that begins at `at`; otherwise the byte that is wrong. */
function endOfPadding(text: string, at: number, held: number): number {
  let next = skipBreaks(text, at + 1);
  if (held === 2) {
    if (next === text.length) return next;
    if (text[next] !== "=") return next - 1;
    next = skipBreaks(text, next + 1);
  }
  return next === text.length ? -1 : next;
}

function skipBreaks(text: string, from: number): number {
  let at = from;
  while (text[at] === "\n" || text[at] === "\r") at++;
  return at;
}
