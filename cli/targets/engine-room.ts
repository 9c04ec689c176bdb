/** What the engine is told about the memory of a simulation, and of a server. */
import { setFlagsFromString } from "node:v8";

/**
 * Gives the engine room for what a simulation makes, since what a run makes lives until the run is over.
 *
 * What dies young has 32 MB from the start: the engine begins with a megabyte or so, and copied what lived on again and again
 * until it had grown. With 32 MB a hunt of small scenarios collected a quarter as often.
 *
 * What has lived on is gone through when it has grown by two fifths. The engine itself takes a tenth for enough where much lives,
 * so that half a gigabyte of cluster was gone through again and again while little of it had died: 300 nodes with 9,000 pods at
 * rest went at 218 and 233 virtual seconds in one of processor time, and go at 267 and 329, in no more memory.
 *
 * Holds for threads that begin from now on; to be called before one is made. The first thread has its room from `cli/engine-flags.mjs`.
 */
export function giveRoom(): void {
  setFlagsFromString("--min-semi-space-size=32");
  setFlagsFromString("--heap-growing-percent=40");
}

/**
 * For a server, which nobody may find silent.
 *
 * Old objects are left where they are. To move them together, the engine stops everything, and mends each reference to them; while
 * half a gigabyte of ConfigMaps came and went, that took 620 ms at once, and without it no collection took more than 140. Memory is
 * used again where something has gone, but less of it goes back to the machine: 6 % more was held at most.
 *
 * Memory is not given back to the machine either when there is little to do. The engine did that in one piece, eight seconds after
 * the last work: 230 ms where 0.4 GB had gone, and 1.1 to 1.6 s where 0.8 to 2 GB had.
 *
 * Buffers count as what else is in use does. The engine went through everything each time that 64 MB of them had been made, be they
 * gone again or not, as bodies and answers are: three gigabytes of them beside 200 MB of objects took 2.0 s of processor time and 10
 * collections, and take 0.24 s and one or two.
 */
export function pauseShortly(): void {
  for (const flag of [
    "--no-compact",
    "--no-memory-reducer-favors-memory",
    "--external-memory-accounted-in-global-limit",
  ])
    setFlagsFromString(flag);
}
