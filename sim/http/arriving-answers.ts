/**
 * Answers that are handed on once they are whole, and have not come whole yet. When all of them together take much memory, the one
 * that came first goes on and the others wait for it, so that whoever reads gets an answer; who lets the others wait loses its own.
 */
import { clearTimeout, setTimeout } from "node:timers";

export interface Arriving {
  /** Nothing more of it is to be read until `resume`. */
  pause(): void;
  resume(): void;
  /** It has kept others waiting for too long. */
  evicted(): void;
}

interface Waiting {
  /** From now on anew. */
  refresh(): void;
  end(): void;
}

function waiting(millis: number, fire: () => void): Waiting {
  const timer = setTimeout(fire, millis).unref();
  return { refresh: () => void timer.refresh(), end: () => clearTimeout(timer) };
}

/** Beyond, one at a time comes. */
const sharedBytesMax = 128 * 1024 * 1024;
/** While others wait, the first must bring so much in that time. */
const measureBytes = 1024 * 1024;
const measureMillis = 5_000;

export class ArrivingAnswers {
  readonly #bytesMax: number;
  readonly #start: typeof waiting;
  /** What each holds, in the order in which they came. */
  readonly #held = new Map<Arriving, number>();
  #bytes = 0;
  /** While others wait for the first. */
  #timer: Waiting | undefined;
  #measured = 0;

  constructor(bytesMax = sharedBytesMax, start = waiting) {
    this.#bytesMax = bytesMax;
    this.#start = start;
  }

  /** `bytes` more are held for it. */
  hold(arriving: Arriving, bytes: number): void {
    this.#held.set(arriving, (this.#held.get(arriving) ?? 0) + bytes);
    this.#bytes += bytes;
    if (this.#bytes <= this.#bytesMax) return;
    if (this.#timer === undefined) this.#wait();
    if (arriving === this.#first()) this.#brought(bytes);
    else arriving.pause();
  }

  /** It holds nothing any more. */
  release(arriving: Arriving): void {
    const held = this.#held.get(arriving);
    if (held === undefined) return;
    const wasFirst = arriving === this.#first();
    this.#held.delete(arriving);
    this.#bytes -= held;
    if (this.#timer === undefined) return;
    if (this.#bytes <= this.#bytesMax) {
      this.#timer.end();
      this.#timer = undefined;
      for (const each of [...this.#held.keys()]) each.resume();
    } else if (wasFirst) this.#wait();
  }

  #first(): Arriving | undefined {
    return this.#held.keys().next().value;
  }

  /** For the first, which goes on. */
  #wait(): void {
    this.#timer?.end();
    this.#measured = 0;
    this.#timer = this.#start(measureMillis, () => {
      const first = this.#first() as Arriving;
      this.release(first);
      first.evicted();
    });
    this.#first()?.resume();
  }

  #brought(bytes: number): void {
    this.#measured += bytes;
    if (this.#measured < measureBytes) return;
    this.#measured = 0;
    this.#timer?.refresh();
  }
}
