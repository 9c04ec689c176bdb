/**
 * When open watches are written to. Events of one turn of the event loop leave in one write a watch. Under a stream of
 * writes that is still a write for every few events, each of which costs more than the events in it; so after writing,
 * the next writes wait for some times as long as the last ones took, and take with them what has come meanwhile.
 * An event after a pause never waits.
 */
import { setImmediate } from "node:timers";
import type { WallPorts } from "../kernel/wall-driver.ts";
import { wallPorts } from "./wall.ts";

/** Writing to watches takes one part of this many of a busy server's time, while the rest is not cut short. */
const restPerWork = 32;

/** With very many watches: an event is never held back for longer. */
const restMicrosMax = 10_000;

/** What a watch wrote last; a watch with the same to say shares it. */
export interface Flushable<Batch> {
  flush(last: Batch | undefined): Batch | undefined;
}

export class WatchFlush<Batch> {
  readonly #ports: WallPorts;
  #waiting: Flushable<Batch>[] = [];
  #notBeforeMicros = 0;

  constructor(ports: WallPorts = wallPorts) {
    this.#ports = ports;
  }

  /** `watch` has its first event since it was flushed. */
  add(watch: Flushable<Batch>): void {
    this.#waiting.push(watch);
    if (this.#waiting.length > 1) return;
    const restMicros = this.#notBeforeMicros - this.#ports.nowMicros();
    if (restMicros <= 0) setImmediate(this.#flush);
    else this.#ports.wake(restMicros, this.#flush);
  }

  readonly #flush = (): void => {
    const watches = this.#waiting;
    this.#waiting = [];
    const begin = this.#ports.nowMicros();
    let last: Batch | undefined;
    for (const watch of watches) last = watch.flush(last);
    const end = this.#ports.nowMicros();
    this.#notBeforeMicros = end + Math.min(restMicrosMax, restPerWork * (end - begin));
  };
}
