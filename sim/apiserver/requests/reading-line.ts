/**
 * The line in which large bodies wait to be read. While a body is read there are its text and what its reader has made of it so
 * far, for YAML many times the text: dozens of them side by side would each be finished as late as all, and take gigabytes.
 */
import type { Cancel, Clock } from "../../kernel/types.ts";

/** Of bodies that are read side by side; one that is larger is read alone. */
const togetherBytesMax = 4 * 1024 * 1024;

interface Body {
  readonly bytes: number;
  /** Its reading begins. */
  readonly begin: () => void;
}

export class ReadingLine {
  readonly #clock: Clock;
  readonly #waiting = new Map<object, Body>();
  /** Bytes of each that is read. */
  readonly #reading = new Map<object, number>();
  #bytes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Reads the body of `by`, now or when its turn has come, until `leave`. */
  enter(by: object, bytes: number, begin: () => void): Cancel {
    if (this.#waiting.size === 0 && this.#hasRoom(bytes)) {
      this.#take(by, bytes);
      begin();
    } else this.#waiting.set(by, { bytes, begin });
    return () => this.leave(by);
  }

  /** The body has been read, or need not be. */
  leave(by: object): void {
    this.#waiting.delete(by);
    const bytes = this.#reading.get(by);
    if (bytes === undefined) return;
    this.#reading.delete(by);
    this.#bytes -= bytes;
    for (const [next, body] of this.#waiting) {
      if (!this.#hasRoom(body.bytes)) break;
      this.#waiting.delete(next);
      this.#take(next, body.bytes);
      // Not within the reading that has made the room.
      this.#clock.after(0, () => {
        if (this.#reading.has(next)) body.begin();
      });
    }
  }

  #hasRoom(bytes: number): boolean {
    return this.#reading.size === 0 || this.#bytes + bytes <= togetherBytesMax;
  }

  #take(by: object, bytes: number): void {
    this.#reading.set(by, bytes);
    this.#bytes += bytes;
  }
}
