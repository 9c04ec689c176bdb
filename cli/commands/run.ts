/** `touchstone run`: seeded simulations of a scenario file: one, many, or one twice to see whether it is the same. */
import process from "node:process";
import { renderSeedsText } from "../../reports/render/seeds-text.ts";
import { renderSimulationText } from "../../reports/render/simulation-text.ts";
import { renderTraceText } from "../../reports/render/trace-text.ts";
import type { SimulationReport } from "../../reports/schema/simulation-report.ts";
import { exitCodeOf, summarize } from "../../reports/schema/verdict.ts";
import type { Scenario } from "../../scenarios/schema.ts";
import type { Bugs } from "../../sim/experiments/bugs.ts";
import { type PlayOptions, playScenario, type Played } from "../../sim/experiments/play.ts";
import { Recorder } from "../../sim/experiments/recorder.ts";
import { StageError } from "../../sim/experiments/stage.ts";
import { checkDeterminism, type DeterminismVerdict, formatDivergence } from "../../sim/kernel/determinism.ts";
import type { Trace, TraceOptions } from "../../sim/kernel/trace.ts";
import type { RunOptions } from "../command-line.ts";
import { plantedBugs, readScenario, readText } from "../flags/scenario-file.ts";
import { type ExitCode, exitCodes, UsageError } from "../flags/usage-error.ts";
import type { RunPart } from "../targets/run-part.ts";
import { runThread } from "../targets/run-thread.ts";
import { onInterrupt, turnOfTheLoop } from "../output/interrupt.ts";
import { painter, progressLine } from "../output/terminal.ts";
import { requireWritable, writeWhole } from "../output/written-files.ts";

export async function runScenario(options: RunOptions): Promise<ExitCode> {
  const scenario = readScenario(options.scenario, options.profile);
  const seed = options.seed ?? scenario.seed;
  const bugs = plantedBugs(options.faults, scenario);
  const mode = options.mode ?? scenario.mode;
  if (options.seeds !== undefined) return playSeeds(scenario, { bugs, mode }, seed, options);
  if (options.checkDeterminism) return checkReruns(scenario, { bugs, mode, seed }, options);
  if (options.reruns !== undefined)
    throw new UsageError("--reruns is how often --check-determinism plays: give that, too.");
  if (options.trace !== undefined) requireWritable(options.trace, "--trace");
  const recorder = options.trace === undefined ? undefined : new Recorder(scenario);
  const { report } = played(scenario, { bugs, mode, seed, ...(recorder === undefined ? {} : { watcher: recorder }) });
  print(report, options.json);
  if (recorder !== undefined && options.trace !== undefined) writeTrace(recorder, report, options.trace);
  return exitCodeOfRun(report);
}

/** A broken invariant is a failure, whether the scenario has a row for it or not. */
function exitCodeOfRun(report: SimulationReport): ExitCode {
  if (report.failure !== undefined) return exitCodes.targetFailed;
  const outcomes = report.expectations.map(({ verdict }) => verdict);
  // Without expectations the invariants were all there was to prove.
  return outcomes.length === 0 ? exitCodes.good : exitCodeOf[summarize(outcomes)];
}

function played(scenario: Scenario, options: PlayOptions): Played {
  try {
    return playScenario(scenario, options);
  } catch (error) {
    if (error instanceof StageError) throw new UsageError(error.message);
    throw error;
  }
}

function writeTrace(recorder: Recorder, report: SimulationReport, file: string): void {
  const document = recorder.document(report);
  writeWhole(file, file.endsWith(".json") ? `${JSON.stringify(document)}\n` : renderTraceText(document));
}

