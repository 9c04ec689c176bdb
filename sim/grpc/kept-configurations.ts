/**
 * What callers have a runtime keep of pods and containers: their configurations, for as long as they are there. Nobody tells when
 * one is removed: what there is is counted anew when what has come since the last time might be too much.
 */
export class KeptConfigurations {
  readonly #bytesMax: number;
  readonly #all: () => Iterable<object>;
  /** Of calls that have brought them; what an earlier life of the runtime has left is measured. */
  readonly #sizes = new WeakMap<object, number>();
  /** Those of calls that are being carried out: they may not be there yet. */
  readonly #coming = new Set<object>();
  /** No less than there is. */
  #bytes = Infinity;
  recounts = 0;

  constructor(bytesMax: number, all: () => Iterable<object>) {
    this.#bytesMax = bytesMax;
    this.#all = all;
  }

  /** Whether another of so many bytes may be made. */
  hasRoomFor(bytes: number): boolean {
    if (this.#bytes + bytes > this.#bytesMax) this.#recount();
    return this.#bytes + bytes <= this.#bytesMax;
  }

  /** A call begins to make one. Returns what the call's end is to be told to. */
  add(configuration: object, bytes: number): () => void {
    this.#sizes.set(configuration, bytes);
    this.#bytes += bytes;
    this.#coming.add(configuration);
    return () => void this.#coming.delete(configuration);
  }

  #recount(): void {
    this.recounts++;
    this.#bytes = 0;
    for (const configuration of new Set([...this.#all(), ...this.#coming])) {
      let size = this.#sizes.get(configuration);
      if (size === undefined) {
        size = JSON.stringify(configuration).length;
        this.#sizes.set(configuration, size);
      }
      this.#bytes += size;
    }
  }
}
