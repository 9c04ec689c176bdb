// What the engine is told about memory before a command begins. Plain JavaScript without dependencies, since it decides the flags of
// the process that runs everything else.
import { serverHeapFlags } from "./server-heap.mjs";

// What a simulated run makes lives until its end: with more room from the start it is copied less often (`cli/targets/engine-room.ts`
// does it for threads).
const simulated = ["--min-semi-space-size=32", "--max-semi-space-size=64", "--heap-growing-percent=40"];
// A cluster that starts pods makes half a megabyte for each that is soon gone: with twice the room it is copied half as often.
const crowded = ["--min-semi-space-size=32", "--max-semi-space-size=128", "--heap-growing-percent=40"];

const ofCommand = {
  // A server lives long and need not have much for what dies young: measured, 40 MB less, and as fast.
  serve: (args) => ["--max-semi-space-size=32", ...serverHeapFlags(args)],
  run: () => simulated,
  hunt: () => simulated,
  shrink: () => simulated,
  capacity: () => crowded,
};

/** The engine's flags for `touchstone ARGS`; none where it does as it comes. */
export function engineFlags(args) {
  const command = args[0] ?? "";
  return Object.hasOwn(ofCommand, command) ? ofCommand[command](args) : [];
}
