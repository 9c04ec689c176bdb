/** Seeds of a hunt on threads, batch after batch. */
import { Piscina } from "piscina";
import type { HuntedSeed } from "../../sim/experiments/hunt-seed.ts";
import type { HuntPart } from "./hunt-part.ts";
import { giveRoom } from "./engine-room.ts";

export interface HuntThreads {
  run(part: HuntPart): Promise<readonly HuntedSeed[]>;
  close(): Promise<void>;
}

/** The worker's file has the ending of this one: `.ts` in the checkout, `.js` in the package. */
const workerFile = new URL(`hunt-part${/\.\w+$/.exec(import.meta.url)?.[0] ?? ".js"}`, import.meta.url);

/** `threads` ≥ 1. Nothing is shared between threads, so a hunt's results do not depend on their number. */
export function huntThreads(threads: number): HuntThreads {
  giveRoom();
  const pool = new Piscina({
    filename: workerFile.href,
    minThreads: threads,
    maxThreads: threads,
    idleTimeout: 60_000,
  });
  return {
    run: (part) => pool.run(part) as Promise<readonly HuntedSeed[]>,
    close: () => pool.destroy(),
  };
}
