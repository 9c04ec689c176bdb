/** What a person is told of an error that ends a command, and the exit code that goes with it. */
import process from "node:process";
import { inspect } from "node:util";
import { type ExitCode, exitCodes, UsageError } from "./flags/usage-error.ts";

export function explain(error: unknown): ExitCode {
  if (error instanceof UsageError) {
    process.stderr.write(`Error: ${error.message}\n`);
    return exitCodes.usage;
  }
  process.stderr.write(`Touchstone itself broke; this says nothing about the target.\n${inspect(error)}\n`);
  return exitCodes.broke;
}
