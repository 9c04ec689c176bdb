import type { Socket } from "node:net";
import type { AnswerFlush, Waiting } from "./answer-flush.ts";

/** Of one connection's answers, before they are written whatever else waits. */
const heldCharactersMax = 64 * 1024;

/** What a connection sends: everything in the order in which it was given, short answers a little later. */
export class Sending implements Waiting {
  readonly socket: Socket;
  readonly #answers: AnswerFlush;
  #held = "";

  constructor(socket: Socket, answers: AnswerFlush) {
    this.socket = socket;
    this.#answers = answers;
  }

  /** A whole answer in Latin-1, which may leave together with those of other connections. */
  hold(answer: string): void {
    const isFirst = this.#held === "";
    this.#held += answer;
    if (isFirst) this.#answers.add(this);
  }

  flush(): void {
    const held = this.#held;
    if (held === "") return;
    this.#held = "";
    this.socket.write(held, "latin1");
  }

  write(text: string): void {
    this.flush();
    this.socket.write(text, "latin1");
  }

  /** `taken` is called once the bytes have left. */
  writeBytes(bytes: Uint8Array, taken?: () => void): void {
    this.flush();
    if (taken === undefined) this.socket.write(bytes);
    else this.socket.write(bytes, (error) => void (error ?? taken()));
  }

  /** In one system call. `left` is called once all has left. */
  writeGathered(text: string, pieces: readonly Uint8Array[], left?: () => void): void {
    this.socket.cork();
    this.write(text);
    for (const piece of pieces) if (piece.length > 0) this.socket.write(piece);
    if (left !== undefined) this.socket.write("", left);
    this.socket.uncork();
  }

  /** As one chunk of HTTP/1.1's coding. `taken` is called once it has left. */
  writeChunk(pieces: readonly Uint8Array[], size: number, taken: () => void): void {
    this.flush();
    this.socket.cork();
    this.socket.write(`${size.toString(16)}\r\n`, "latin1");
    for (const piece of pieces) this.socket.write(piece);
    this.socket.write("\r\n", "latin1", (error) => void (error ?? taken()));
    this.socket.uncork();
  }

  end(): void {
    this.flush();
    this.socket.end();
  }

  /** Whether the client has to read before it is answered more. */
  needsDrain(): boolean {
    if (this.#held.length > heldCharactersMax) this.flush();
    return this.socket.writableNeedDrain;
  }

  /** Bytes that wait for the socket. */
  get length(): number {
    return this.socket.writableLength + this.#held.length;
  }
}
