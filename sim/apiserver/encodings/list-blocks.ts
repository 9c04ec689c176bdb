/**
 * The items of lists as bytes, in blocks of some dozen items that lists share: whole lists and pages, those before a
 * write and those after it. An item's uid decides whether a block begins with it, so that a change in one place
 * leaves all other blocks as they were, wherever their items now stand.
 */
import type { JsonObject } from "../../contract/http-message.ts";

/** Bytes of items from `from` on, a comma before each: up to `to`, or as many as make a megabyte. */
export type WriteBlock = (
  items: readonly JsonObject[],
  from: number,
  to: number,
) => { readonly bytes: Uint8Array; readonly to: number };

interface Block {
  readonly items: readonly JsonObject[];
  readonly bytes: Uint8Array;
  /** It ends where it does because its items are long. */
  readonly isCut: boolean;
}

/** One item in so many begins a block. */
const itemsPerBlock = 64;

const itemsMax = 4 * itemsPerBlock;

/** Pages of fewer are put together each time: their blocks would be of no use to anybody else. */
const keptItemsMin = 8;

export class ListBlocks {
  bytes = 0;
  /** By their first items, oldest first. */
  private readonly kept = new Map<JsonObject, Block>();

  /** `items` are frozen for good: their bytes are remembered by identity. */
  *piecesOf(items: readonly JsonObject[], write: WriteBlock): Generator<Uint8Array> {
    for (let from = 0; from < items.length; ) {
      const known = this.kept.get(items[from] as JsonObject);
      const block = known !== undefined && stands(known, items, from) ? known : this.make(items, from, write);
      yield block.bytes;
      from += block.items.length;
    }
  }

  keepWithin(bytesMax: number): void {
    if (this.bytes <= bytesMax) return;
    for (const [first, { bytes }] of this.kept) {
      if (this.bytes <= bytesMax) break;
      this.kept.delete(first);
      this.bytes -= bytes.length;
    }
  }

  private make(all: readonly JsonObject[], from: number, write: WriteBlock): Block {
    let to = from + 1;
    while (!endsAt(all, from, to)) to++;
    const written = write(all, from, to);
    const block = { items: all.slice(from, written.to), bytes: written.bytes, isCut: written.to < to };
    if (to - from < keptItemsMin) return block;
    const first = all[from] as JsonObject;
    this.bytes += block.bytes.length - (this.kept.get(first)?.bytes.length ?? 0);
    this.kept.set(first, block);
    return block;
  }
}

/** Whether `block` is just what would be made of `all` at `from`. */
function stands({ items, isCut }: Block, all: readonly JsonObject[], from: number): boolean {
  return (isCut || endsAt(all, from, from + items.length)) && items.every((item, index) => item === all[from + index]);
}

function endsAt(all: readonly JsonObject[], from: number, to: number): boolean {
  return to >= all.length || to - from >= itemsMax || begins(all[to] as JsonObject);
}

/** By the last two digits, which are as good as drawn. */
function begins({ metadata }: JsonObject): boolean {
  const uid = (metadata as JsonObject | undefined)?.["uid"];
  if (typeof uid !== "string") return false;
  const last = uid.length - 1;
  return digit(uid.charCodeAt(last)) === 0 && digit(uid.charCodeAt(last - 1)) % (itemsPerBlock / 16) === 0;
}

/** 0 to 15, of a hexadecimal digit's code unit. */
const digit = (unit: number): number => (unit < 0x3a ? unit - 0x30 : unit - 0x57);
