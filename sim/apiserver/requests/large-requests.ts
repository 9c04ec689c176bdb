/**
 * The line in which requests with large bodies wait to be carried out. From the reading of a body on there are its text and what has
 * been made of it so far, many times its bytes: dozens of them side by side would each be finished as late as all, and take
 * gigabytes. Who waits for others, or judges for more than a turn, makes room.
 */
import type { Cancel, Clock } from "../../kernel/types.ts";

/** Of requests that are carried out side by side; one that is larger is carried out alone. */
const togetherBytesMax = 4 * 1024 * 1024;

interface Body {
  readonly bytes: number;
  /** Its request is carried out from here on. */
  readonly begin: () => void;
}

export class LargeRequests {
  readonly #clock: Clock;
  readonly #waiting = new Map<object, Body>();
  /** Bytes of each that is carried out. */
  readonly #underWay = new Map<object, number>();
  #bytes = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Carries `by` out, now or when its turn has come, and counts it until `leave`. */
  enter(by: object, bytes: number, begin: () => void): Cancel {
    if (this.#waiting.size === 0 && this.#hasRoom(bytes)) {
      this.#take(by, bytes);
      begin();
    } else this.#waiting.set(by, { bytes, begin });
    return () => this.leave(by);
  }

  /** It is over, or waits for others. */
  leave(by: object): void {
    this.#waiting.delete(by);
    const bytes = this.#underWay.get(by);
    if (bytes === undefined) return;
    this.#underWay.delete(by);
    this.#bytes -= bytes;
    for (const [next, body] of this.#waiting) {
      if (!this.#hasRoom(body.bytes)) break;
      this.#waiting.delete(next);
      this.#take(next, body.bytes);
      // Not within the event that has made the room.
      this.#clock.after(0, () => {
        if (this.#underWay.has(next)) body.begin();
      });
    }
  }

  #hasRoom(bytes: number): boolean {
    return this.#underWay.size === 0 || this.#bytes + bytes <= togetherBytesMax;
  }

  #take(by: object, bytes: number): void {
    this.#underWay.set(by, bytes);
    this.#bytes += bytes;
  }
}
