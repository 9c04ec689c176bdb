/**
 * Loaded into a server that is attacked (`node --import`): how much processor time one turn of its loop took at most. On a
 * busy machine that is what the server itself did; how long a client waited also has what others did meanwhile.
 */
import process from "node:process";
import { setTimeout } from "node:timers";

let longestMicros = 0;
let before = spentMicros();

function spentMicros(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}

/** A timer comes up once a turn at most: between two of them is one turn's work, or next to nothing. */
function look(): void {
  const now = spentMicros();
  longestMicros = Math.max(longestMicros, now - before);
  before = now;
  setTimeout(look, 1).unref();
}

process.on("message", (message) => {
  if (message === "begin") {
    longestMicros = 0;
    before = spentMicros();
  } else if (message === "longest") process.send?.({ longestMicros });
});
// Whoever measures has gone, perhaps killed: nothing else would end this process.
process.on("disconnect", () => process.exit());
process.channel?.unref();
look();
