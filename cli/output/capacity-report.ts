/** Reports of capacity as files, as what a command prints, and as an exit code. */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { renderCapacityText } from "../../reports/render/capacity-text.ts";
import { type CapacityReport, type CapacityRun, isInterrupted } from "../../reports/schema/capacity-report.ts";
import { type ExitCode, exitCodes } from "../flags/usage-error.ts";
import { painter } from "./terminal.ts";
import { writeWhole } from "./written-files.ts";

type Places = NonNullable<CapacityReport["lacking"]>;

/** Runs without figures: those that had not come to be measured, and those that had not begun. Left out where there are none, as in every report that is whole. */
export const leftOut = (unmeasured: Places, lacking: Places): Pick<CapacityReport, "unmeasured" | "lacking"> => ({
  ...(unmeasured.length === 0 ? {} : { unmeasured }),
  ...(lacking.length === 0 ? {} : { lacking }),
});

/** Of these runs those that have none of the names of the others. */
export function without(all: Places, others: Places): Places {
  const there = new Set(others.map(placeOf));
  return all.filter((place) => !there.has(placeOf(place)));
}

/** What a run is called in all reports of its experiment. */
export const placeOf = ({ arm, repetition }: Places[number]): string => `${repetition} ${arm}`;

/** By arm and repetition, whoever played them first. */
export function sortedRuns(runs: readonly CapacityRun[], arms: readonly string[]): CapacityRun[] {
  return [...runs].sort(
    (one, other) => arms.indexOf(one.arm) - arms.indexOf(other.arm) || one.repetition - other.repetition,
  );
}

/** A scrape of the first run's server, beside the report. */
export const metricsName = "metrics.prom";

/** What draws the page and packs the tables is large, and is loaded when there is something to write. */
export async function writeCapacityReport(
  report: CapacityReport,
  folder: string,
  metrics: string | undefined,
): Promise<void> {
  const [{ renderCapacityHtml }, tabled] = await Promise.all([
    import("../../reports/html/capacity-page.ts"),
    import("../../reports/render/capacity-tables.ts"),
  ]);
  const { figureTable, renderCsv, renderParquet, renderPerfDash, requestTable, secondTable } = tabled;
  mkdirSync(folder, { recursive: true });
  const write = (name: string, text: string | Uint8Array): void => writeWhole(join(folder, name), text);
  write("report.json", `${JSON.stringify(report)}\n`);
  write("report.txt", renderCapacityText(report));
  write("report.html", renderCapacityHtml(report));
  const tables = { figures: figureTable(report), requests: requestTable(report), seconds: secondTable(report) };
  for (const [name, table] of Object.entries(tables)) {
    write(`${name}.csv`, renderCsv(table));
    write(`${name}.parquet`, renderParquet(table));
  }
  write("perf-dash.json", renderPerfDash(report));
  // Of an earlier run into the same folder, it would be taken for this one's.
  if (metrics === undefined) rmSync(join(folder, metricsName), { force: true });
  else write(metricsName, metrics);
}

export function printCapacityReport(report: CapacityReport, json: boolean, folder: string | undefined): void {
  process.stdout.write(json ? `${JSON.stringify(report)}\n` : renderCapacityText(report, painter(process.stdout)));
  if (!json && folder !== undefined) process.stdout.write(`page: ${join(folder, "report.html")}\n`);
}

/** A breach stands, whatever was not played; of an interrupted run nothing is judged. */
export function capacityExitCode({ runs }: CapacityReport, isWhole: boolean): ExitCode {
  const judged = runs.filter((run) => !isInterrupted(run)).flatMap(({ objectives }) => objectives);
  if (judged.some(({ met }) => !met)) return exitCodes.targetFailed;
  return isWhole && runs.length > 0 ? exitCodes.good : exitCodes.inconclusive;
}
