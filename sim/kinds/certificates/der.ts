/** Reads DER: tags, lengths, contents. Source: X.690, sections 8 and 10.1. */

export interface DerItem {
  readonly tag: number;
  /** With tag and length. */
  readonly whole: Uint8Array;
  readonly content: Uint8Array;
}

/** Throws for what is cut short, too long or not in its shortest form. */
export function readDer(bytes: Uint8Array): DerItem {
  const [item, rest] = readItem(bytes);
  if (rest.length > 0) throw new DerError("trailing data");
  return item;
}

/** The items of a sequence or a set. */
export function itemsOf(parent: DerItem | undefined, tag = sequenceTag): readonly DerItem[] {
  if (parent?.tag !== tag) throw new DerError("tags don't match");
  const items: DerItem[] = [];
  for (let rest = parent.content; rest.length > 0; ) {
    const [item, after] = readItem(rest);
    items.push(item);
    rest = after;
  }
  return items;
}

const sequenceTag = 0x30;
export const setTag = 0x31;

export class DerError extends Error {}

function readItem(bytes: Uint8Array): readonly [item: DerItem, rest: Uint8Array] {
  const [tag, first] = bytes;
  if (tag === undefined || first === undefined || (tag & 0x1f) === 0x1f) throw new DerError("syntax error");
  let length = first;
  let start = 2;
  if (first >= 0x80) {
    const count = first & 0x7f;
    if (count === 0 || count > 3 || bytes.length < 2 + count) throw new DerError("length invalid");
    length = 0;
    for (let at = 0; at < count; at++) length = length * 256 + (bytes[2 + at] as number);
    if (length < 0x80 || bytes[2] === 0) throw new DerError("non-minimal length");
    start += count;
  }
  const end = start + length;
  if (end > bytes.length) throw new DerError("data truncated");
  return [{ tag, whole: bytes.subarray(0, end), content: bytes.subarray(start, end) }, bytes.subarray(end)];
}

/** `1.2.840.113549.1.9.14`. */
export function objectIdText(item: DerItem | undefined): string {
  if (item?.tag !== 0x06 || item.content.length === 0) throw new DerError("tags don't match");
  const arcs: number[] = [];
  let arc = 0;
  for (const byte of item.content) {
    arc = arc * 128 + (byte & 0x7f);
    if (byte >= 0x80) continue;
    if (arcs.length === 0) arcs.push(Math.min(2, Math.floor(arc / 40)), arc - 40 * Math.min(2, Math.floor(arc / 40)));
    else arcs.push(arc);
    arc = 0;
  }
  return arcs.join(".");
}