/** Seeds one after another, in this process, which hears of an interrupt between two of them; `hunt` is for many. */
async function playSeeds(
  scenario: Scenario,
  options: { readonly bugs: Bugs; readonly mode: Scenario["mode"] },
  first: number,
  { seeds = 1, checkDeterminism: twice, trace, json }: RunOptions,
): Promise<ExitCode> {
  if (twice) throw new UsageError("--check-determinism looks at one seed: leave --seeds out.");
  if (trace !== undefined) throw new UsageError("--trace writes down one run: leave --seeds out, and give --seed.");
  const { signal, stopListening } = onInterrupt("Stopping; what was played is told.");
  const line = progressLine();
  const reports: SimulationReport[] = [];
  try {
    for (let index = 0; index < seeds; index++) {
      await turnOfTheLoop();
      if (signal.aborted) break;
      reports.push(played(scenario, { ...options, seed: first + index }).report);
      const failed = reports.filter(({ failure }) => failure !== undefined).length;
      line.show(`${reports.length}/${seeds} seeds, ${failed === 0 ? "no failure" : `${failed} failed`}`);
    }
  } finally {
    line.clear();
    stopListening();
  }
  process.stdout.write(
    json ? `${JSON.stringify(reports, undefined, 2)}\n` : renderSeedsText(reports, seeds, painter(process.stdout)),
  );
  const codes = reports.map(exitCodeOfRun);
  return (
    codes.find((code) => code === exitCodes.targetFailed) ??
    codes.find((code) => code !== exitCodes.good) ??
    (reports.length < seeds ? exitCodes.inconclusive : exitCodes.good)
  );
}

/** A run that differs from itself is our bug, whatever its verdicts say. */
async function checkReruns(
  scenario: Scenario,
  options: PlayOptions & { readonly mode: Scenario["mode"]; readonly seed: number },
  { json, trace: file, scenario: path, faults, reruns }: RunOptions,
): Promise<ExitCode> {
  if (file !== undefined) throw new UsageError("--check-determinism plays twice: leave --trace out.");
  let report: SimulationReport | undefined;
  const { mode, seed } = options;
  const part = { scenario: readText(path), scenarioName: path, profile: scenario.profile, mode, bugs: faults, seed };
  const runOnce = (trace: TraceOptions): Trace => {
    const run = played(scenario, { ...options, trace });
    report = run.report;
    return run.trace;
  };
  const verdict = await (reruns === undefined ? checkDeterminism(runOnce) : checkInThread(runOnce, part, reruns));
  if (report === undefined) throw new Error("nothing was played");
  if (json) {
    process.stdout.write(`${JSON.stringify({ ...report, determinism: forMachines(verdict) }, undefined, 2)}\n`);
  } else {
    print(report, false);
    process.stdout.write(
      verdict.deterministic
        ? `Played ${timesOf(verdict.runCount, reruns)}: the same trace, record for record.\n`
        : `run ${verdict.run} has another trace than the first: ${verdict.hashes[1]}, and not ${verdict.hashes[0]}: ${formatDivergence(verdict.divergence)}\n`,
    );
  }
  return verdict.deterministic ? exitCodeOfRun(report) : exitCodes.broke;
}

async function checkInThread(
  runOnce: (trace: TraceOptions) => Trace,
  part: Omit<RunPart, "hash">,
  reruns: number,
): Promise<DeterminismVerdict> {
  const thread = runThread();
  try {
    return await checkDeterminism(runOnce, { reruns, elsewhere: (hash) => thread.run({ ...part, hash }) });
  } finally {
    await thread.close();
  }
}

function timesOf(runCount: number, reruns: number | undefined): string {
  return reruns === undefined ? "twice" : `${runCount} times, ${reruns} of them in a thread of its own`;
}

function forMachines(verdict: DeterminismVerdict): object {
  return verdict.deterministic
    ? verdict
    : {
        deterministic: false,
        hashes: verdict.hashes,
        run: verdict.run,
        firstDifference: formatDivergence(verdict.divergence),
      };
}

function print(report: SimulationReport, json: boolean): void {
  process.stdout.write(
    json ? `${JSON.stringify(report, undefined, 2)}\n` : renderSimulationText(report, painter(process.stdout)),
  );
}
