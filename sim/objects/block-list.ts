/** A list in blocks: to insert or to remove somewhere in a million items moves a few hundred of them. */
export class BlockList<Item> {
  /** None is empty, but for the only one of an empty list. */
  private readonly blocks: Item[][] = [];
  private count = 0;

  constructor(items: readonly Item[]) {
    for (let at = 0; at < items.length; at += blockItems) this.blocks.push(items.slice(at, at + blockItems));
    if (this.blocks.length === 0) this.blocks.push([]);
    this.count = items.length;
  }

  get length(): number {
    return this.count;
  }

  /** `index` is in [0, length), as in `set` and `remove`. */
  at(index: number): Item | undefined {
    const { block, offset } = this.find(index);
    return (this.blocks[block] as Item[])[offset];
  }

  set(index: number, item: Item): void {
    const { block, offset } = this.find(index);
    (this.blocks[block] as Item[])[offset] = item;
  }

  /** `index` is in [0, length]. */
  insert(index: number, item: Item): void {
    const { block, offset } = this.find(index);
    const items = this.blocks[block] as Item[];
    items.splice(offset, 0, item);
    this.count++;
    if (items.length > 2 * blockItems) this.blocks.splice(block + 1, 0, items.splice(blockItems));
  }

  remove(index: number): void {
    const { block, offset } = this.find(index);
    const items = this.blocks[block] as Item[];
    items.splice(offset, 1);
    this.count--;
    if (items.length === 0 && this.blocks.length > 1) this.blocks.splice(block, 1);
  }

  /** All in one list, which is the caller's. */
  items(): Item[] {
    return this.blocks.flat() as Item[];
  }

  /** From the nearer end. The place behind the last item is in the last block. */
  private find(index: number): { readonly block: number; readonly offset: number } {
    const last = this.blocks.length - 1;
    if (index > this.count / 2) {
      let start = this.count;
      for (let block = last; ; block--) {
        start -= (this.blocks[block] as Item[]).length;
        if (index >= start) return { block, offset: index - start };
      }
    }
    let offset = index;
    let block = 0;
    while (block < last && offset >= (this.blocks[block] as Item[]).length) {
      offset -= (this.blocks[block] as Item[]).length;
      block++;
    }
    return { block, offset };
  }
}

const blockItems = 512;
