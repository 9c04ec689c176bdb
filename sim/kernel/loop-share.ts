/**
 * How the event loop is shared among connections. Thousands of requests can come in one turn of the loop, by pipelining or as
 * streams of HTTP/2, and long answers are made a part at a time: when a turn has taken long enough, what is left waits for
 * the next. Whoever has much to do then waits for those who have little: each connection has one thing done, one after another,
 * and what is large (a body or a query of some size, a part of a long answer, what took long the last times) comes behind what is
 * small, but for one thing a turn.
 */
import type { WallPorts } from "./wall-driver.ts";

/** Work begins for so long in one turn; what has begun is not interrupted. */
const turnMicrosMax = 10_000;

interface Work {
  readonly do: () => void;
  /** Asked when its turn has come: others may have shown meanwhile that it is. */
  readonly isLarge: () => boolean;
}

/** Who waits, in the order of their turns, with what each wants in the order in which it came. */
class Waiting {
  readonly #works = new Map<object, Work[]>();

  get isEmpty(): boolean {
    return this.#works.size === 0;
  }

  add(by: object, work: Work): void {
    const works = this.#works.get(by);
    if (works === undefined) this.#works.set(by, [work]);
    else works.push(work);
  }

  /** Takes what is next; whose it was is the last from then on. Only where somebody waits. */
  next(): { readonly by: object; readonly work: Work } {
    const [[by, works]] = this.#works as unknown as [[object, Work[]]];
    const work = works.shift() as Work;
    this.#works.delete(by);
    if (works.length > 0) this.#works.set(by, works);
    return { by, work };
  }
}

const always = (): boolean => true;
const never = (): boolean => false;

export class LoopShare {
  readonly #ports: WallPorts;
  readonly #small = new Waiting();
  readonly #large = new Waiting();
  /** When the first work of this turn began; undefined: none has. */
  #sinceMicros: number | undefined;

  constructor(ports: WallPorts) {
    this.#ports = ports;
  }

  /** At once, when this turn has time and nobody waits before it. */
  begin(by: object, work: () => void, isLarge = never): void {
    const isCrowded = !this.#small.isEmpty || !this.#large.isEmpty || this.#isOver();
    if (!isCrowded) {
      work();
      return;
    }
    if (isLarge()) this.#large.add(by, { do: work, isLarge: always });
    else if (this.#small.isEmpty && !this.#isOver()) {
      work();
      return;
    } else this.#small.add(by, { do: work, isLarge });
    this.#count();
  }

  /** In another turn, as something large. */
  later(by: object, work: () => void): void {
    this.#large.add(by, { do: work, isLarge: always });
    this.#count();
  }

  /** What has begun in this turn goes on behind it for so long, before the next turn can begin. */
  follows(micros: number): void {
    this.#count();
    this.#sinceMicros = (this.#sinceMicros as number) - micros;
  }

  #count(): void {
    if (this.#sinceMicros !== undefined) return;
    this.#sinceMicros = this.#ports.nowMicros();
    this.#ports.wake(0, this.#nextTurn);
  }

  #isOver(): boolean {
    if (this.#sinceMicros !== undefined) return this.#ports.nowMicros() - this.#sinceMicros >= turnMicrosMax;
    this.#count();
    return false;
  }

  readonly #nextTurn = (): void => {
    this.#sinceMicros = undefined;
    while (!this.#small.isEmpty && !this.#isOver()) {
      const { by, work } = this.#small.next();
      if (work.isLarge()) this.#large.add(by, work);
      else work.do();
    }
    if (this.#large.isEmpty) return;
    this.#count();
    do this.#large.next().work.do();
    while (!this.#large.isEmpty && !this.#isOver());
  };
}
