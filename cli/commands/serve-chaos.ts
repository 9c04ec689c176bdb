/** `serve --chaos`: its plan, and what it did, line by line. */
import { closeSync, openSync, writeSync } from "node:fs";
import { parseChaos, ScenarioError } from "../../scenarios/load.ts";
import type { WallChaos } from "../../sim/http/wall-server.ts";
import type { ServeOptions } from "../command-line.ts";
import { readText } from "../flags/scenario-file.ts";
import { requireWritable } from "../output/written-files.ts";
import { unwritable } from "../flags/file-problem.ts";
import { UsageError } from "../flags/usage-error.ts";

const stderrDescriptor = 2;

interface ServedChaos extends WallChaos {
  /** Begins the log: an older one is gone from then on. */
  readonly begin: () => void;
  readonly close: () => void;
}

/** Undefined without `--chaos`. Throws `UsageError` for a plan that is none, and for a log that cannot be written. */
export function chaosOf({ chaos, chaosLog, seed }: ServeOptions): ServedChaos | undefined {
  if (chaos === undefined) {
    if (chaosLog !== undefined) throw new UsageError("--chaos-log: nothing goes wrong without --chaos: give both.");
    return undefined;
  }
  const plan = planIn(chaos);
  if (chaosLog !== undefined) requireWritable(chaosLog, "--chaos-log");
  let log: number | undefined;
  const write = (line: object): void => void writeSync(log ?? begin(), `${JSON.stringify(line)}\n`);
  const begin = (): number => {
    log ??= chaosLog === undefined ? stderrDescriptor : opened(chaosLog);
    write({ chaos: plan.name, seed, faults: plan.faults.map(({ verb }) => verb) });
    return log;
  };
  return {
    plan,
    seed: String(seed),
    did: ({ atMicros, ...deed }) => write({ at: atMicros / 1_000_000, ...deed }),
    begin,
    close: () => {
      if (log !== undefined && log !== stderrDescriptor) closeSync(log);
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
    throw new UsageError(`--chaos-log ${file}: ${unwritable(error)}`);
  }
}
