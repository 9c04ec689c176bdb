/** Answers that were given and not read yet, of all callers together: readers that read nothing fill no memory. */
import type { EventEmitter } from "node:events";

/** Always given: whoever asks for little is not refused because others read nothing. */
const smallBytesMax = 64 * 1024;

export const unreadText = "callers have not read what they were answered: ask again when they have";

export class UnreadAnswers {
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Of one call, which tells its end by `cancelled`, however it ends. */
  of(call: EventEmitter): CallsAnswers {
    let own = 0;
    const count = (bytes: number): void => {
      own += bytes;
      this.#bytes += bytes;
    };
    call.once("cancelled", () => count(-own));
    return {
      hasRoomFor: (bytes) => own + bytes <= smallBytesMax || this.#bytes + bytes <= this.#bytesMax,
      given(bytes) {
        count(bytes);
        let isUnread = true;
        return () => {
          if (isUnread && own >= bytes) count(-bytes);
          isUnread = false;
        };
      },
    };
  }
}

export interface CallsAnswers {
  hasRoomFor(bytes: number): boolean;
  /** What is returned tells that it was read; the call's end says so, too. */
  given(bytes: number): () => void;
}
