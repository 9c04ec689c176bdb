/**
 * Sockets that node's parsers read, or whose bytes are passed on. One read brings up to 64 KiB, which may be ten thousand chunks or
 * two thousand requests, and hundreds of sockets are read in one turn of the loop. So what each brings is handed on a slice at a
 * time, when its connection has its turn, and until all of it is handed on nothing more is read from that socket.
 */
import type { Duplex } from "node:stream";
import type { LoopShare } from "../kernel/loop-share.ts";
import { loopShare } from "./wall.ts";

/** Of what a parser reads. */
const parsedBytesMax = 16 * 1024;
/** Of what is passed on as it comes: the size does not make it dearer. */
export const passedBytesMax = 64 * 1024;
/** What is no longer comes before what is: most requests without a body, and of chunks a fraction of a millisecond. */
const smallBytesMax = 2 * 1024;
/** So many pieces at a time, where they are small, as records of TLS may be. */
const piecesMax = 256;

/** Node tells of an end, and closes, when the work of this turn is done. */
const endMicros = 50;

const paces = new WeakMap<Duplex, Pace>();

/** From now on; a socket that is paced already goes on with slices of `sliceBytes`. */
export function paceSocket(socket: Duplex, sliceBytes = parsedBytesMax, share: LoopShare = loopShare): void {
  const known = paces.get(socket);
  if (known === undefined) paces.set(socket, new Pace(socket, sliceBytes, share));
  else known.sliceBytes = sliceBytes;
}

/** Null: that was all. */
type Piece = Uint8Array | null;

class Pace {
  sliceBytes: number;
  readonly #socket: Duplex;
  readonly #share: LoopShare;
  readonly #push: (piece: Piece) => boolean;
  /** Has come and is not handed on, from `#at` on. */
  #waiting: Piece[] = [];
  #at = 0;
  /** Something was handed on of what has come. */
  #isRest = false;
  /** The next slice waits for its turn. */
  #isAsked = false;
  #isHandingOn = false;
  /** The reader has room for more. */
  #isTaken = true;

  constructor(socket: Duplex, sliceBytes: number, share: LoopShare) {
    this.sliceBytes = sliceBytes;
    this.#socket = socket;
    this.#share = share;
    this.#push = socket.push.bind(socket);
    const readMore = socket._read.bind(socket);
    socket.push = (piece: Piece) => this.#came(piece);
    socket._read = (size) => {
      if (!this.#isWaiting()) readMore(size);
    };
    socket.on("resume", () => this.#handOn());
  }

  #isWaiting(): boolean {
    return this.#at < this.#waiting.length;
  }

  /** Whether more may be read at once. */
  #came(piece: Piece): boolean {
    this.#waiting.push(piece);
    this.#handOn();
    return this.#isTaken && !this.#isWaiting();
  }

  /** One slice after another, for as long as this turn of the loop has time and the reader takes them. */
  #handOn(): void {
    if (this.#isHandingOn) return;
    this.#isHandingOn = true;
    while (this.#mayHandOn() && !this.#isAsked) {
      this.#isAsked = true;
      this.#share.begin(this.#socket, this.#turn, this.#isLarge);
    }
    this.#isHandingOn = false;
  }

  /** Whoever has paused a socket hears of its end all the same, as of one that nobody paces. */
  #mayHandOn(): boolean {
    return this.#isWaiting() && (!this.#socket.isPaused() || this.#waiting[this.#at] === null);
  }

  readonly #isLarge = (): boolean =>
    this.#isRest || this.#waiting.length > 1 || (this.#waiting[0]?.length ?? 0) > smallBytesMax;

  readonly #turn = (): void => {
    this.#isAsked = false;
    if (this.#socket.destroyed) this.#waiting = [];
    else if (this.#mayHandOn()) this.#slice();
    this.#handOn();
  };

  #slice(): void {
    let bytes = 0;
    for (let pieces = 0; pieces < piecesMax && bytes < this.sliceBytes; pieces++) {
      if (!this.#mayHandOn()) return;
      const next = this.#next(this.sliceBytes - bytes);
      bytes += next?.length ?? 0;
      this.#isTaken = this.#push(next);
      if (next !== null) continue;
      this.#socket.read(0); // as node does: of a paused one the end is told so
      this.#share.follows(endMicros);
    }
  }

  /** Taken out before it is handed on: whoever reads it may ask for more. */
  #next(bytesMax: number): Piece {
    const piece = this.#waiting[this.#at] as Piece;
    if (piece !== null && piece.length > bytesMax) {
      this.#waiting[this.#at] = piece.subarray(bytesMax);
      this.#isRest = true;
      return piece.subarray(0, bytesMax);
    }
    this.#at++;
    if (!this.#isWaiting()) this.#clear();
    return piece;
  }

  #clear(): void {
    this.#waiting.length = 0;
    this.#at = 0;
    this.#isRest = false;
  }
}
