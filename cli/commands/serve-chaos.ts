/** `serve --chaos`: its plan, and what it did, line by line. */
import { closeSync, openSync, writeSync } from "node:fs";
import { parseChaos, ScenarioError } from "../../scenarios/load.ts";
import type { WallChaos } from "../../sim/http/wall-server.ts";
import type { ServeOptions } from "../command-line.ts";
import { readText } from "../flags/scenario-file.ts";
import { UsageError } from "../flags/usage-error.ts";

const stderrDescriptor = 2;

/** Undefined without `--chaos`. Throws `UsageError` for a plan that is none, and for a log that cannot be written. */
export function chaosOf({
  chaos,
  chaosLog,
  seed,
}: ServeOptions): (WallChaos & { readonly close: () => void }) | undefined {
  if (chaos === undefined) {
    if (chaosLog !== undefined) throw new UsageError("--chaos-log: nothing goes wrong without --chaos: give both.");
    return undefined;
  }
  const plan = planIn(chaos);
  const log = chaosLog === undefined ? stderrDescriptor : opened(chaosLog);
  const write = (line: object): void => void writeSync(log, `${JSON.stringify(line)}\n`);
  write({ chaos: plan.name, seed, faults: plan.faults.map(({ verb }) => verb) });
  return {
    plan,
    seed: String(seed),
    did: ({ atMicros, ...deed }) => write({ at: atMicros / 1_000_000, ...deed }),
    close: () => {
      if (log !== stderrDescriptor) closeSync(log);
    },
  };
}

function planIn(file: string): WallChaos["plan"] {
  try {
    return parseChaos(readText(file), file);
  } catch (error) {
    if (error instanceof ScenarioError) throw new UsageError(`--chaos ${error.message}`);
    throw error;
  }
}

function opened(file: string): number {
  try {
    return openSync(file, "w");
  } catch (error) {
    throw new UsageError(`--chaos-log ${file}: cannot be written: ${(error as Error).message}`);
  }
}
