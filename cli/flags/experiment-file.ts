/** An experiment as commands take it: from its file, with what flags change. */
import { dirname, resolve } from "node:path";
import process from "node:process";
import { type CostFile, costFileSchema } from "../../scenarios/capacity/cost-constants.ts";
import { type Changes, ExperimentFile, type Use } from "../../scenarios/capacity/load.ts";
import { type Form, type Plan, planOf } from "../../scenarios/capacity/plan.ts";
import { ScenarioError, parsedAs } from "../../scenarios/load.ts";
import type { ReplayedRequest } from "../../sim/capacity/stage.ts";
import { parseYaml } from "../../wire/yaml-text.ts";
import { readText } from "./scenario-file.ts";
import { readAuditLog } from "./audit-log.ts";
import { UsageError } from "./usage-error.ts";

export interface ExperimentFlags {
  readonly quick: boolean;
  readonly tiny: boolean;
  readonly set: readonly (readonly [string, string])[];
  readonly costModel?: string | undefined;
}

export interface ReadExperiment {
  readonly text: string;
  readonly file: ExperimentFile;
  readonly plan: Plan;
  readonly logs: readonly (readonly [name: string, requests: readonly ReplayedRequest[]])[];
}

/** `use` is that of its arms. Throws `UsageError` for every mistake, with its place. */
export function readExperiment(path: string, flags: ExperimentFlags, repetitions?: number, use?: Use): ReadExperiment {
  if (flags.quick && flags.tiny) throw new UsageError("--quick and --tiny are two forms: give one of them.");
  const form: Form = flags.quick ? "quick" : flags.tiny ? "tiny" : "full";
  const text = readText(path);
  return asUsage(() => {
    const file = new ExperimentFile(text, path);
    const plan = planOf(file, form, changesOf(flags), repetitions, use);
    return { text, file, plan, logs: logsOf(plan, path) };
  });
}

/** From flags, in order: the cost model, then single values. */
function changesOf({ set, costModel }: ExperimentFlags): Changes {
  const costs =
    costModel === undefined
      ? []
      : Object.entries(readCosts(costModel)).map(
          ([name, value]) => [`costs.${name}`, value, `--cost-model ${costModel}`] as const,
        );
  for (const [name, value] of set) {
    const [form = "", ...rest] = name.split(".");
    if (form === "quick" || form === "tiny")
      throw new UsageError(
        `--set ${name}=${value}: a form's changes are made before those of --set, so that this would do nothing: set ${rest.length === 0 ? "the parameter" : rest.join(".")} itself.`,
      );
  }
  return [...costs, ...set.map(([name, value]) => [name, valueOf(name, value), `--set ${name}=${value}`] as const)];
}

const readCosts = (path: string): CostFile =>
  asUsage(() => parsedAs(costFileSchema, readText(path), `--cost-model ${path}`));

function valueOf(name: string, text: string): unknown {
  try {
    return parseYaml(text);
  } catch (error) {
    throw new UsageError(`--set ${name}=${text}: not YAML: ${(error as Error).message}`);
  }
}

function logsOf({ arms }: Plan, path: string): ReadExperiment["logs"] {
  const names = arms.flatMap(({ experiment }) =>
    experiment.workload.flatMap((row) => (row.do === "replay" ? [row.log] : [])),
  );
  return [...new Set(names)].map((name) => {
    const place = resolve(dirname(path), name);
    const { requests, bodilessCount } = readAuditLog(place);
    if (bodilessCount > 0)
      process.stderr.write(
        `${place}: ${bodilessCount} writes have no object (their level was Metadata) and are left out; ${requests.length} requests are asked again.\n`,
      );
    return [name, requests] as const;
  });
}

/** Mistakes in an experiment are those of whoever wrote it. */
export function asUsage<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof ScenarioError) throw new UsageError(error.message);
    throw error;
  }
}
