/**
 * Sessions of HTTP/2 that bring bodies. Node reads their sockets by itself, up to 2 MiB each in a turn of the loop, which may be two
 * hundred thousand frames. When some thousands have come in a turn, nothing more is read from any of them, and each goes on when it
 * has its turn.
 */
import type { Socket } from "node:net";
import { setImmediate } from "node:timers";

/** Of bodies, in one turn: a few megabytes of large ones, some milliseconds of small ones. */
const piecesMax = 2_000;

interface Handle {
  readStart(): unknown;
  readStop(): unknown;
  /** In bytes: what the peer has not taken yet. */
  readonly writeQueueSize?: number;
}

/** Of a session whose peer has to read first node reads nothing more, and goes on by itself when that is done. */
function goOn(handle: Handle): void {
  if ((handle.writeQueueSize ?? 0) === 0) handle.readStart();
}

interface Reading {
  /** Bodies that have not come whole. */
  bodies: number;
  readonly handle: Handle;
}

export class PacedSessions {
  readonly #piecesMax: number;
  /** Those that bring bodies, in the order in which they are to go on. */
  readonly #reading = new Map<object, Reading>();
  #stopped = new Set<object>();
  #pieces = 0;
  #isCounting = false;

  constructor(max = piecesMax) {
    this.#piecesMax = max;
  }

  /** A body begins that `session` brings over `socket`. What is returned is called for each of its pieces. */
  begin(session: object, socket: Pick<Socket, never>): () => void {
    const handle = (socket as { readonly _handle?: Handle | null })._handle;
    if (handle === undefined || handle === null) return () => {};
    const known = this.#reading.get(session);
    if (known === undefined) this.#reading.set(session, { bodies: 1, handle });
    else known.bodies++;
    return () => this.#came(session);
  }

  /** A body of `session` has ended, however it did. */
  end(session: object): void {
    const reading = this.#reading.get(session);
    if (reading === undefined || --reading.bodies > 0) return;
    this.#reading.delete(session);
    if (this.#stopped.delete(session)) goOn(reading.handle);
  }

  #came(session: object): void {
    this.#pieces++;
    if (!this.#isCounting) {
      this.#isCounting = true;
      setImmediate(this.#nextTurn);
    }
    if (this.#pieces !== this.#piecesMax) return;
    // Who has brought so much is the last to go on.
    const reading = this.#reading.get(session);
    if (reading !== undefined) {
      this.#reading.delete(session);
      this.#reading.set(session, reading);
    }
    for (const [each, { handle }] of this.#reading) {
      if (this.#stopped.has(each)) continue;
      this.#stopped.add(each);
      handle.readStop();
    }
  }

  /** One that was stopped goes on in each turn, and all of them when hardly anything came. */
  readonly #nextTurn = (): void => {
    const isQuiet = this.#pieces < this.#piecesMax / 2;
    this.#pieces = 0;
    this.#isCounting = this.#stopped.size > 0;
    for (const [session, { handle }] of this.#reading) {
      if (!this.#stopped.delete(session)) continue;
      goOn(handle);
      if (!isQuiet) break;
    }
    if (this.#isCounting) setImmediate(this.#nextTurn);
  };
}

/** Of this process. */
export const pacedSessions = new PacedSessions();
