/** For tests: a command in this process, from its command line to its exit code. Faster than a process of its own. */
import { formatMessage } from "@optique/core/message";
import { parseSync } from "@optique/core/parser";
import { commandLine } from "./command-line.ts";
import { capacity } from "./commands/capacity.ts";
import { conform } from "./commands/conform.ts";
import { diff } from "./commands/diff.ts";
import { replay } from "./commands/replay.ts";
import { view } from "./commands/view.ts";
import { capacityThreads } from "./targets/capacity-threads.ts";
import { huntThreads } from "./targets/hunt-threads.ts";

export interface EndedHere {
  readonly code: number;
  readonly stdout: string;
}

/** What `capacity`, `conform`, `diff`, `hunt`, `replay`, `run`, `serve`, `shrink` or `view` prints. Rejects with the `UsageError` that would be. One at a time: stdout is there once. */
export const runHere = (...args: readonly string[]): Promise<EndedHere> => runHereWith(capacityHere, ...args);

/** The runs of `capacity` are played by `threadsOf`. */
export async function runHereWith(threadsOf: typeof capacityThreads, ...args: readonly string[]): Promise<EndedHere> {
  const parsed = parseSync(commandLine, args);
  if (!parsed.success) throw new Error(formatMessage(parsed.error));
  const options = parsed.value;
  const { stdout } = process;
  const write = stdout.write;
  let printed = "";
  stdout.write = (chunk: string | Uint8Array) => {
    printed += String(chunk);
    return true;
  };
  try {
    if (options.command === "conform") return { code: await conform(options), stdout: printed };
    if (options.command === "diff") return { code: await diff(options), stdout: printed };
    if (options.command === "capacity") return { code: await capacity(options, threadsOf), stdout: printed };
    if (options.command === "replay") return { code: await replay(options), stdout: printed };
    if (options.command === "view") return { code: view(options), stdout: printed };
    if (options.command === "hunt")
      return { code: await (await import("./commands/hunt.ts")).hunt(options, huntHere), stdout: printed };
    if (options.command === "run")
      return { code: await (await import("./commands/run.ts")).runScenario(options), stdout: printed };
    if (options.command === "shrink")
      return { code: await (await import("./commands/shrink.ts")).shrink(options), stdout: printed };
    if (options.command === "serve")
      return { code: await (await import("./commands/serve.ts")).serve(options), stdout: printed };
    throw new Error(`${options.command} is not run here`);
  } finally {
    stdout.write = write;
  }
}

/** A thread loads all of the simulator: what one alone would play is played here. */
const capacityHere: typeof capacityThreads = (threads) =>
  threads > 1
    ? capacityThreads(threads)
    : { run: async (part) => (await import("./targets/capacity-part.ts")).default(part), close: async () => {} };

/** As `capacityHere`, for a test of an interrupt: Ctrl-C comes just before the run with this number, from 1 on. */
export const capacityInterruptedAt =
  (run: number): typeof capacityThreads =>
  () => {
    let runs = 0;
    return {
      async run(part) {
        runs += 1;
        if (runs === run) process.emit("SIGINT");
        return (await import("./targets/capacity-part.ts")).default(part);
      },
      close: async () => {},
    };
  };

const huntHere: typeof huntThreads = (threads) =>
  threads > 1
    ? huntThreads(threads)
    : { run: async (part) => (await import("./targets/hunt-part.ts")).default(part), close: async () => {} };

/** What a person is told who types these words. Fails when they are taken. */
export async function refusalHere(...args: readonly string[]): Promise<string> {
  const ended = await runHere(...args).catch((error: unknown) => error as Error);
  if (!(ended instanceof Error) || ended.name !== "UsageError") throw new Error(`no usage error: ${String(ended)}`);
  return ended.message;
}
