/**
 * Bytes that come in pieces. Who sends them chooses the size of the pieces: a million of one byte each would take a hundred times
 * their bytes as buffers of their own. Small ones are copied into blocks, and all is counted as what it takes.
 */

/** A piece of this size stays as it came, unless it keeps a much larger buffer alive. */
const keptBytesMin = 8 * 1024;
/** The first block is as large as the first piece; each further one as all that came before, within limits. */
const blockBytesMin = 4 * 1024;
const blockBytesMax = 256 * 1024;

const nothing = new Uint8Array(0);

export class Gathered {
  readonly #pieces: Uint8Array[] = [];
  /** Takes what is small: `#start` to `#end` of it is filled, and no part of `#pieces` yet. */
  #block: Uint8Array = nothing;
  #start = 0;
  #end = 0;
  #bytes = 0;

  /** How many bytes have come. */
  get bytes(): number {
    return this.#bytes;
  }

  /** How many more bytes of memory are held with this piece: none, as long as there is room for it. */
  add(piece: Uint8Array): number {
    if (piece.length === 0) return 0;
    const mayStay = piece.length >= keptBytesMin || this.#bytes === 0; // most bodies are one small piece
    this.#bytes += piece.length;
    if (!mayStay || piece.buffer.byteLength > 2 * piece.length) return this.#copy(piece);
    this.#close();
    this.#pieces.push(piece);
    return piece.buffer.byteLength;
  }

  /** All that has come, in order, in few pieces. Nothing is copied. */
  pieces(): readonly Uint8Array[] {
    this.#close();
    return this.#pieces;
  }

  /** All that has come in one piece. */
  joined(): Uint8Array {
    const pieces = this.pieces();
    if (pieces.length <= 1) return pieces[0] ?? nothing;
    const whole = new Uint8Array(this.#bytes);
    let end = 0;
    for (const piece of pieces) {
      whole.set(piece, end);
      end += piece.length;
    }
    return whole;
  }

  /** Nothing has come. */
  clear(): void {
    this.#pieces.length = 0;
    this.#block = nothing;
    this.#start = 0;
    this.#end = 0;
    this.#bytes = 0;
  }

  #copy(piece: Uint8Array): number {
    const room = this.#block.length - this.#end;
    const isEnough = piece.length <= room;
    this.#fill(isEnough ? piece : piece.subarray(0, room));
    if (isEnough) return 0;
    this.#close();
    const rest = piece.subarray(room);
    const isFirst = this.#bytes === rest.length;
    const size = isFirst ? rest.length : Math.max(rest.length, blockBytesMin, Math.min(this.#bytes, blockBytesMax));
    this.#block = new Uint8Array(size);
    this.#start = 0;
    this.#end = 0;
    this.#fill(rest);
    return size;
  }

  #fill(piece: Uint8Array): void {
    this.#block.set(piece, this.#end);
    this.#end += piece.length;
  }

  /** What comes next stands behind it in the same block. */
  #close(): void {
    if (this.#end > this.#start) this.#pieces.push(this.#block.subarray(this.#start, this.#end));
    this.#start = this.#end;
  }
}
