/**
 * Base64, standard with padding and URL-safe without, in plain JavaScript: wire code also runs where no Buffer is.
 * Reading is Go's: line breaks are passed over, unused bits ignored, and an error names the byte where it gave up.
 * Source: the type tables (`byte` strings); the facts, section 3 (continue tokens); Go's encoding/base64.
 */

const shared = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

interface Alphabet {
  /** Character codes, by the six bits. */
  readonly codes: Uint8Array;
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
  const codes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  codes.forEach((code, at) => (values[code] = at));
  return { codes, values, padded };
}

/** Letter by letter into bytes, which become a text at once: a text that grows by a letter is dear. */
function encode(bytes: Uint8Array, { codes, padded }: Alphabet): string {
  const groups = Math.floor(bytes.length / 3);
  const rest = bytes.length - 3 * groups;
  const letters = new Uint8Array(4 * groups + (rest === 0 ? 0 : padded ? 4 : rest + 1));
  let to = 0;
  let at = 0;
  for (; at < 3 * groups; at += 3) {
    const group = ((bytes[at] as number) << 16) | ((bytes[at + 1] as number) << 8) | (bytes[at + 2] as number);
    letters[to++] = codes[group >> 18] as number;
    letters[to++] = codes[(group >> 12) & 63] as number;
    letters[to++] = codes[(group >> 6) & 63] as number;
    letters[to++] = codes[group & 63] as number;
  }
  if (rest > 0) {
    const group = ((bytes[at] as number) << 16) | ((bytes[at + 1] ?? 0) << 8);
    letters[to++] = codes[group >> 18] as number;
    letters[to++] = codes[(group >> 12) & 63] as number;
    if (rest === 2) letters[to++] = codes[(group >> 6) & 63] as number;
    letters.fill(paddingCode, to);
  }
  return ascii.decode(letters);
}

const paddingCode = 61;
const ascii = new TextDecoder();

const hexCodes = Uint8Array.from("0123456789abcdef", (letter) => letter.charCodeAt(0));

/** Two lower-case letters a byte. */
export function encodeBase16(bytes: Uint8Array): string {
  const letters = new Uint8Array(2 * bytes.length);
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    letters[2 * at] = hexCodes[byte >> 4] as number;
    letters[2 * at + 1] = hexCodes[byte & 15] as number;
  }
  return ascii.decode(letters);
}

function decode(text: string, { values, padded }: Alphabet): Uint8Array | number {
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4));
  let length = 0;
  let held = 0; // letters of the group that is being read
  let bits = 0;
  for (let at = 0; at < text.length; at++) {
    if (held === 0) {
      // Whole groups, which is nearly all of it.
      for (; at + 4 <= text.length; at += 4) {
        const group =
          (sixBits(values, text, at) << 18) |
          (sixBits(values, text, at + 1) << 12) |
          (sixBits(values, text, at + 2) << 6) |
          sixBits(values, text, at + 3);
        if (group < 0) break;
        bytes[length++] = group >> 16;
        bytes[length++] = group >> 8;
        bytes[length++] = group;
      }
      if (at >= text.length) break;
    }
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

/** -1 for what is no letter of the alphabet: all bits, however it is shifted and joined with others the first of them stays. */
function sixBits(values: Uint8Array, text: string, at: number): number {
  const code = text.charCodeAt(at);
  const value = code < 128 ? (values[code] as number) : 255;
  return value === 255 ? -1 : value;
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
