/**
 * When short answers leave. A write to a client that sleeps wakes it, which costs the server more than most requests do;
 * one that follows while the client is awake does not. So the answers of one turn of the event loop leave together at
 * its end, and a long turn is interrupted for them.
 */
import { setImmediate } from "node:timers";
import type { WallPorts } from "../kernel/wall-driver.ts";
import { wallPorts } from "./wall.ts";

/** An answer waits for others no longer than this and the one request that is then under way. */
const waitMicrosMax = 1_000;

/** Somebody with something to send. */
export interface Waiting {
  flush(): void;
}

export class AnswerFlush {
  readonly #ports: Pick<WallPorts, "nowMicros">;
  #waiting: Waiting[] = [];
  #sinceMicros = 0;

  constructor(ports: Pick<WallPorts, "nowMicros"> = wallPorts) {
    this.#ports = ports;
  }

  /** `connection` has its first answer since it was flushed. */
  add(connection: Waiting): void {
    const nowMicros = this.#ports.nowMicros();
    this.#waiting.push(connection);
    if (this.#waiting.length === 1) {
      this.#sinceMicros = nowMicros;
      setImmediate(this.#flush);
    } else if (nowMicros - this.#sinceMicros >= waitMicrosMax) this.#flush();
  }

  readonly #flush = (): void => {
    const connections = this.#waiting;
    this.#waiting = [];
    for (const connection of connections) connection.flush();
  };
}
