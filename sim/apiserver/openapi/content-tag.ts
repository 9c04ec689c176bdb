/**
 * A short tag of a text, for an ETag: equal texts have equal tags, in however many pieces they come. The real server's is a SHA-512; clients only
 * compare.
 */
export class ContentTag {
  // Two 32-bit FNV-1a hashes with different offsets, fed the same units in opposite byte order.
  #low = 0x811c9dc5;
  #high = 0x050c5d1f;

  add(text: string): void {
    let low = this.#low;
    let high = this.#high;
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index);
      low = Math.imul(low ^ unit, 0x01000193);
      high = Math.imul(high ^ ((unit << 8) | (unit >>> 8)), 0x01000193);
    }
    this.#low = low;
    this.#high = high;
  }

  toString(): string {
    return `"${hex(this.#high)}${hex(this.#low)}"`;
  }
}

export function contentTag(text: string): string {
  const tag = new ContentTag();
  tag.add(text);
  return String(tag);
}

const hex = (word: number): string => (word >>> 0).toString(16).padStart(8, "0");
