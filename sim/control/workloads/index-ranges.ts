/**
 * The indexes of a job's pods that have succeeded, as ranges: `0-2,5`. There may be two thousand million of them, and hundreds
 * of thousands of ranges.
 */
export class IndexRanges {
  /** Where each range begins and ends, ascending and apart by more than one. */
  private readonly firsts: number[] = [];
  private readonly lasts: number[] = [];
  private readonly added = new Set<number>();
  private counted = 0;
  /** What was read, where it is how they are written. */
  private written: string | undefined;

  /** Parts that name no range are passed over. */
  constructor(text = "") {
    let isInOrder = true;
    let isWritten = !text.endsWith(",");
    for (let at = 0; at < text.length; at++) {
      const first = numberAt(text, at);
      const dash = at + first.length;
      const last = text[dash] === "-" ? numberAt(text, dash + 1) : undefined;
      const end = last === undefined ? dash : dash + 1 + last.length;
      const isWhole = first.length > 0 && last?.length !== 0 && (end === text.length || text[end] === ",");
      if (isWhole && first.value <= (last ?? first).value) {
        isWritten &&= first.isPlain && last?.isPlain !== false && this.isNext(first.value, last?.value);
        isInOrder = this.append(first.value, (last ?? first).value) && isInOrder;
      } else isWritten = false;
      at = isWhole ? end : afterPart(text, end);
    }
    if (!isInOrder) this.putInOrder();
    for (const [at, first] of this.firsts.entries()) this.counted += (this.lasts[at] as number) - first + 1;
    if (isWritten) this.written = text;
  }

  /** Whether a part, `first` or `first-last`, is how what follows is written: apart from the one before, or the second of two. */
  private isNext(first: number, last: number | undefined): boolean {
    const end = this.lasts.length - 1;
    const apart = end < 0 || first > (this.lasts[end] as number) + 1;
    if (last !== undefined) return apart && last > first + 1;
    return apart || (first === (this.firsts[end] as number) + 1 && first === (this.lasts[end] as number) + 1);
  }

  get size(): number {
    return this.counted + this.added.size;
  }

  has(index: number): boolean {
    return this.added.has(index) || this.rangeWith(index) >= 0;
  }

  add(index: number): void {
    if (!this.has(index)) this.added.add(index);
  }

  /** The first from `index` on that is not among them. */
  freeFrom(index: number): number {
    let free = index;
    while (this.has(free)) free = (this.lasts[this.rangeWith(free)] ?? free) + 1;
    return free;
  }

  /** Two that follow each other are no range of their own: `0,1`. */
  get text(): string {
    if (this.written !== undefined && this.added.size === 0) return this.written;
    const all = this.added.size === 0 ? this : this.withAdded();
    const parts: string[] = [];
    for (const [at, first] of all.firsts.entries()) {
      const last = all.lasts[at] as number;
      parts.push(first === last ? `${first}` : `${first}${last === first + 1 ? "," : "-"}${last}`);
    }
    return parts.join(",");
  }

  /** The place of the range that an index is in; -1: it is in none. */
  private rangeWith(index: number): number {
    let [low, high] = [0, this.lasts.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.lasts[middle] as number) < index) low = middle + 1;
      else high = middle;
    }
    return low < this.lasts.length && (this.firsts[low] as number) <= index ? low : -1;
  }

  private append(first: number, last: number): boolean {
    const end = this.lasts.length - 1;
    if (end >= 0 && first <= (this.lasts[end] as number) + 1 && first >= (this.firsts[end] as number)) {
      this.lasts[end] = Math.max(last, this.lasts[end] as number);
      return true;
    }
    this.firsts.push(first);
    this.lasts.push(last);
    return end < 0 || first > (this.lasts[end] as number);
  }

  private putInOrder(): void {
    const ranges = this.firsts.map((first, at) => [first, this.lasts[at] as number] as const);
    ranges.sort(([left], [right]) => left - right);
    this.firsts.length = 0;
    this.lasts.length = 0;
    for (const [first, last] of ranges) this.append(first, last);
  }

  private withAdded(): IndexRanges {
    const all = new IndexRanges();
    for (const [at, first] of this.firsts.entries()) all.append(first, this.lasts[at] as number);
    for (const index of this.added) all.append(index, index);
    all.putInOrder();
    return all;
  }
}

interface NumberRead {
  readonly value: number;
  /** Digits; 0 where there is no number, or one too long to be exact. */
  readonly length: number;
  /** Without a zero in front. */
  readonly isPlain: boolean;
}

const digitsMax = 15;

function numberAt(text: string, from: number): NumberRead {
  let value = 0;
  let at = from;
  for (; at < text.length; at++) {
    const digit = text.charCodeAt(at) - 48;
    if (digit < 0 || digit > 9) break;
    value = value * 10 + digit;
  }
  const length = at - from > digitsMax ? 0 : at - from;
  return { value, length, isPlain: length === 1 || text[from] !== "0" };
}

function afterPart(text: string, from: number): number {
  const comma = text.indexOf(",", from);
  return comma < 0 ? text.length : comma;
}
