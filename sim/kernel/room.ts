/**
 * Memory for what clients leave unfinished or unread, all of them together. When it is full, who has held a part of it
 * the longest loses that: somebody slow, or somebody who never means to go on, but nobody who is quick.
 */
export interface Holder {
  /** What was held is to be let go of. `release` has been called. */
  evicted(): void;
}

export class Room {
  readonly #bytesMax: number;
  /** In the order in which they came. */
  readonly #held = new Map<Holder, number>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** `bytes` more for `holder`, which may lose them at once. */
  hold(holder: Holder, bytes: number): void {
    this.#held.set(holder, (this.#held.get(holder) ?? 0) + bytes);
    this.#bytes += bytes;
    if (this.#bytes <= this.#bytesMax) return;
    for (const [oldest] of this.#held) {
      if (this.#bytes <= this.#bytesMax) break;
      this.release(oldest);
      oldest.evicted();
    }
  }

  /** It holds nothing any more. */
  release(holder: Holder): void {
    this.#bytes -= this.#held.get(holder) ?? 0;
    this.#held.delete(holder);
  }
}
