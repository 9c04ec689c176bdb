/** A short tag of a text, for an ETag: equal texts have equal tags. The real server's is a SHA-512; clients only compare. */
export function contentTag(text: string): string {
  // Two 32-bit FNV-1a hashes with different offsets, fed the same units in opposite byte order.
  let low = 0x811c9dc5;
  let high = 0x050c5d1f;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    low = Math.imul(low ^ unit, 0x01000193);
    high = Math.imul(high ^ ((unit << 8) | (unit >>> 8)), 0x01000193);
  }
  return `"${hex(high)}${hex(low)}"`;
}

const hex = (word: number): string => (word >>> 0).toString(16).padStart(8, "0");
