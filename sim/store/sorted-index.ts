/**
 * Keyed items in the order of their keys' UTF-8 bytes: the order of the real store. A list of short sorted runs:
 * finding is two binary searches, inserting moves a part of one run, and a count needs the runs' lengths only.
 */
import { compareBytes } from "../../wire/go-strings.ts";

/** A run is split when it grows beyond this: long enough to keep the list of runs short, short enough to move. */
const RUN_LENGTH_MAX = 128;

/** From here on UTF-16 units and UTF-8 bytes may order differently. */
const unusualUnits = /[\ud800-\uffff]/;

let lastUsual = "";

/** A key goes into several indexes, one after the other. */
function isUnusual(key: string): boolean {
  if (key === lastUsual) return false;
  if (unusualUnits.test(key)) return true;
  lastUsual = key;
  return false;
}

export interface Keyed {
  readonly key: string;
}

export class SortedIndex<Item extends Keyed> {
  private readonly runs: Item[][] = [];
  private itemCount = 0;
  /** Where the last item went in: the next one often goes in behind it. Only a hint, which may be out of date. */
  private lastRun = 0;
  private lastPosition = 0;
  /** True once a key came for which `<` on strings is not the order of bytes. */
  private unusual = false;

  get size(): number {
    return this.itemCount;
  }

  /** The key must not be in the index. */
  insert(item: Item): void {
    const { key } = item;
    if (!this.unusual && isUnusual(key)) this.unusual = true; // what is there already has one order in both
    this.itemCount++;
    const follows = this.followsLast(key);
    const at = follows ? this.lastRun : Math.max(0, this.runBefore(key));
    const run = this.runs[at];
    if (run === undefined) {
      this.runs.push([item]);
      return;
    }
    const position = follows ? this.lastPosition + 1 : this.positionIn(run, key);
    this.lastRun = at;
    this.lastPosition = position;
    if (position < run.length) insertAt(run, position, item);
    else if (run.length < RUN_LENGTH_MAX || at < this.runs.length - 1) run.push(item);
    else this.runs.push([item]); // keys that come in order leave full runs behind
    if (run.length > RUN_LENGTH_MAX) this.runs.splice(at + 1, 0, run.splice(RUN_LENGTH_MAX / 2));
  }

  /** The key must be in the index. */
  remove(key: string): void {
    const at = this.runBefore(key);
    const run = this.runs[at] as Item[];
    run.splice(this.positionIn(run, key), 1);
    this.itemCount--;
    if (run.length === 0) this.runs.splice(at, 1);
  }

  /** Visits the items of [start, end) in order until `visit` returns false; an empty `end` means no end. The index must not change meanwhile. */
  scan(start: string, end: string, visit: (item: Item) => boolean): void {
    let at = Math.max(0, this.runBefore(start));
    let position = at < this.runs.length ? this.positionIn(this.runs[at] as Item[], start) : 0;
    for (; at < this.runs.length; at++, position = 0) {
      const run = this.runs[at] as Item[];
      // Only the run that holds the end needs its items compared.
      const last = run[run.length - 1] as Item;
      const stop = end === "" || this.precedes(last.key, end) ? run.length : this.positionIn(run, end);
      for (; position < stop; position++) if (!visit(run[position] as Item)) return;
      if (stop < run.length) return;
    }
  }

  /** How many items [start, end) holds; an empty `end` means no end. */
  count(start: string, end: string): number {
    const until = end === "" ? this.itemCount : this.rank(end);
    return Math.max(0, until - this.rank(start));
  }

  /** Whether `key` belongs right behind the last item that was inserted: names that count up do. */
  private followsLast(key: string): boolean {
    const run = this.runs[this.lastRun];
    const before = run?.[this.lastPosition];
    if (run === undefined || before === undefined || !this.precedes(before.key, key)) return false;
    const after = run[this.lastPosition + 1] ?? this.runs[this.lastRun + 1]?.[0];
    return after === undefined || this.precedes(key, after.key);
  }

  /** How many keys precede `key`. */
  private rank(key: string): number {
    const at = this.runBefore(key);
    if (at < 0) return 0;
    let before = 0;
    for (let index = 0; index < at; index++) before += (this.runs[index] as Item[]).length;
    return before + this.positionIn(this.runs[at] as Item[], key);
  }

  /** Index of the last run whose first key is `key` or precedes it; -1 when there is none. */
  private runBefore(key: string): number {
    let low = 0;
    let high = this.runs.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.precedes(key, ((this.runs[middle] as Item[])[0] as Item).key)) high = middle;
      else low = middle + 1;
    }
    return low - 1;
  }

  /** Position of the first item whose key is `key` or follows it. */
  private positionIn(run: readonly Item[], key: string): number {
    let low = 0;
    let high = run.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.precedes((run[middle] as Item).key, key)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Order of keys. */
  precedes(left: string, right: string): boolean {
    return this.unusual ? compareBytes(left, right) < 0 : left < right;
  }
}

/** `splice` would make a list of what it removes, which is nothing. */
function insertAt<Item>(run: Item[], position: number, item: Item): void {
  run.push(item);
  for (let at = run.length - 1; at > position; at--) run[at] = run[at - 1] as Item;
  run[position] = item;
}

/** The first key after all keys that begin with `prefix`: the end of its range. */
export function prefixEnd(prefix: string): string {
  const last = prefix.codePointAt(prefix.length - 1);
  if (last === 0x2f) return `${prefix.slice(0, -1)}0`; // all prefixes but odd ones end in a slash
  for (let at = prefix.length - 1; at >= 0; at--) {
    const unit = prefix.charCodeAt(at);
    if (unit < 0xd7ff) return prefix.slice(0, at) + String.fromCharCode(unit + 1);
  }
  return "";
}
