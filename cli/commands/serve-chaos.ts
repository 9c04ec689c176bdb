/** `serve --chaos`: its plan, and what it did, line by line. */
import { parseChaos, ScenarioError } from "../../scenarios/load.ts";
import type { WallChaos } from "../../sim/http/wall-server.ts";
import type { ServeOptions } from "../command-line.ts";
import { readText } from "../flags/scenario-file.ts";
import { type LineFile, lineFile } from "../output/line-file.ts";
import { logText } from "../output/line-log.ts";
import { requireWritable } from "../output/written-files.ts";
import { UsageError } from "../flags/usage-error.ts";

interface ServedChaos extends WallChaos {
  /** Begins the log: an older one is gone from then on. Throws `UsageError` where nothing can be written. */
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
  let file: LineFile | undefined;
  const write = (line: object): void => (file?.write ?? logText)(`${JSON.stringify(line)}\n`);
  const begin = (): void => {
    let isServing = false;
    const failed = (why: string): void => {
      if (!isServing) throw new UsageError(`${why}. Name another file.`);
      logText(`${why}. The server goes on, and what it does by its plan is not written from here on.\n`);
    };
    if (chaosLog !== undefined) file = lineFile(chaosLog, "--chaos-log", failed);
    write({ chaos: plan.name, seed, faults: plan.faults.map(({ verb }) => verb) });
    isServing = true;
  };
  return {
    plan,
    seed: String(seed),
    did: ({ atMicros, ...deed }) => write({ at: atMicros / 1_000_000, ...deed }),
    begin,
    close: () => file?.close(),
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
