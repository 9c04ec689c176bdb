/** A collection that an agent follows, as a piece of work of its own: one that throws is listed anew after a while. */
import type { Reflector } from "../../client/reflector.ts";
import type { Cancel, Micros, Process } from "../../kernel/types.ts";
import { later, piece } from "../piece.ts";

const failedMicros: Micros = 10_000_000;

/** Follows until it is cancelled. */
export function follow(process: Process, path: string, reflector: Pick<Reflector, "start" | "stop">): Cancel {
  let cancelRetry: Cancel = () => {};
  const begin = (): void =>
    piece(
      process,
      "api-server-watch",
      () => `what is followed of ${path}`,
      () => reflector.start(),
      () => {
        cancelRetry = later(process, failedMicros, begin);
        reflector.stop();
      },
    );
  begin();
  return () => {
    cancelRetry();
    reflector.stop();
  };
}
