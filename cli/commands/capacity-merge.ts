/** `touchstone capacity --merge`: reports of parts of one experiment, as the one of the whole. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { lackingText } from "../../reports/capacity/shown-runs.ts";
import { type CapacityReport, type CapacityRun, isInterrupted } from "../../reports/schema/capacity-report.ts";
import { readCapacityReport } from "../flags/capacity-report-file.ts";
import { fileText } from "../flags/file-text.ts";
import { type ExitCode, UsageError } from "../flags/usage-error.ts";
import {
  capacityExitCode,
  leftOut,
  metricsName,
  placeOf,
  printCapacityReport,
  sortedRuns,
  without,
  writeCapacityReport,
} from "../output/capacity-report.ts";
import { prepareFolder } from "../output/written-files.ts";

export interface MergeOptions {
  readonly merge: readonly string[];
  readonly output?: string | undefined;
  readonly json: boolean;
  readonly file?: string | undefined;
}

interface Part {
  readonly path: string;
  readonly report: CapacityReport;
}

export async function mergeCapacity({ merge: files, output, json, file }: MergeOptions): Promise<ExitCode> {
  if (file !== undefined)
    throw new UsageError("--merge plays nothing, and takes no experiment: leave it out, or leave --merge out.");
  const parts = files.map((path): Part => ({ path, report: readCapacityReport(path, "--merge") }));
  const whole = mergedReport(parts);
  const { lacking = [] } = whole;
  if (output !== undefined) {
    prepareFolder(output, "--output");
    await writeCapacityReport(whole, output, metricsBeside(files));
  }
  printCapacityReport(whole, json, output);
  if (lacking.length > 0) process.stderr.write(elsewhereText(whole, lacking, parts));
  return capacityExitCode(whole, lacking.length === 0 && !whole.runs.some(isInterrupted));
}

function mergedReport(parts: readonly Part[]): CapacityReport {
  const [first] = parts;
  if (first === undefined) throw new UsageError("--merge: there is nothing to merge.");
  const { shard: _shard, runs: _runs, unmeasured: _unmeasured, lacking: _lacking, ...head } = first.report;
  for (const { path, report } of parts) {
    const { shard: _part, runs: _own, unmeasured: _none, lacking: _others, ...other } = report;
    if (!isDeepStrictEqual(other, head))
      throw new UsageError(`--merge ${path}: it is of another experiment, form or build than ${first.path}.`);
  }
  const runs = runsByPlace(parts);
  const stopped = parts.flatMap(({ report }) => report.unmeasured ?? []);
  const unmeasured = [
    ...new Map(stopped.flatMap((row) => (runs.has(placeOf(row)) ? [] : [[placeOf(row), row]]))).values(),
  ];
  const names = head.arms.map(({ name }) => name);
  return {
    ...head,
    runs: sortedRuns([...runs.values()], names),
    ...leftOut(sortedRuns(unmeasured, names), without(allRuns(head), [...runs.values(), ...unmeasured])),
  };
}

/** Each run once. Of a run that one part was interrupted in, another part may have all. */
function runsByPlace(parts: readonly Part[]): ReadonlyMap<string, CapacityRun> {
  const found = new Map<string, { readonly run: CapacityRun; readonly path: string }>();
  for (const { path, report } of parts)
    for (const run of report.runs) {
      const before = found.get(placeOf(run));
      if (before === undefined || isInterrupted(before.run)) found.set(placeOf(run), { run, path });
      else if (!isInterrupted(run) && !isDeepStrictEqual(unmeasuredOnly(run), unmeasuredOnly(before.run)))
        throw new UsageError(
          `--merge ${path}: arm ${run.arm}, repetition ${run.repetition}: it has other figures than in ${before.path}, and one run has the same ones always. Play that part once more.`,
        );
    }
  return new Map([...found].map(([place, { run }]) => [place, run]));
}

/** Without what a machine measured. */
const unmeasuredOnly = ({ measured: _measured, ...run }: CapacityRun): object => run;

/** Every run that the experiment comes to. */
const allRuns = ({ arms, repetitions }: Pick<CapacityReport, "arms" | "repetitions">) =>
  arms.flatMap(({ name }) => Array.from({ length: repetitions }, (_, at) => ({ arm: name, repetition: at + 1 })));

function elsewhereText(
  { arms, repetitions }: CapacityReport,
  lacking: NonNullable<CapacityReport["lacking"]>,
  parts: readonly Part[],
): string {
  const shards = parts.map(({ path, report }) => `${path} (${report.shard ?? "the whole"})`).join(", ");
  return `--merge: ${lacking.length} of ${arms.length * repetitions} runs ${lacking.length === 1 ? "is" : "are"} in none of the reports: ${lackingText(lacking)}. These are ${shards}: give the other parts as well.\n`;
}

/** What was scraped stands beside the report of the part that had the first run. */
function metricsBeside(reports: readonly string[]): string | undefined {
  const path = reports.map((report) => join(dirname(report), metricsName)).find((each) => existsSync(each));
  return path === undefined ? undefined : fileText(path);
}
