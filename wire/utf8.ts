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
  const units = new Uint16Array(unitsPerPart);
  const parts: string[] = [];
  let count = 0;
  for (let at = 0; at < bytes.length; ) {
    const length = sequenceLength(bytes, at);
    const code = length === 0 ? 0xdc00 + (bytes[at] as number) : codeOf(bytes, at, length);
    if (code > 0xffff) units[count++] = 0xd7c0 + (code >> 10);
    units[count++] = code > 0xffff ? 0xdc00 + (code & 0x3ff) : code;
    at += Math.max(1, length);
    if (count < unitsPerPart - 1) continue;
    parts.push(textOf(units.subarray(0, count)));
    count = 0;
  }
  parts.push(textOf(units.subarray(0, count)));
  return { text: parts.join(""), invalidUtf8: true };
}

const unitsPerPart = 4096;
const textOf = (units: Uint16Array): string => String.fromCharCode.apply(undefined, units as unknown as number[]);

/** Bytes of the valid sequence at `at`; 0 when there is none. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const lead = bytes[at] as number;
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  // Neither a longer form than need be, nor a surrogate, nor beyond the last plane.
  const [low, high] = [secondMin.get(lead) ?? 0x80, secondMax.get(lead) ?? 0xbf];
  const second = bytes[at + 1] ?? 0;
  if (second < low || second > high) return 0;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  for (let next = at + 2; next < at + length; next++) if (((bytes[next] ?? 0) & 0xc0) !== 0x80) return 0;
  return length;
}

const secondMin: ReadonlyMap<number, number> = new Map([
  [0xe0, 0xa0],
  [0xf0, 0x90],
]);
const secondMax: ReadonlyMap<number, number> = new Map([
  [0xed, 0x9f],
  [0xf4, 0x8f],
]);

/** What a valid sequence says. */
function codeOf(bytes: Uint8Array, at: number, length: number): number {
  let code = (bytes[at] as number) & (length === 1 ? 0x7f : 0x7f >> length);
  for (let next = at + 1; next < at + length; next++) code = (code << 6) | ((bytes[next] as number) & 0x3f);
  return code;
}
