/** The command line as a user waits for it: its start, and the whole suite. Run alone: `node bench/command.ts`. */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type Bench, measure } from "./harness.ts";

const bin = fileURLToPath(new URL("../cli/bin.mjs", import.meta.url));

interface Spent {
  readonly wallMillis: number;
  /** Processor time, of all its threads and children. */
  readonly processorMillis: number;
}

/** The shell's own `time` tells what a process used that is gone. */
function spent(args: readonly string[]): Spent {
  const began = performance.now();
  const { status, stderr } = spawnSync(
    "bash",
    ["-c", 'TIMEFORMAT="spent %3U %3S"; time "$@" >/dev/null 2>&1', "bash", process.execPath, bin, ...args],
    { encoding: "utf8" },
  );
  const wallMillis = performance.now() - began;
  const [, user, system] = /spent (\d+\.\d+) (\d+\.\d+)/.exec(stderr) ?? [];
  if (status !== 0 || system === undefined) throw new Error(`${args.join(" ")} ended with ${status}: ${stderr}`);
  return { wallMillis, processorMillis: (Number(user) + Number(system)) * 1000 };
}

/** Minutes: once is enough, whatever the number of rounds. */
function once(work: () => Spent): () => Spent {
  let known: Spent | undefined;
  return () => (known ??= work());
}

const suite = once(() => spent(["conform", "--level", "quick", "--profile", "kubernetes"]));

export const benches: readonly Bench[] = [
  { name: "command.help", unit: "ms", target: 200, run: () => spent(["--help"]).wallMillis },
  { name: "command.help-cpu", unit: "ms", target: 200, run: () => spent(["--help"]).processorMillis },
  { name: "command.conform-quick", unit: "s", run: () => suite().wallMillis / 1000 },
  { name: "command.conform-quick-cpu", unit: "s", run: () => suite().processorMillis / 1000 },
];

if (import.meta.main) for (const bench of benches) console.log(JSON.stringify(await measure(bench, 3)));
