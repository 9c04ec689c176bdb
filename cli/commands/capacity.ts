/** `touchstone capacity`: experiments on capacity, run by run on threads or through a queue, and what they come to. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { renderCapacityText } from "../../reports/render/capacity-text.ts";
import { type CapacityReport, capacityReportSchema, type CapacityRun } from "../../reports/schema/capacity-report.ts";
import { costConstants, usualCosts } from "../../scenarios/capacity/cost-constants.ts";
import { type PlannedArm, questionOf } from "../../scenarios/capacity/plan.ts";
import { nearNames } from "../../wire/near-names.ts";
import type { CapacityOptions } from "../command-line.ts";
import { readCapacityReport } from "../flags/capacity-report-file.ts";
import { type ReadExperiment, readExperiment } from "../flags/experiment-file.ts";
import { type ExitCode, exitCodes, UsageError } from "../flags/usage-error.ts";
import { interrupted } from "../output/interrupt.ts";
import { painter } from "../output/terminal.ts";
import { prepareFolder } from "../output/written-files.ts";
import { buildName } from "../targets/build-name.ts";
import type { CapacityPart, PlayedPart } from "../targets/capacity-part.ts";
import { playRuns } from "../targets/capacity-runs.ts";
import { capacityThreads } from "../targets/capacity-threads.ts";
import { defaultThreads } from "../targets/default-threads.ts";
import { fileText } from "../flags/file-text.ts";

type RunOptions = Extract<CapacityOptions, { readonly action: "run" }>;

/** `threadsOf`: where runs are played. */
export async function capacity(options: CapacityOptions, threadsOf = capacityThreads): Promise<ExitCode> {
  if (options.action === "find") return (await import("./capacity-find.ts")).findCapacity(options, threadsOf);
  if (options.action === "compare") return (await import("./capacity-compare.ts")).compareCapacity(options);
  if (options.action === "import") return (await import("./capacity-import.ts")).importCapacity(options);
  return play(options, threadsOf);
}

async function play(options: RunOptions, threadsOf: typeof capacityThreads): Promise<ExitCode> {
  if (options.merge.length > 0) return merge(options);
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
  prepareFolder(folder, "--output");
  const parts = partsOf(read, file, arms, options);
  const { played, isWhole } = await playRuns(parts, { ...options, build: buildName(), threadsOf });
  const report = reportOf(read, arms, played, options);
  await writeCapacityReport(report, folder, played.find(({ metrics }) => metrics !== undefined)?.metrics);
  print(report, options.json, folder);
  if (read.plan.experiment.find !== undefined && !options.json)
    process.stdout.write(
      `where it ends: npx touchstone capacity find ${file}${report.form === "full" ? "" : ` --${report.form}`}\n`,
    );
  return exitCodeOf(report, isWhole);
}

function chosen(arms: readonly PlannedArm[], names: readonly string[]): readonly PlannedArm[] {
  if (names.length === 0) return arms;
  for (const name of names) {
    if (arms.some((arm) => arm.name === name)) continue;
    const [near] = nearNames(
      name,
      arms.map((arm) => arm.name),
    );
    throw new UsageError(
      `--arm ${name}: there is no such arm${near === undefined ? "." : `; did you mean ${near}?`} There are ${arms.map((arm) => arm.name).join(", ")}.`,
    );
  }
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
  played: readonly PlayedPart[],
  { shard }: RunOptions,
): CapacityReport {
  const mistake = played.find((part) => part.mistake !== undefined)?.mistake;
  if (mistake !== undefined) throw new UsageError(mistake);
  const { experiment, form, repetitions } = plan;
  const { name, profile, costs, reality, realityEvents } = experiment;
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
      played.flatMap(({ run }) => (run === undefined ? [] : [run])),
      arms.map((arm) => arm.name),
    ),
    ...unmeasuredOf(played.flatMap(({ unmeasured }) => (unmeasured === undefined ? [] : [unmeasured]))),
    ...(shard === undefined ? {} : { shard: shard.text }),
  } satisfies CapacityReport);
}

/** Left out where there are none, as in every report that is whole. */
const unmeasuredOf = (rows: NonNullable<CapacityReport["unmeasured"]>): Pick<CapacityReport, "unmeasured"> =>
  rows.length === 0 ? {} : { unmeasured: rows };

