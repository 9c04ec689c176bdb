/** Runs of an experiment on threads: nothing is shared between them, so results do not depend on their number. */
import { Piscina } from "piscina";
import type { CapacityPart, PlayedPart } from "./capacity-part.ts";
import { giveRoom } from "./engine-room.ts";

export interface CapacityThreads {
  run(part: CapacityPart): Promise<PlayedPart>;
  close(): Promise<void>;
}

/** The worker's file has the ending of this one: `.ts` in the checkout, `.js` in the package. */
const workerFile = new URL(`capacity-part${/\.\w+$/.exec(import.meta.url)?.[0] ?? ".js"}`, import.meta.url);

/** `threads` ≥ 1. */
export function capacityThreads(threads: number): CapacityThreads {
  giveRoom();
  const pool = new Piscina({
    filename: workerFile.href,
    minThreads: threads,
    maxThreads: threads,
    idleTimeout: 60_000,
    resourceLimits: { maxOldGenerationSizeMb: 16_384 },
  });
  return { run: (part) => pool.run(part) as Promise<PlayedPart>, close: () => pool.destroy() };
}
