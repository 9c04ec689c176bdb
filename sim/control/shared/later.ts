/** What a controller does at a later time, as an item of its own: what it throws ends nothing else. */
import { within } from "../../client/item-scope.ts";
import type { Cancel, Micros, Process } from "../../kernel/types.ts";

/**
 * Runs `work` so much later. An exception in it, or in what it has asked for, is told as a bug (it fails a simulation), and
 * `failed` puts right what `work` has left half-done. Who repeats it plans the next time before anything else.
 */
export function later(process: Process, delayMicros: Micros, work: () => void, failed: () => void = nothing): Cancel {
  return process.clock.after(delayMicros, () =>
    within((error) => {
      process.caught("later work of a controller", error);
      failed();
    }, work),
  );
}

const nothing = (): void => {};
