/** Who has to be looked at, and when: a binary heap, so that a node needs one timer for all its containers. */
export class WakeHeap<T extends { wakeMicros: number }> {
  private readonly items: { readonly at: number; readonly item: T }[] = [];

  /** Sets when an item is due; Infinity: not at all. What was said of it before no longer counts. */
  set(item: T, at: number): void {
    if (item.wakeMicros === at) return;
    item.wakeMicros = at;
    if (at !== Infinity) this.push({ at, item });
  }

  /** When the next item is due. */
  get nextMicros(): number {
    for (let top = this.items[0]; top !== undefined; top = this.items[0]) {
      if (top.item.wakeMicros === top.at) return top.at;
      this.shift();
    }
    return Infinity;
  }

  /** Takes an item that is due; it is then not due any more. */
  takeDue(nowMicros: number): T | undefined {
    if (this.nextMicros > nowMicros) return undefined;
    const { item } = this.shift() as { item: T };
    item.wakeMicros = Infinity;
    return item;
  }

  private push(entry: { readonly at: number; readonly item: T }): void {
    const { items } = this;
    let at = items.push(entry) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if ((items[parent] as { at: number }).at <= entry.at) break;
      items[at] = items[parent] as (typeof items)[0];
      at = parent;
    }
    items[at] = entry;
  }

  private shift(): { readonly at: number; readonly item: T } | undefined {
    const { items } = this;
    const top = items[0];
    const last = items.pop();
    if (last === undefined || items.length === 0) return top;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && (items[child + 1] as { at: number }).at < (items[child] as { at: number }).at)
        child++;
      if ((items[child] as { at: number }).at >= last.at) break;
      items[at] = items[child] as (typeof items)[0];
      at = child;
    }
    items[at] = last;
    return top;
  }
}
