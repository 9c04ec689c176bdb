/** A thread in which a scenario is run again: nothing of this one is there but the code. */
import { Piscina } from "piscina";
import type { ComparedTrace } from "../../sim/kernel/determinism.ts";
import { traceOfRecords } from "../../sim/kernel/determinism.ts";
import type { RunPart, TraceCame } from "./run-part.ts";
import { giveRoom } from "./engine-room.ts";

export interface RunThread {
  run(part: RunPart): Promise<ComparedTrace>;
  close(): Promise<void>;
}

/** The worker's file has the ending of this one: `.ts` in the checkout, `.js` in the package. */
const workerFile = new URL(`run-part${/\.\w+$/.exec(import.meta.url)?.[0] ?? ".js"}`, import.meta.url);

export function runThread(): RunThread {
  giveRoom();
  const pool = new Piscina({ filename: workerFile.href, minThreads: 1, maxThreads: 1, idleTimeout: 60_000 });
  return {
    async run(part) {
      const { hash, count, records } = (await pool.run(part)) as TraceCame;
      return { ...traceOfRecords(hash, records), count };
    },
    close: () => pool.destroy(),
  };
}
