/** What a person is told of an error that ends a command, and the exit code that goes with it. */
import process from "node:process";
import { inspect } from "node:util";
import { isUnwritten, isWithoutRoom, unwritable } from "./flags/file-problem.ts";
import { type ExitCode, exitCodes, UsageError } from "./flags/usage-error.ts";

export function explain(error: unknown): ExitCode {
  if (error instanceof UsageError) {
    process.stderr.write(`Error: ${error.message}\n`);
    return exitCodes.usage;
  }
  if (isUnwritten(error)) {
    const advice = isWithoutRoom(error) ? "Make room, or name another place" : "Name another place";
    process.stderr.write(`Error: ${error.path ?? "what was to be kept"} ${unwritable(error)}. ${advice}.\n`);
    return exitCodes.inconclusive;
  }
  process.stderr.write(`Touchstone itself broke; this says nothing about the target.\n${inspect(error)}\n`);
  return exitCodes.broke;
}
