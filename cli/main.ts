/**
 * The `touchstone` command: reads the command line, loads the one command that was asked for, and turns what
 * comes of it into an exit code.
 */
import { createRequire } from "node:module";
import process from "node:process";
import { inspect } from "node:util";
import { message, text } from "@optique/core/message";
import { run } from "@optique/run";
import { commandLine, type CommandLine } from "./command-line.ts";
import { type ExitCode, exitCodes, UsageError } from "./flags/usage-error.ts";
import { withAdvice } from "./flags/wrong-flag.ts";

const { version } = createRequire(import.meta.url)("../package.json") as { version: string };

// Whatever nobody caught, in whichever turn it came, is ours and not the target's.
process.on("uncaughtException", (error) => process.exit(explain(error)));

// Whoever read has gone, as `| head` does: the verdict stands, if this turn brings one. Or the disk is full: it was not told.
process.stderr.on("error", () => {});
process.stdout.on("error", ({ code, message: problem }: NodeJS.ErrnoException) => {
  const isGone = code === "EPIPE";
  if (!isGone)
    process.stderr.write(`Error: what was to be printed cannot be written: ${problem}. Write it elsewhere.\n`);
  setImmediate(() => process.exit((isGone ? process.exitCode : undefined) ?? exitCodes.inconclusive));
});

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<ExitCode> {
  const parsed = run(commandLine, {
    programName: "touchstone",
    args,
    help: "both",
    version,
    completion: { command: true },
    errorExitCode: exitCodes.usage,
    aboveError: "none",
    showDefault: true,
    termWidth: "auto",
    usageLine: [{ type: "ellipsis" }],
    brief: message`A deterministic simulator of a cluster API, and a conformance suite for any server of that API.`,
    footer: message`${text("Exit codes: 0 good; 1 the target failed; 2 usage or configuration; 3 inconclusive; 4 Touchstone itself broke.")}`,
    stderr: (problem) => process.stderr.write(`${withAdvice(problem, args)}\n`),
  });
  try {
    return await execute(parsed);
  } catch (error) {
    return explain(error);
  }
}

/** Loads the command that was asked for, and no other. */
async function execute(options: CommandLine): Promise<ExitCode> {
  if (options.command === "conform") return (await import("./commands/conform.ts")).conform(options);
  if (options.command === "serve") return (await import("./commands/serve.ts")).serve(options);
  if (options.command === "agent") return (await import("./commands/agent.ts")).agent(options);
  if (options.command === "run") return (await import("./commands/run.ts")).runScenario(options);
  if (options.command === "hunt") return (await import("./commands/hunt.ts")).hunt(options);
  if (options.command === "shrink") return (await import("./commands/shrink.ts")).shrink(options);
  if (options.command === "diff") return (await import("./commands/diff.ts")).diff(options);
  if (options.command === "config") return (await import("./commands/config.ts")).config(options);
  if (options.command === "runtime") return (await import("./commands/runtime.ts")).runtime(options);
  if (options.command === "view") return (await import("./commands/view.ts")).view(options);
  return (await import("./commands/replay.ts")).replay(options);
}

function explain(error: unknown): ExitCode {
  if (error instanceof UsageError) {
    process.stderr.write(`Error: ${error.message}\n`);
    return exitCodes.usage;
  }
  process.stderr.write(`Touchstone itself broke; this says nothing about the target.\n${inspect(error)}\n`);
  return exitCodes.broke;
}
