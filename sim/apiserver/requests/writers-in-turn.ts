/**
 * Writes of one large object, one after the other. Each takes many events: side by side all but the first to end would find the
 * object changed and begin again, so that ten of them do the work of fifty. Who waits for others makes room, and may be overtaken.
 */
import type { Cancel, Clock } from "../../kernel/types.ts";

/** Who waits to write one object, in the order in which they came. */
type Line = Map<object, () => void>;

export class WritersInTurn {
  readonly #clock: Clock;
  readonly #lines = new Map<string, Line>();
  /** What each of those writes whose turn it is. */
  readonly #writing = new Map<object, string>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Whether it is this one's turn to write the object. */
  has(by: object, key: string): boolean {
    return this.#writing.get(by) === key;
  }

  /** Calls `begin` when it is its turn, now or later; it lasts until `leave`. */
  enter(by: object, key: string, begin: () => void): Cancel {
    const line = this.#lines.get(key);
    if (line === undefined) {
      this.#lines.set(key, new Map());
      this.#writing.set(by, key);
      begin();
    } else line.set(by, begin);
    return () => {
      line?.delete(by);
      this.leave(by);
    };
  }

  /** It is over, or waits for others. */
  leave(by: object): void {
    const key = this.#writing.get(by);
    if (key === undefined) return;
    this.#writing.delete(by);
    const line = this.#lines.get(key) as Line;
    for (const [next, begin] of line) {
      line.delete(next);
      this.#writing.set(next, key);
      // Not within the event that has made the room.
      this.#clock.after(0, () => {
        if (this.has(next, key)) begin();
      });
      return;
    }
    this.#lines.delete(key);
  }
}
