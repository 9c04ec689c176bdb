import { availableParallelism } from "node:os";

/** Threads when nobody says how many: one for each core, up to four. */
export function defaultThreads(): number {
  return Math.min(4, availableParallelism());
}
