/** For tests: a connection whose every byte the test chooses. */
import { connect, type Socket } from "node:net";

export class RawSocket {
  readonly socket: Socket;
  /** Resolves, never rejects, with all that came, when the other side has ended or broken the connection. */
  readonly ended: Promise<string>;
  readonly #chunks: string[] = [];
  #watchers: (() => void)[] = [];

  /** `send` leaves as soon as the connection stands. */
  constructor(port: number, send: string | Uint8Array = "") {
    this.socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true, noDelay: true });
    this.socket.on("data", (chunk) => {
      this.#chunks.push(chunk.toString("latin1"));
      this.#wake();
    });
    this.ended = new Promise((resolve) => {
      const over = (): void => {
        resolve(this.received);
        this.#wake();
      };
      this.socket.on("end", over).on("error", over).on("close", over);
    });
    if (send.length > 0) this.send(send);
  }

  /** All that has come, as Latin-1. */
  get received(): string {
    return this.#chunks.join("");
  }

  /** Text is sent as Latin-1. What a broken connection does not take is lost. */
  send(bytes: string | Uint8Array): void {
    if (this.socket.destroyed || this.socket.writableEnded) return;
    this.socket.write(typeof bytes === "string" ? Buffer.from(bytes, "latin1") : bytes);
  }

  /**
   * Resolves with all that came, once it holds `pattern`, which may not match more than what two reads bring;
   * rejects when the connection ends before.
   */
  async until(pattern: RegExp): Promise<string> {
    let at = 0;
    for (;;) {
      for (; at < this.#chunks.length; at++) {
        if (pattern.test((this.#chunks[at - 1] ?? "") + (this.#chunks[at] as string))) return this.received;
      }
      if (this.socket.readableEnded || this.socket.destroyed) {
        throw new Error(`ended without ${pattern}: ${this.received.slice(0, 500)}`);
      }
      await new Promise<void>((resolve) => this.#watchers.push(resolve));
    }
  }

  destroy(): void {
    this.socket.destroy();
  }

  #wake(): void {
    for (const wake of this.#watchers.splice(0)) wake();
  }
}

/** The statuses in a series of HTTP/1.1 answers. */
export const statuses = (received: string): readonly number[] =>
  [...received.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
