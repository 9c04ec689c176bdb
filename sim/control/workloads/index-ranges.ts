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

  /** Parts that name no range are passed over. */
  constructor(text = "") {
    let isInOrder = true;
    for (let at = 0; at < text.length; ) {
      const comma = text.indexOf(",", at);
      const end = comma < 0 ? text.length : comma;
      isInOrder = this.take(text.slice(at, end)) && isInOrder;
      at = end + 1;
    }
    if (!isInOrder) this.putInOrder();
    for (const [at, first] of this.firsts.entries()) this.counted += (this.lasts[at] as number) - first + 1;
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

  /** A part of the text; false when it does not come after the ones before. */
  private take(part: string): boolean {
    const dash = part.indexOf("-");
    const first = numberOf(dash < 0 ? part : part.slice(0, dash));
    const last = dash < 0 ? first : numberOf(part.slice(dash + 1));
    return first <= last ? this.append(first, last) : true;
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

/** NaN where there is none, which is in no range. */
const numberOf = (digits: string): number => (/^\d{1,15}$/.test(digits) ? Number(digits) : NaN);
