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

/** When writing has taken so long, the watches that are left are written to in the next turn: large events to many take seconds. */
const turnMicrosMax = 10_000;

/** What a watch wrote last; a watch with the same to say shares it. */
export interface Flushable<Batch> {
  flush(last: Batch | undefined): Batch | undefined;
}

export class WatchFlush<Batch> {
  readonly #ports: WallPorts;
  /** Watches with events, but for those that are being flushed. */
  #waiting: Flushable<Batch>[] = [];
  /** Those that are being flushed, and how many of them have been. */
  #flushing: Flushable<Batch>[] = [];
  #flushed = 0;
  #last: Batch | undefined;
  #workMicros = 0;
  #notBeforeMicros = 0;

  constructor(ports: WallPorts = wallPorts) {
    this.#ports = ports;
  }

  /** `watch` has its first event since it was flushed. */
  add(watch: Flushable<Batch>): void {
    this.#waiting.push(watch);
    if (this.#waiting.length === 1 && this.#flushing.length === 0) this.#plan();
  }

  #plan(): void {
    const restMicros = this.#notBeforeMicros - this.#ports.nowMicros();
    if (restMicros <= 0) setImmediate(this.#flush);
    else this.#ports.wake(restMicros, this.#flush);
  }

  readonly #flush = (): void => {
    if (this.#flushing.length === 0) {
      this.#flushing = this.#waiting;
      this.#waiting = [];
    }
    const begin = this.#ports.nowMicros();
    let spent = 0;
    try {
      while (this.#flushed < this.#flushing.length && spent <= turnMicrosMax) {
        this.#last = this.#flushing[this.#flushed++]?.flush(this.#last);
        spent = this.#ports.nowMicros() - begin;
      }
    } finally {
      this.#written(begin + spent, spent);
    }
  };

  /** The rest goes on in another turn, also when a write threw. */
  #written(nowMicros: number, spentMicros: number): void {
    this.#workMicros += spentMicros;
    if (this.#flushed < this.#flushing.length) {
      setImmediate(this.#flush);
      return;
    }
    this.#notBeforeMicros = nowMicros + Math.min(restMicrosMax, restPerWork * this.#workMicros);
    this.#flushing = [];
    this.#flushed = 0;
    this.#last = undefined;
    this.#workMicros = 0;
    if (this.#waiting.length > 0) this.#plan();
  }
}
