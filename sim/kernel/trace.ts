import { InvariantError, invariant } from "./invariant.ts";
import type { Micros } from "./types.ts";

/** A value in a record: a safe integer or a string. */
export type TraceValue = number | string | undefined;

export interface TraceRecord {
  /** Position in the run, from 0. */
  readonly index: number;
  readonly atMicros: Micros;
  readonly process: string;
  readonly kind: string;
  readonly values: readonly (number | string)[];
}

export interface TraceOptions {
  /** `tail` (default) keeps the last `tailMax` records for diagnosis; `all` keeps every one, about 50 bytes each. */
  readonly keep?: "tail" | "all";
  /** Records kept by `tail`: an integer, 1 or more. Default 256. */
  readonly tailMax?: number;
}

/** A word (process name or kind) that has been entered: records hold its number, the hash its own hash. */
export type WordId = number;

const VALUES_PER_RECORD = 3;
const TAIL_DEFAULT = 256;
const ALL_INITIAL = 1024;
const TWO_TO_32 = 0x1_0000_0000;

// What a hashed word stands for, so that 1, "1" and nothing differ.
const TAG_SMALL_INTEGER = 1;
const TAG_INTEGER = 2;
const TAG_STRING = 3;

/**
 * What happened in a run: records in order, and a rolling hash of 64 bits over all of them, whether they
 * are kept or not. The hash is two lanes of 32-bit arithmetic in plain JavaScript, so it is the same in
 * every engine, worker and browser. It finds accidents; it is no defence against an adversary.
 */
export class Trace {
  /** Records so far. */
  count = 0;

  private laneA = 0x2f0b4c47;
  private laneB = 0x61c88647;

  private row = 0;
  private readonly words: string[] = [];
  private readonly wordHashes: number[] = [];
  private readonly wordIds = new Map<string, WordId>();

  // Kept records, by column. With `tail` they wrap round.
  private readonly keepsAll: boolean;
  private capacity: number;
  private times: Float64Array;
  private processIds: Int32Array;
  private kindIds: Int32Array;
  private readonly values: TraceValue[] = [];

  constructor(options: TraceOptions = {}) {
    this.keepsAll = options.keep === "all";
    this.capacity = this.keepsAll ? ALL_INITIAL : (options.tailMax ?? TAIL_DEFAULT);
    invariant(
      Number.isSafeInteger(this.capacity) && this.capacity >= 1,
      "a trace's tail holds 1 record or more",
      options,
    );
    this.times = new Float64Array(this.capacity);
    this.processIds = new Int32Array(this.capacity);
    this.kindIds = new Int32Array(this.capacity);
  }

  /** The number of a process name or kind; the same word always has the same one. */
  word(text: string): WordId {
    const known = this.wordIds.get(text);
    if (known !== undefined) return known;
    const id = this.words.length;
    this.words.push(text);
    this.wordHashes.push(hashText(text));
    this.wordIds.set(text, id);
    return id;
  }

  record(atMicros: Micros, process: WordId, kind: WordId, a?: TraceValue, b?: TraceValue, c?: TraceValue): void {
    const valueCount = (a === undefined ? 0 : 1) + (b === undefined ? 0 : 1) + (c === undefined ? 0 : 1);
    this.absorb(this.wordHashes[process] as number, this.wordHashes[kind] as number);
    // An instant has at most 53 bits, so the number of values fits above its high word.
    this.absorb(atMicros | 0, (atMicros / TWO_TO_32) | (valueCount << 21));
    if (a !== undefined) this.absorbValue(a);
    if (b !== undefined) this.absorbValue(b);
    if (c !== undefined) this.absorbValue(c);

    const row = this.nextRow();
    this.times[row] = atMicros;
    this.processIds[row] = process;
    this.kindIds[row] = kind;
    const from = row * VALUES_PER_RECORD;
    this.values[from] = a;
    this.values[from + 1] = b;
    this.values[from + 2] = c;
  }

  /**
   * `record` for the commonest record of all, one integer of which 32 bits enter the hash. Every event of a
   * run passes here: measured, it saves the run a tenth of its time.
   */
  recordEvent(atMicros: Micros, process: WordId, kind: WordId, sequence: number): void {
    this.absorb((this.wordHashes[process] as number) ^ (this.wordHashes[kind] as number), atMicros | 0);
    this.absorb(atMicros / TWO_TO_32, sequence);
    const row = this.nextRow();
    this.times[row] = atMicros;
    this.processIds[row] = process;
    this.kindIds[row] = kind;
    const from = row * VALUES_PER_RECORD;
    this.values[from] = sequence;
    this.values[from + 1] = undefined;
    this.values[from + 2] = undefined;
  }

