/**
 * Work about others whom the server asks: what they are sent, and what they answer. A hundred calls and answers may be due at once, of
 * megabytes each: in one turn of the loop so much of it is done, and the rest in the next ones, with those who come in between.
 */
import type { Cancel } from "../kernel/types.ts";

/** Work in steps, each of which says what it cost, in bytes that were looked at. */
export type OutsideWork = Generator<number, void>;

interface Open {
  readonly work: OutsideWork;
  isDropped: boolean;
}

/** What is done in one turn of the loop, with the one step that goes beyond. */
export const turnBytesMax = 256 * 1024;

/** Works take turns, a step each. The first one is begun at once where this turn of the loop has room. */
export class OutsideLine {
  private readonly open: Open[] = [];
  private readonly nextTurn: (begin: () => void) => void;
  private left = turnBytesMax;
  private isDue = false;
  private isAtWork = false;

  constructor(nextTurn: (begin: () => void) => void = setImmediate) {
    this.nextTurn = nextTurn;
  }

  /** What `work` throws ends it, and reaches whoever is there: the caller, or the loop. */
  add(work: OutsideWork): Cancel {
    const open: Open = { work, isDropped: false };
    this.open.push(open);
    if (!this.isAtWork) this.goOn();
    return () => {
      open.isDropped = true;
    };
  }

  private goOn(): void {
    this.isAtWork = true;
    try {
      for (let next = this.next(); next !== undefined; next = this.next()) {
        const { done, value } = next.work.next();
        if (done === true) continue;
        this.left -= value;
        this.open.push(next);
      }
    } finally {
      this.isAtWork = false;
      if (this.left < turnBytesMax || this.open.length > 0) this.later();
    }
  }

  private next(): Open | undefined {
    if (this.left <= 0) return undefined;
    for (let open = this.open.shift(); open !== undefined; open = this.open.shift()) if (!open.isDropped) return open;
    return undefined;
  }

  private later(): void {
    if (this.isDue) return;
    this.isDue = true;
    this.nextTurn(() => {
      this.isDue = false;
      this.left = turnBytesMax;
      this.goOn();
    });
  }
}

/** Of the process, which has one loop. */
export const outsideLine = new OutsideLine();
