/**
 * A user's program as a process of a simulated cluster: it can die at any moment, as a killed one does, and begin anew.
 * JavaScript cannot stop code that waits. So what a dead program waits for never comes: its requests are not answered,
 * its timers do not fire, and what it still asks for reaches nobody. To the server it is a client that has gone.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Dispatcher } from "undici";
import type { StreamSink } from "../../wire/ports.ts";
import type { Breakable } from "./breakable-transport.ts";
import type { TimedTransport } from "./patience.ts";

/** One way to the server, and the process that it belongs to. */
export interface WayIn {
  readonly broken: Breakable;
  readonly timed: TimedTransport;
  /** The process at the client's end dies. */
  readonly crash: () => void;
}

/** What a program is given each time that it begins. `cluster.fetch` and `cluster.dispatcher` do the same for it. */
export interface Machine {
  readonly url: string;
  readonly token: string;
  readonly fetch: typeof globalThis.fetch;
  /** For clients built on undici, such as `@kubernetes/client-node`. */
  readonly dispatcher: Dispatcher;
}

/** The main function of a program. What it throws, or rejects with, ends the program. */
export type ProgramMain = (machine: Machine) => unknown;

export interface Program {
  readonly isAlive: boolean;
  /** How often it was started. */
  readonly lives: number;
  /** What ended the present or the last life by itself: an exception that nobody caught. */
  readonly thrown: { readonly error: unknown } | undefined;
  /** It dies at once, wherever it is: nothing that it waits for comes, and no `finally` of it runs. */
  crash(): void;
  /** The next life begins. Throws while one is going on. */
  start(): void;
}

export interface ProgramHost {
  /** For one life. Nothing arrives once `isAlive` answers false. */
  wayIn(isAlive: () => boolean): WayIn;
  machine(way: WayIn): Machine;
  /** A life is over, by a crash or by an exception. */
  ended(way: WayIn): void;
  /** It was an exception. */
  threw(): void;
}

class Life {
  readonly way: WayIn;
  isAlive = true;
  thrown: { readonly error: unknown } | undefined;
  readonly #host: ProgramHost;

  constructor(host: ProgramHost) {
    this.#host = host;
    this.way = host.wayIn(() => this.isAlive);
  }

  end(): void {
    if (!this.isAlive) return;
    this.isAlive = false;
    this.way.crash();
    this.#host.ended(this.way);
  }

  throws(error: unknown): void {
    if (!this.isAlive) return;
    this.thrown = { error };
    this.end();
    this.#host.threw();
  }
}

const lives = new AsyncLocalStorage<Life>();

/** The way in of the program that runs now, if one does. */
export const currentWay = (): WayIn | undefined => lives.getStore()?.way;

/** As Node's timers keep it: work that is done later for whoever asks now, and not at all when that one has died. */
export function inThisLife(work: () => void): () => void {
  const life = lives.getStore();
  const bound = AsyncLocalStorage.bind(work);
  if (life === undefined) return bound;
  return () => {
    if (!life.isAlive) return;
    try {
      bound();
    } catch (error) {
      life.throws(error);
    }
  };
}

/** A sink that hears nothing any more once its program is dead. */
export function mortalSink(sink: StreamSink, isAlive: () => boolean): StreamSink {
  return {
    head: (status, headers) => void (isAlive() && sink.head(status, headers)),
    chunk: (bytes) => void (isAlive() && sink.chunk(bytes)),
    end: () => void (isAlive() && sink.end()),
    failed: (cause) => void (isAlive() && sink.failed(cause)),
  };
}

export class LaunchedProgram implements Program {
  readonly #host: ProgramHost;
  readonly #main: ProgramMain;
  #life: Life | undefined;
  #lives = 0;

  constructor(host: ProgramHost, main: ProgramMain) {
    this.#host = host;
    this.#main = main;
  }

  get isAlive(): boolean {
    return this.#life?.isAlive === true;
  }

  get lives(): number {
    return this.#lives;
  }

  get thrown(): Program["thrown"] {
    return this.#life?.thrown;
  }

  crash(): void {
    this.#life?.end();
  }

  start(): void {
    if (this.isAlive) throw new Error("the program is running: crash() comes before the next start()");
    const life = new Life(this.#host);
    this.#life = life;
    this.#lives++;
    const machine = this.#host.machine(life.way);
    lives.run(life, () => {
      try {
        Promise.resolve(this.#main(machine)).catch((error: unknown) => life.throws(error));
      } catch (error) {
        life.throws(error);
      }
    });
  }
}
