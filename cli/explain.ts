/** What a person is told of an error that ends a command, and the exit code that goes with it. */
import process from "node:process";
import { inspect } from "node:util";
import { unwritable } from "./flags/file-problem.ts";
import { type ExitCode, exitCodes, UsageError } from "./flags/usage-error.ts";

/** A disk is full: that is neither a mistake of the caller nor one of this program. */
const noRoom: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT", "EFBIG"]);

export function explain(error: unknown): ExitCode {
  if (error instanceof UsageError) {
    process.stderr.write(`Error: ${error.message}\n`);
    return exitCodes.usage;
  }
  const { code, path } = error instanceof Error ? (error as NodeJS.ErrnoException) : {};
  if (code !== undefined && noRoom.has(code)) {
    process.stderr.write(
      `Error: ${path ?? "what was to be kept"} ${unwritable(error)}. Make room, or name another place.\n`,
    );
    return exitCodes.inconclusive;
  }
  process.stderr.write(`Touchstone itself broke; this says nothing about the target.\n${inspect(error)}\n`);
  return exitCodes.broke;
}
