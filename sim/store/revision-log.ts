/**
 * One entry for each revision since the last compaction, in columns: a revision costs 36 bytes here and no
 * object of its own. Each entry points back to its key's entry before, and to one further back, so that an old
 * revision of a key written a million times is found in some twenty steps.
 */
import type { StoredValue } from "./types.ts";

/** What the store keeps for a key as long as any retained revision knows it. */
export interface KeyRecord {
  readonly key: string;
  /** Revision of the last write or deletion. */
  head: number;
  /** Undefined after a deletion. */
  value: StoredValue | undefined;
  /** Newest change at or before the compacted revision; 0 when there was none. */
  baseRevision: number;
  baseValue: StoredValue | undefined;
}

const BLOCK_BITS = 12;
const BLOCK_LENGTH = 1 << BLOCK_BITS;
const BLOCK_MASK = BLOCK_LENGTH - 1;

class Block {
  readonly records: (KeyRecord | undefined)[] = new Array<KeyRecord | undefined>(BLOCK_LENGTH).fill(undefined);
  readonly values: (StoredValue | undefined)[] = new Array<StoredValue | undefined>(BLOCK_LENGTH).fill(undefined);
  /** Revision of the same key's change before; at or below the compacted revision when that is gone. */
  readonly previous = new Float64Array(BLOCK_LENGTH);
  /** Revision of some earlier change of the same key: the skip of a skew-binary list (Myers, 1983). */
  readonly skip = new Float64Array(BLOCK_LENGTH);
  readonly depth = new Int32Array(BLOCK_LENGTH);
}

export class RevisionLog {
  /** Blocks by revision / BLOCK_LENGTH, less `firstBlock`. */
  private readonly blocks: Block[] = [];
  private firstBlock: number;
  /** There are entries of all revisions after this one. */
  private compacted: number;

  /** The first entry will be of `firstRevision`. */
  constructor(firstRevision: number) {
    this.firstBlock = Math.floor(firstRevision / BLOCK_LENGTH);
    this.compacted = firstRevision - 1;
  }

  /** Enters the change of `revision`, which follows the last one entered; `record` is as it was before it. */
  append(revision: number, record: KeyRecord, value: StoredValue | undefined): void {
    const index = Math.floor(revision / BLOCK_LENGTH) - this.firstBlock;
    if (index === this.blocks.length) this.blocks.push(new Block());
    const block = this.blocks[index] as Block;
    const at = revision & BLOCK_MASK;
    const previous = record.head;
    block.records[at] = record;
    block.values[at] = value;
    block.previous[at] = previous;
    const skip = this.skipOf(previous);
    const even = this.depthOf(previous) - this.depthOf(skip) === this.depthOf(skip) - this.depthOf(this.skipOf(skip));
    block.skip[at] = even ? this.skipOf(skip) : previous;
    block.depth[at] = this.depthOf(previous) + 1;
  }

  recordAt(revision: number): KeyRecord {
    return this.block(revision).records[revision & BLOCK_MASK] as KeyRecord;
  }

  valueAt(revision: number): StoredValue | undefined {
    return this.block(revision).values[revision & BLOCK_MASK];
  }

  previousOf(revision: number): number {
    return this.block(revision).previous[revision & BLOCK_MASK] as number;
  }

  /** Revision of the key's newest change at or before `revision`, which is not below the compacted one; 0 when there is none. */
  find(record: KeyRecord, revision: number): number {
    let at = record.head;
    while (at > revision) {
      const skip = this.skipOf(at);
      at = skip > revision ? skip : this.previousOf(at);
    }
    return at > this.compacted ? at : record.baseRevision;
  }

  /** What the key held after its change at `found`, a result of `find`. */
  valueFound(record: KeyRecord, found: number): StoredValue | undefined {
    return found > this.compacted ? this.valueAt(found) : record.baseValue;
  }

  /** Forgets the entries up to `revision`, leaving the newest of each key in its record. `fold` hears of each. */
  compact(revision: number, fold: (record: KeyRecord, at: number) => void): void {
    if (revision <= this.compacted) return;
    for (let at = this.compacted + 1; at <= revision; at++) {
      const block = this.block(at);
      const record = block.records[at & BLOCK_MASK] as KeyRecord;
      record.baseRevision = at;
      record.baseValue = block.values[at & BLOCK_MASK];
      block.records[at & BLOCK_MASK] = undefined;
      block.values[at & BLOCK_MASK] = undefined; // the block may live on for the sake of its later entries
      fold(record, at);
    }
    this.compacted = revision;
    const first = Math.floor((revision + 1) / BLOCK_LENGTH);
    this.blocks.splice(0, first - this.firstBlock);
    this.firstBlock = first;
  }

  private block(revision: number): Block {
    return this.blocks[Math.floor(revision / BLOCK_LENGTH) - this.firstBlock] as Block;
  }

  private skipOf(revision: number): number {
    return revision > this.compacted ? (this.block(revision).skip[revision & BLOCK_MASK] as number) : revision;
  }

  private depthOf(revision: number): number {
    return revision > this.compacted ? (this.block(revision).depth[revision & BLOCK_MASK] as number) : 0;
  }
}
