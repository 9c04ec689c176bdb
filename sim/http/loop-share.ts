/**
 * How the event loop is shared among connections. Thousands of requests can come in one turn of the loop, by pipelining or as
 * streams of HTTP/2, and long answers are made a part at a time: when a turn has taken long enough, what is left waits for
 * the next. Whoever has much to do then waits for those who have little: each connection has one thing done, one after another.
 */
import { setImmediate } from "node:timers";
import type { WallPorts } from "../kernel/wall-driver.ts";
import { wallPorts } from "./wall.ts";

/** Work begins for so long in one turn; what has begun is not interrupted. */
const turnMicrosMax = 10_000;

type Work = () => void;

export class LoopShare {
  readonly #ports: Pick<WallPorts, "nowMicros">;
  /** By who wants it done, in the order of their turns; what each wants, in the order in which it came. */
  readonly #waiting = new Map<object, Work[]>();
  /** When the first work of this turn began; undefined: none has. */
  #sinceMicros: number | undefined;

  constructor(ports: Pick<WallPorts, "nowMicros"> = wallPorts) {
    this.#ports = ports;
  }

  /** At once, when this turn has time and nobody waits. */
  begin(by: object, work: Work): void {
    if (this.#waiting.size > 0 || this.#isOver()) this.later(by, work);
    else work();
  }

  /** In another turn. */
  later(by: object, work: Work): void {
    const waiting = this.#waiting.get(by);
    if (waiting === undefined) this.#waiting.set(by, [work]);
    else waiting.push(work);
    this.#count();
  }

  #count(): void {
    if (this.#sinceMicros !== undefined) return;
    this.#sinceMicros = this.#ports.nowMicros();
    setImmediate(this.#nextTurn);
  }

  #isOver(): boolean {
    if (this.#sinceMicros !== undefined) return this.#ports.nowMicros() - this.#sinceMicros >= turnMicrosMax;
    this.#count();
    return false;
  }

  readonly #nextTurn = (): void => {
    this.#sinceMicros = undefined;
    while (this.#waiting.size > 0 && !this.#isOver()) this.#doNext();
  };

  #doNext(): void {
    const [next] = this.#waiting;
    if (next === undefined) return;
    const [by, works] = next;
    const work = works.shift();
    this.#waiting.delete(by);
    if (works.length > 0) this.#waiting.set(by, works);
    work?.();
  }
}

/** Of this process. */
export const loopShare = new LoopShare();