/** By arm and repetition, whoever played them first. */
function sortedRuns(runs: readonly CapacityRun[], arms: readonly string[]): CapacityRun[] {
  return [...runs].sort(
    (one, other) => arms.indexOf(one.arm) - arms.indexOf(other.arm) || one.repetition - other.repetition,
  );
}

/** Reports of parts of one experiment, as the one of the whole. */
async function merge({ merge: files, output, json, file }: RunOptions): Promise<ExitCode> {
  if (file !== undefined)
    throw new UsageError("--merge plays nothing, and takes no experiment: leave it out, or leave --merge out.");
  const reports = files.map((path) => readCapacityReport(path, "--merge"));
  const [first] = reports;
  if (first === undefined) throw new UsageError("--merge: there is nothing to merge.");
  const { shard: _shard, runs: _runs, unmeasured: _unmeasured, ...head } = first;
  for (const [index, { shard: _part, runs: _own, unmeasured: _none, ...other }] of reports.entries()) {
    if (JSON.stringify(other) !== JSON.stringify(head))
      throw new UsageError(`--merge ${files[index]}: it is of another experiment, form or build than ${files[0]}.`);
  }
  const byPlace = new Map(
    reports.flatMap(({ runs }) => runs.map((run) => [`${run.repetition} ${run.arm}`, run] as const)),
  );
  const whole: CapacityReport = {
    ...head,
    runs: sortedRuns(
      [...byPlace.values()],
      head.arms.map(({ name }) => name),
    ),
    ...unmeasuredOf(
      reports
        .flatMap(({ unmeasured = [] }) => unmeasured)
        .filter(({ arm, repetition }) => !byPlace.has(`${repetition} ${arm}`)),
    ),
  };
  const isWhole =
    whole.runs.length === head.arms.length * head.repetitions &&
    whole.runs.every(({ stoppedBy }) => stoppedBy !== "interrupted");
  if (output !== undefined) {
    prepareFolder(output, "--output");
    await writeCapacityReport(whole, output, metricsBeside(files));
  }
  print(whole, json, output);
  return exitCodeOf(whole, isWhole);
}

/** What was scraped stands beside the report of the part that had the first run. */
function metricsBeside(reports: readonly string[]): string | undefined {
  const path = reports.map((report) => join(dirname(report), metricsName)).find((each) => existsSync(each));
  return path === undefined ? undefined : fileText(path);
}

const metricsName = "metrics.prom";

/** What draws the page and packs the tables is large, and is loaded when there is something to write. */
async function writeCapacityReport(report: CapacityReport, folder: string, metrics: string | undefined): Promise<void> {
  const [{ renderCapacityHtml }, tabled] = await Promise.all([
    import("../../reports/html/capacity-page.ts"),
    import("../../reports/render/capacity-tables.ts"),
  ]);
  const { figureTable, renderCsv, renderParquet, renderPerfDash, requestTable, secondTable } = tabled;
  mkdirSync(folder, { recursive: true });
  const write = (name: string, text: string | Uint8Array): void => writeFileSync(join(folder, name), text);
  write("report.json", `${JSON.stringify(report)}\n`);
  write("report.txt", renderCapacityText(report));
  write("report.html", renderCapacityHtml(report));
  const tables = { figures: figureTable(report), requests: requestTable(report), seconds: secondTable(report) };
  for (const [name, table] of Object.entries(tables)) {
    write(`${name}.csv`, renderCsv(table));
    write(`${name}.parquet`, renderParquet(table));
  }
  write("perf-dash.json", renderPerfDash(report));
  if (metrics !== undefined) write(metricsName, metrics);
}

function print(report: CapacityReport, json: boolean, folder: string | undefined): void {
  process.stdout.write(json ? `${JSON.stringify(report)}\n` : renderCapacityText(report, painter(process.stdout)));
  if (!json && folder !== undefined) process.stdout.write(`page: ${join(folder, "report.html")}\n`);
}

function exitCodeOf({ runs }: CapacityReport, isWhole: boolean): ExitCode {
  if (runs.some(({ objectives }) => objectives.some(({ met }) => !met))) return exitCodes.targetFailed;
  return isWhole && runs.length > 0 ? exitCodes.good : exitCodes.inconclusive;
}
