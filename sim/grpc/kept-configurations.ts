/**
 * What callers have a runtime keep of pods and containers: their configurations, for as long as they are there. Nobody tells when
 * one is removed: what there is is counted anew when what has come since the last time might be too much, and there are fewer
 * than have come.
 */
export interface Configurations {
  readonly count: () => number;
  readonly all: () => Iterable<object>;
}

export class KeptConfigurations {
  readonly #bytesMax: number;
  readonly #there: Configurations;
  /** Of calls that have brought them; what an earlier life of the runtime has left is measured. */
  readonly #sizes = new WeakMap<object, number>();
  /** Those of calls that are being carried out: they may not be there yet. */
  readonly #coming = new Set<object>();
  /** No less than there is. */
  #bytes = Infinity;
  /** How many there are if none has been removed since they were counted. */
  #expectedCount = Infinity;
  recounts = 0;

  constructor(bytesMax: number, there: Configurations) {
    this.#bytesMax = bytesMax;
    this.#there = there;
  }

  /** Whether another of so many bytes may be made. */
  hasRoomFor(bytes: number): boolean {
    if (this.#bytes + bytes > this.#bytesMax && this.#there.count() < this.#expectedCount) this.#recount();
    return this.#bytes + bytes <= this.#bytesMax;
  }

  /** A call begins to make one. Returns what the call's end is to be told to, once or more often. */
  add(configuration: object, bytes: number): () => void {
    this.#sizes.set(configuration, bytes);
    this.#bytes += bytes;
    this.#coming.add(configuration);
    return () => {
      if (this.#coming.delete(configuration)) this.#expectedCount++;
    };
  }

  #recount(): void {
    this.recounts++;
    this.#bytes = 0;
    this.#expectedCount = this.#there.count();
    for (const configuration of this.#there.all())
      if (!this.#coming.has(configuration)) this.#bytes += this.#sizeOf(configuration);
    for (const configuration of this.#coming) this.#bytes += this.#sizeOf(configuration);
  }

  #sizeOf(configuration: object): number {
    let size = this.#sizes.get(configuration);
    if (size === undefined) this.#sizes.set(configuration, (size = JSON.stringify(configuration).length));
    return size;
  }
}
