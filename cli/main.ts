/**
 * The `touchstone` command: turns what comes of a command into an exit code. An agent's command line has a grammar of its
 * own and is read at once; of all others the parser is loaded first.
 */
import "./young-objects.ts";
import process from "node:process";
import { explain } from "./explain.ts";
import { type ExitCode, exitCodes } from "./flags/usage-error.ts";
import { endAfterUncaught, isStaying } from "./last-resort.ts";
import { endWithParent } from "./parent-gone.ts";

endAfterUncaught();

// Whoever read has gone, as `| head` does: the verdict stands, if this turn brings one. Or the disk is full: it was not told.
// What stays has no verdict.
process.stderr.on("error", () => {});
process.stdout.on("error", ({ code, message: problem }: NodeJS.ErrnoException) => {
  if (isStaying()) return;
  const isGone = code === "EPIPE";
  if (!isGone)
    process.stderr.write(`Error: what was to be printed cannot be written: ${problem}. Write it elsewhere.\n`);
  setImmediate(() => process.exit((isGone ? process.exitCode : undefined) ?? exitCodes.inconclusive));
});

endWithParent();
process.exitCode = await main(process.argv.slice(2));

async function main([first, ...rest]: readonly string[]): Promise<ExitCode> {
  try {
    if (first === "agent") return await (await import("./commands/agent.ts")).agent(rest);
    return await (await import("./any-command.ts")).anyCommand(process.argv.slice(2));
  } catch (error) {
    return explain(error);
  }
}
