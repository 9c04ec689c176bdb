/** Reads the command line of every command but an agent's, and loads the one that was asked for. */
import { createRequire } from "node:module";
import process from "node:process";
import { message, text } from "@optique/core/message";
import { run } from "@optique/run";
import { commandLine, type CommandLine } from "./command-line.ts";
import { type ExitCode, exitCodes } from "./flags/usage-error.ts";
import { withAdvice } from "./flags/wrong-flag.ts";

const { version } = createRequire(import.meta.url)("../package.json") as { version: string };

/** Throws what the command throws: `UsageError` for what the user can mend. `exit` ends it where there is no command: after help, or a wrong line. */
export async function anyCommand(
  args: readonly string[],
  exit: (code: number) => never = process.exit,
): Promise<ExitCode> {
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
    onExit: exit,
    stderr: (problem) => process.stderr.write(`${withAdvice(problem, args)}\n`),
  });
  return execute(parsed);
}

/** Loads the command that was asked for, and no other. */
async function execute(options: CommandLine): Promise<ExitCode> {
  if (options.command === "agent") throw new Error("an agent's command line is read before this one");
  if (options.command === "conform") return (await import("./commands/conform.ts")).conform(options);
  if (options.command === "serve") return (await import("./commands/serve.ts")).serve(options);
  if (options.command === "run") return (await import("./commands/run.ts")).runScenario(options);
  if (options.command === "capacity") return (await import("./commands/capacity.ts")).capacity(options);
  if (options.command === "hunt") return (await import("./commands/hunt.ts")).hunt(options);
  if (options.command === "shrink") return (await import("./commands/shrink.ts")).shrink(options);
  if (options.command === "diff") return (await import("./commands/diff.ts")).diff(options);
  if (options.command === "config") return (await import("./commands/config.ts")).config(options);
  if (options.command === "runtime") return (await import("./commands/runtime.ts")).runtime(options);
  if (options.command === "view") return (await import("./commands/view.ts")).view(options);
  return (await import("./commands/replay.ts")).replay(options);
}
