/** One event on its way to those who watch: what is made of it once for all who want the same, and who has to wait for another turn. */
import type { Clock, Micros } from "../../kernel/types.ts";
import type { StoreEvent } from "../../store/types.ts";

/** Until the next turn: the least time that lets sockets speak in between. */
export const TURN_MICROS: Micros = 1;

/** So much is written in one turn: some milliseconds' work. An event may be watched in many forms, and by ten thousands. */
const TURN_BYTES = 256 * 1024;

/** What telling takes at one instant, of all events of a resource. */
export class TellingTurn {
  private atMicros: Micros = -1;
  private bytesLeft = 0;

  isOver(nowMicros: Micros): boolean {
    return nowMicros === this.atMicros && this.bytesLeft <= 0;
  }

  /** `bytes`: written, or what takes as long as so many. */
  spend(nowMicros: Micros, bytes: number): void {
    if (nowMicros !== this.atMicros) {
      this.atMicros = nowMicros;
      this.bytesLeft = TURN_BYTES;
    }
    this.bytesLeft -= bytes;
  }
}

interface Made {
  readonly maker: object;
  readonly what: string;
  readonly result: object;
}

/** What watchers make of an event is kept here while it is told, so that they share it. */
export class Delivery {
  readonly event: StoreEvent;
  /** Of all forms that it was written in. */
  bytesWritten = 0;
  private readonly made: Made[] = [];
  /** Who asks mostly wants what the one before wanted. */
  private last: Made | undefined;
  private readonly turn: TellingTurn;
  /** In the order in which they were to be told. */
  private waiting: (() => void)[] = [];
  /** The first of them that has not been told. */
  private next = 0;
  private hasTurn = false;
  private readonly whenAllTold: () => void;

  /** `whenAllTold` is called when nobody waits for another turn any more, if somebody did. */
  constructor(event: StoreEvent, turn: TellingTurn, whenAllTold: () => void = () => {}) {
    this.event = event;
    this.turn = turn;
    this.whenAllTold = whenAllTold;
  }

  /** What this `maker` has made for `what`. Asked by every watcher for every event: nothing is made to ask. */
  known<Result extends object>(maker: object, what: string): Result | undefined {
    const { last } = this;
    if (last !== undefined && last.maker === maker && last.what === what) return last.result as Result;
    for (const entry of this.made) {
      if (entry.maker !== maker || entry.what !== what) continue;
      this.last = entry;
      return entry.result as Result;
    }
    return undefined;
  }

  keep<Result extends object>(maker: object, what: string, result: Result): Result {
    this.last = { maker, what, result };
    this.made.push(this.last);
    return result;
  }

  /** A form that nobody had asked for was written, in so many bytes. */
  wrote(nowMicros: Micros, bytes: number): void {
    this.bytesWritten += bytes;
    this.turn.spend(nowMicros, bytes);
  }

  /** Somebody is told in another turn, or will be. */
  get isWaitedFor(): boolean {
    return this.hasTurn;
  }

  /** Calls `resume` in another turn. */
  putOff(clock: Clock, resume: () => void): void {
    this.waiting.push(resume);
    if (!this.hasTurn) this.planTurn(clock);
  }

  private planTurn(clock: Clock): void {
    this.hasTurn = true;
    clock.after(TURN_MICROS, () => {
      const { turn, waiting } = this; // which may become more
      while (this.next < waiting.length && !turn.isOver(clock.nowMicros())) waiting[this.next++]?.();
      if (this.next < waiting.length) this.planTurn(clock);
      else {
        this.hasTurn = false;
        this.waiting = [];
        this.next = 0;
        this.whenAllTold();
      }
    });
  }
}
