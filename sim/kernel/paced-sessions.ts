/**
 * Sessions of HTTP/2 that bring bodies or open streams. Node reads their sockets by itself, up to 2 MiB each in a turn of the loop,
 * which may be two hundred thousand frames. When some thousands have come in a turn, nothing more is read from any of them, and each
 * goes on when it has its turn.
 */
import type { WallPorts } from "./wall-driver.ts";

/** Of bodies, in one turn: a few megabytes of large ones, some milliseconds of small ones. */
const piecesMax = 2_000;

/** A stream takes node as long as so many pieces, be it cancelled at once. */
const piecesOfStream = 5;

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
  /** A stream was opened in this turn, or in the one before. */
  turnsLeft: number;
  readonly handle: Handle;
}

export class PacedSessions {
  readonly #ports: WallPorts;
  readonly #piecesMax: number;
  /** Those that bring bodies or have opened streams of late, in the order in which they are to go on. */
  readonly #reading = new Map<object, Reading>();
  #stopped = new Set<object>();
  #pieces = 0;
  #isCounting = false;

  constructor(ports: WallPorts, max = piecesMax) {
    this.#ports = ports;
    this.#piecesMax = max;
  }

  /** A body begins that `session` brings over `socket`. What is returned is called for each of its pieces. */
  begin(session: object, socket: object): () => void {
    const reading = this.#known(session, socket);
    if (reading === undefined) return () => {};
    reading.bodies++;
    return () => this.#came(session, 1);
  }

  /** A body of `session` has ended, however it did. One that is stopped goes on when it has its turn. */
  end(session: object): void {
    const reading = this.#reading.get(session);
    if (reading === undefined || reading.bodies === 0) return;
    reading.bodies--;
    this.#count();
  }

  /** `session` begins, or opens a stream: it is paced with those that bring bodies for as long as it opens more. */
  opened(session: object, socket: object): void {
    const reading = this.#known(session, socket);
    if (reading === undefined) return;
    reading.turnsLeft = 2;
    this.#came(session, piecesOfStream);
  }

  #known(session: object, socket: object): Reading | undefined {
    const known = this.#reading.get(session);
    if (known !== undefined) return known;
    const handle = (socket as { readonly _handle?: Handle | null })._handle;
    if (handle === undefined || handle === null) return undefined;
    const reading: Reading = { bodies: 0, turnsLeft: 0, handle };
    this.#reading.set(session, reading);
    return reading;
  }

  #count(): void {
    if (this.#isCounting) return;
    this.#isCounting = true;
    this.#ports.wake(0, this.#nextTurn);
  }

  #came(session: object, pieces: number): void {
    const before = this.#pieces;
    this.#pieces += pieces;
    this.#count();
    if (this.#pieces < this.#piecesMax) return;
    const reading = this.#reading.get(session);
    if (before >= this.#piecesMax) {
      // What had been read of others before they were stopped, or those that have just begun.
      if (reading !== undefined) this.#stop(session, reading);
      return;
    }
    // Who has brought so much is the last to go on.
    if (reading !== undefined) {
      this.#reading.delete(session);
      this.#reading.set(session, reading);
    }
    for (const [each, one] of this.#reading) this.#stop(each, one);
  }

  /** Also what is stopped already: node begins to read a new session by itself, whatever was said before. */
  #stop(session: object, { handle }: Reading): void {
    this.#stopped.add(session);
    handle.readStop();
  }

  /** One that was stopped goes on in each turn, and all of them when hardly anything came. Who brings nothing more is forgotten. */
  readonly #nextTurn = (): void => {
    const isQuiet = this.#pieces < this.#piecesMax / 2;
    this.#pieces = 0;
    let mayGoOn = true;
    let isBusy = false;
    for (const [session, reading] of this.#reading) {
      if (mayGoOn && this.#stopped.delete(session)) {
        goOn(reading.handle);
        mayGoOn = isQuiet;
        // What it brings comes in the turns after this one.
        reading.turnsLeft = Math.max(reading.turnsLeft, 1);
      } else if (!this.#stopped.has(session) && reading.turnsLeft > 0) reading.turnsLeft--;
      if (reading.bodies > 0) continue;
      if (reading.turnsLeft === 0 && !this.#stopped.has(session)) this.#reading.delete(session);
      else isBusy = true;
    }
    this.#isCounting = isBusy || this.#stopped.size > 0;
    if (this.#isCounting) this.#ports.wake(0, this.#nextTurn);
  };
}
