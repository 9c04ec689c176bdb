/** `touchstone capacity`: experiments on capacity, run by run on threads or through a queue, and what they come to. */
import { join } from "node:path";
import { type CapacityReport, capacityReportSchema } from "../../reports/schema/capacity-report.ts";
import { costConstants, usualCosts } from "../../scenarios/capacity/cost-constants.ts";
import { type PlannedArm, questionOf } from "../../scenarios/capacity/plan.ts";
import type { CapacityOptions } from "../command-line.ts";
import { type ReadExperiment, readExperiment } from "../flags/experiment-file.ts";
import { requireKnown } from "../flags/known-names.ts";
import { type ExitCode, exitCodes, UsageError } from "../flags/usage-error.ts";
import {
  capacityExitCode,
  leftOut,
  printCapacityReport,
  sortedRuns,
  without,
  writeCapacityReport,
} from "../output/capacity-report.ts";
import { interrupted, onInterrupt } from "../output/interrupt.ts";
import { prepareFolder, removeFolders } from "../output/written-files.ts";
import { buildName } from "../targets/build-name.ts";
import type { CapacityPart, PlayedPart } from "../targets/capacity-part.ts";
import { playRuns } from "../targets/capacity-runs.ts";
import { capacityThreads } from "../targets/capacity-threads.ts";
import { defaultThreads } from "../targets/default-threads.ts";

type RunOptions = Extract<CapacityOptions, { readonly action: "run" }>;

/** `threadsOf`: where runs are played. */
export async function capacity(options: CapacityOptions, threadsOf = capacityThreads): Promise<ExitCode> {
  if (options.action === "find") return (await import("./capacity-find.ts")).findCapacity(options, threadsOf);
  if (options.action === "compare") return (await import("./capacity-compare.ts")).compareCapacity(options);
  if (options.action === "import") return (await import("./capacity-import.ts")).importCapacity(options);
  return play(options, threadsOf);
}

async function play(options: RunOptions, threadsOf: typeof capacityThreads): Promise<ExitCode> {
  if (options.merge.length > 0) return (await import("./capacity-merge.ts")).mergeCapacity(options);
  if (options.worker) return work(options);
  const { file } = options;
  if (file === undefined)
    throw new UsageError(
      "no experiment was named: give an experiment's file, --merge REPORT, or --worker with --queue URL.",
    );
  const read = readExperiment(file, options, options.repetitions);
  const arms = chosen(read.plan.arms, options.arms);
  requireMoment(options.metricsAt, arms);
  const folder = options.output ?? join("out", "capacity", read.plan.experiment.name);
  const made = prepareFolder(folder, "--output");
  const tidyUp = (): void => removeFolders(made);
  const parts = partsOf(read, file, arms, options);
  let report: CapacityReport;
  let isWhole: boolean;
  const { signal, stopListening } = onInterrupt("Stopping; the report has what was done.", undefined, tidyUp);
  try {
    const done = await playRuns(parts, { ...options, build: buildName(), threadsOf, signal });
    report = reportOf(read, arms, parts, done.played, options);
    isWhole = done.isWhole;
    await writeCapacityReport(report, folder, scraped(done.played, options.metricsAt, parts));
  } catch (error) {
    tidyUp();
    throw error;
  } finally {
    stopListening();
  }
  printCapacityReport(report, options.json, folder);
  if (read.plan.experiment.find !== undefined && !options.json)
    process.stdout.write(
      `where it ends: npx touchstone capacity find ${file}${report.form === "full" ? "" : ` --${report.form}`}\n`,
    );
  return capacityExitCode(report, isWhole);
}

/** What the server of the first run would have shown. A run that ended before it was asked is told of. */
function scraped(
  played: readonly PlayedPart[],
  metricsAt: number | undefined,
  parts: readonly CapacityPart[],
): string | undefined {
  const metrics = played.find((part) => part.metrics !== undefined)?.metrics;
  if (metricsAt !== undefined && metrics === undefined && parts.some(({ wantsMetrics }) => wantsMetrics))
    process.stderr.write(
      `--metrics-at: the first run ended before ${metricsAt / 1_000_000} s, and there is no metrics.prom: give an earlier time, or leave it out for the end.\n`,
    );
  return metrics;
}

function chosen(arms: readonly PlannedArm[], names: readonly string[]): readonly PlannedArm[] {
  if (names.length === 0) return arms;
  requireKnown(
    "--arm",
    "arm",
    names,
    arms.map(({ name }) => name),
  );
  return arms.filter(({ name }) => names.includes(name));
}

