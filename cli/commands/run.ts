/** `touchstone run`: one seeded simulation of a scenario file, or two to see whether they are the same. */
import { readFileSync } from "node:fs";
import process from "node:process";
import { renderSimulationText } from "../../reports/render/simulation-text.ts";
import type { SimulationReport } from "../../reports/schema/simulation-report.ts";
import { exitCodeOf, summarize } from "../../reports/schema/verdict.ts";
import { parseScenario, ScenarioError } from "../../scenarios/load.ts";
import type { Scenario } from "../../scenarios/schema.ts";
import { checkDeterminism, type DeterminismVerdict, formatDivergence } from "../../sim/kernel/determinism.ts";
import { playScenario } from "../../sim/experiments/play.ts";
import type { RunOptions } from "../command-line.ts";
import { painter } from "../output/terminal.ts";
import { type ExitCode, exitCodes, UsageError } from "../flags/usage-error.ts";

export async function runScenario(options: RunOptions): Promise<ExitCode> {
  const scenario = readScenario(options.scenario);
  const seed = options.seed ?? scenario.seed;
  if (options.checkDeterminism) return checkTwice(scenario, seed, options.json);
  const { report } = playScenario(scenario, { seed });
  print(report, options.json);
  return exitCodeOf[summarize(report.expectations.map(({ verdict }) => verdict))];
}

/** A run that differs from itself is our bug, whatever its verdicts say. */
async function checkTwice(scenario: Scenario, seed: number, json: boolean): Promise<ExitCode> {
  let report: SimulationReport | undefined;
  const verdict = await checkDeterminism((trace) => {
    const played = playScenario(scenario, { seed, trace });
    report = played.report;
    return played.trace;
  });
  if (report === undefined) throw new Error("nothing was played");
  if (json) {
    process.stdout.write(`${JSON.stringify({ ...report, determinism: forMachines(verdict) }, undefined, 2)}\n`);
  } else {
    print(report, false);
    process.stdout.write(
      verdict.deterministic
        ? "Played twice: the same trace, record for record.\n"
        : `${formatDivergence(verdict.divergence)}\n`,
    );
  }
  return verdict.deterministic ? exitCodeOf[summarize(report.expectations.map((row) => row.verdict))] : exitCodes.broke;
}

function forMachines(verdict: DeterminismVerdict): object {
  return verdict.deterministic
    ? verdict
    : { deterministic: false, hashes: verdict.hashes, firstDifference: formatDivergence(verdict.divergence) };
}

function print(report: SimulationReport, json: boolean): void {
  process.stdout.write(
    json ? `${JSON.stringify(report, undefined, 2)}\n` : renderSimulationText(report, painter(process.stdout)),
  );
}

function readScenario(path: string): Scenario {
  try {
    return parseScenario(readFileSync(path, "utf8"), path);
  } catch (error) {
    if (error instanceof ScenarioError) throw new UsageError(error.message);
    throw error;
  }
}