  /** Sixteen hexadecimal digits over every record so far. */
  hash(): string {
    const a = finish(this.laneA ^ this.count);
    const b = finish(this.laneB ^ a);
    return hex32((a + b) | 0) + hex32(b);
  }

  /** The kept records, oldest first: all of them, or the tail. */
  records(): TraceRecord[] {
    const kept: TraceRecord[] = [];
    for (let index = this.firstKept; index < this.count; index++) kept.push(this.at(index) as TraceRecord);
    return kept;
  }

  /** Index of the oldest record still kept. */
  get firstKept(): number {
    return this.keepsAll ? 0 : Math.max(0, this.count - this.capacity);
  }

  /** The record at `index`; undefined when it is not kept, or has not happened. */
  at(index: number): TraceRecord | undefined {
    if (index < this.firstKept || index >= this.count) return undefined;
    const row = this.keepsAll ? index : index % this.capacity;
    const from = row * VALUES_PER_RECORD;
    return {
      index,
      atMicros: this.times[row] as number,
      process: this.words[this.processIds[row] as number] as string,
      kind: this.words[this.kindIds[row] as number] as string,
      values: this.values.slice(from, from + VALUES_PER_RECORD).filter((value) => value !== undefined),
    };
  }

  private nextRow(): number {
    if (this.row === this.capacity) {
      if (this.keepsAll) this.grow();
      else this.row = 0;
    }
    this.count++;
    return this.row++;
  }

  private grow(): void {
    this.capacity *= 2;
    const { times, processIds, kindIds } = this;
    this.times = new Float64Array(this.capacity);
    this.processIds = new Int32Array(this.capacity);
    this.kindIds = new Int32Array(this.capacity);
    this.times.set(times);
    this.processIds.set(processIds);
    this.kindIds.set(kindIds);
  }

  private absorbValue(value: number | string): void {
    if (typeof value === "string") {
      this.absorb(TAG_STRING, value.length);
      let index = 0;
      for (; index + 4 <= value.length; index += 4) {
        const first = value.charCodeAt(index) | (value.charCodeAt(index + 1) << 16);
        this.absorb(first, value.charCodeAt(index + 2) | (value.charCodeAt(index + 3) << 16));
      }
      // Apart, since reading past the end is slow, and makes everything slow that is read at the same place.
      if (index < value.length) this.absorb(twoUnits(value, index), twoUnits(value, index + 2));
    } else if ((value | 0) === value) {
      this.absorb(TAG_SMALL_INTEGER, value);
    } else {
      if (!Number.isSafeInteger(value)) throw new InvariantError("a trace holds safe integers and strings", { value });
      this.absorb(TAG_INTEGER, value | 0);
      this.absorb(TAG_INTEGER, Math.floor(value / TWO_TO_32));
    }
  }

  /**
   * Takes in two words of 32 bits. For given words it is a bijection of the state, and for a given state
   * different words give different states, so two runs that differ in one record never meet by its fault.
   */
  private absorb(first: number, second: number): void {
    let a = this.laneA ^ Math.imul(first, 0x85ebca77);
    a = (a << 15) | (a >>> 17);
    a = (Math.imul(a, 0xc2b2ae3d) + this.laneB) | 0;
    let b = this.laneB ^ Math.imul(second, 0x9e3779b1);
    b = (b << 11) | (b >>> 21);
    b = (Math.imul(b, 0x27d4eb2f) + a) | 0;
    this.laneA = a;
    this.laneB = b;
  }
}

/** Past the end charCodeAt is NaN, which `|` and `<<` take for 0; the length tells "a" from "a\0". */
function twoUnits(text: string, index: number): number {
  return text.charCodeAt(index) | (text.charCodeAt(index + 1) << 16);
}

/** 32 bits of a word, for its place in a record's hash. */
function hashText(text: string): number {
  let hash = 0x811c9dc5 ^ text.length;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
    hash ^= hash >>> 15;
  }
  return finish(hash);
}

/** Spreads every bit of the input over all 32 of the output; a bijection. */
function finish(value: number): number {
  let mixed = value ^ (value >>> 16);
  mixed = Math.imul(mixed, 0x7feb352d);
  mixed ^= mixed >>> 15;
  mixed = Math.imul(mixed, 0x846ca68b);
  return mixed ^ (mixed >>> 16);
}

function hex32(value: number): string {
  return (value >>> 0).toString(16).padStart(8, "0");
}