/** What is to be scraped must come before the end of every run. */
function requireMoment(metricsAt: number | undefined, arms: readonly PlannedArm[]): void {
  if (metricsAt === undefined) return;
  const short = arms.find(({ experiment }) => experiment.until < metricsAt);
  if (short === undefined) return;
  const [asked, until] = [metricsAt / 1_000_000, short.experiment.until / 1_000_000];
  throw new UsageError(
    `--metrics-at: ${asked} s is beyond the end: the measurement of arm ${short.name} takes ${until} s. Give ${until}s at most, or leave it out for the end.`,
  );
}

/** Every run of every arm; of them, those of the shard. */
function partsOf(
  read: ReadExperiment,
  fileName: string,
  arms: readonly PlannedArm[],
  options: RunOptions,
): readonly CapacityPart[] {
  const { shard, seed, metricsAt } = options;
  const all = arms.flatMap(({ name, changes }, armAt) =>
    Array.from(
      { length: read.plan.repetitions },
      (_, at): CapacityPart => ({
        text: read.text,
        fileName,
        arm: name,
        changes,
        repetition: at + 1,
        logs: read.logs,
        wantsMetrics: armAt === 0 && at === 0,
        ...(seed === undefined ? {} : { seed }),
        ...(metricsAt === undefined ? {} : { metricsAtMicros: metricsAt }),
      }),
    ),
  );
  return shard === undefined ? all : all.filter((_, index) => index % shard.count === shard.index - 1);
}

/** Runs that a queue hands out, until it is interrupted; what is under way then is left to other workers. */
async function work({ queue, jobs = defaultThreads(), file }: RunOptions): Promise<ExitCode> {
  if (queue === undefined) throw new UsageError("--worker takes its runs from a queue: give --queue URL.");
  if (file !== undefined)
    throw new UsageError("--worker takes its experiments from the queue, too: leave the experiment out.");
  const { queueWorker } = await import("../targets/job-queue.ts");
  const threads = capacityThreads(jobs);
  let runs = 0;
  try {
    const worker = await queueWorker<CapacityPart, PlayedPart>("capacity", queue, buildName(), jobs, async (part) => {
      const played = await threads.run(part);
      runs++;
      return played;
    });
    process.stdout.write("working\n");
    await interrupted();
    await worker.close(true);
  } finally {
    await threads.close();
  }
  process.stdout.write(`${runs} ${runs === 1 ? "run" : "runs"}\n`);
  return exitCodes.good;
}

function reportOf(
  { text, plan }: ReadExperiment,
  arms: readonly PlannedArm[],
  parts: readonly CapacityPart[],
  played: readonly PlayedPart[],
  { shard }: RunOptions,
): CapacityReport {
  const mistake = played.find((part) => part.mistake !== undefined)?.mistake;
  if (mistake !== undefined) throw new UsageError(mistake);
  const { experiment, form, repetitions } = plan;
  const { name, profile, costs, reality, realityEvents } = experiment;
  const runs = played.flatMap(({ run }) => (run === undefined ? [] : [run]));
  const unmeasured = played.flatMap((part) => (part.unmeasured === undefined ? [] : [part.unmeasured]));
  const asked = parts.map(({ arm, repetition }) => ({ arm, repetition }));
  // By the schema, which puts the fields in one order: a report that was read again is written as it was.
  return capacityReportSchema.parse({
    apiVersion: "capacity-reports/v1",
    kind: "CapacityReport",
    name,
    question: questionOf(experiment),
    build: buildName(),
    profile,
    form,
    experiment: text,
    costs: costConstants.map(({ name: constant, is, source }) => {
      const own = costs[constant];
      return {
        name: constant,
        value: own ?? usualCosts[constant],
        is,
        source: own === undefined ? source : "given by the user",
      };
    }),
    arms: arms.map((arm) => ({ name: arm.name, changes: arm.changes.map(([path, value]) => [path, value as never]) })),
    repetitions,
    reality,
    realityEvents,
    runs: sortedRuns(
      runs,
      arms.map((arm) => arm.name),
    ),
    ...leftOut(unmeasured, without(asked, [...runs, ...unmeasured])),
    ...(shard === undefined ? {} : { shard: shard.text }),
  } satisfies CapacityReport);
}
