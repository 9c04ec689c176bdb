/**
 * Cuts the bytes of a watch into its events: lines of JSON, or protobuf with a length before each. An event may come in a million
 * pieces, so that each byte is looked at once, and none is copied before its event is whole.
 */
import { Gathered } from "../../wire/gathered.ts";

/** Nothing that follows can be relied upon. */
export class LostWatch extends Error {}

const lineEnd = 10;
const headBytes = 4;

export class WatchFrames {
  readonly #isProtobuf: boolean;
  readonly #bytesMax: number;
  readonly #gathered = new Gathered();
  /** Of an event in protobuf whose head has come. */
  #length: number | undefined;
  #lookedAt = 0;

  constructor(isProtobuf: boolean, bytesMax: number) {
    this.#isProtobuf = isProtobuf;
    this.#bytesMax = bytesMax;
  }

  /** Bytes that were looked at for an end of an event, for tests. */
  get lookedAt(): number {
    return this.#lookedAt;
  }

  /** The events that are whole with this chunk, without what stands around them. Throws `LostWatch`. */
  *add(chunk: Buffer): Generator<Uint8Array, void> {
    for (let at = 0; at < chunk.length; ) {
      const end = this.#isProtobuf ? this.#messageEnd(chunk, at) : this.#lineEnd(chunk, at);
      const piece = chunk.subarray(at, end ?? chunk.length);
      this.#require(this.#gathered.bytes + piece.length);
      if (end === undefined) {
        this.#gathered.add(piece);
        return;
      }
      at = end;
      const part = this.#partWith(piece);
      if (!this.#isProtobuf) yield part.subarray(0, part.length - 1);
      else if (this.#length === undefined) {
        this.#length = new DataView(part.buffer, part.byteOffset).getUint32(0);
        this.#require(this.#length);
      } else {
        this.#length = undefined;
        yield part;
      }
    }
  }

  #require(bytes: number): void {
    if (bytes > this.#bytesMax) throw new LostWatch(`an event is longer than ${this.#bytesMax} bytes`);
  }

  /** What had come and this, in one piece; from here on nothing has come. */
  #partWith(piece: Uint8Array): Uint8Array {
    if (this.#gathered.bytes === 0) return piece;
    this.#gathered.add(piece);
    const whole = this.#gathered.joined();
    this.#gathered.clear();
    return whole;
  }

  #lineEnd(chunk: Buffer, at: number): number | undefined {
    const found = chunk.indexOf(lineEnd, at);
    this.#lookedAt += (found < 0 ? chunk.length : found + 1) - at;
    return found < 0 ? undefined : found + 1;
  }

  /** Of the head, and then of what it announces. */
  #messageEnd(chunk: Buffer, at: number): number | undefined {
    const end = at + (this.#length ?? headBytes) - this.#gathered.bytes;
    return end > chunk.length ? undefined : end;
  }
}
