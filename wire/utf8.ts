/** Bytes that should be UTF-8, as text: strictly, or so that a wrong byte stays known. */

const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The text, with its byte order mark if it has one; undefined for bytes that are not UTF-8. */
export function decodeStrictly(bytes: Uint8Array): string | undefined {
  try {
    return strictDecoder.decode(bytes);
  } catch {
    return undefined;
  }
}

/** A byte that is no UTF-8 becomes the lone surrogate U+DC00 + byte: still one unit, and still known. */
export function decodeLoosely(bytes: Uint8Array): { text: string; invalidUtf8: boolean } {
  const strict = decodeStrictly(bytes);
  if (strict !== undefined) return { text: strict, invalidUtf8: false };
  let text = "";
  let at = 0;
  while (at < bytes.length) {
    const length = sequenceLength(bytes, at);
    text +=
      length === 0
        ? String.fromCharCode(0xdc00 + (bytes[at] as number))
        : strictDecoder.decode(bytes.subarray(at, at + length));
    at += length === 0 ? 1 : length;
  }
  return { text, invalidUtf8: true };
}

/** Bytes of the valid sequence at `at`; 0 when there is none. A run of ASCII is one sequence. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  let end = at;
  while (end < bytes.length && (bytes[end] as number) < 0x80) end++;
  if (end > at) return end - at;
  const lead = bytes[at] as number;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  return decodeStrictly(bytes.subarray(at, at + length)) === undefined ? 0 : length;
}
