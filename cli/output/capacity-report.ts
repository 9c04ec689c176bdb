/** Reports of capacity as files, as what a command prints, and as an exit code. */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { renderCapacityText } from "../../reports/render/capacity-text.ts";
import { type CapacityReport, isInterrupted } from "../../reports/schema/capacity-report.ts";
import { type ExitCode, exitCodes } from "../flags/usage-error.ts";
import { uninterrupted } from "./interrupt.ts";
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
export function sortedRuns<Run extends Places[number]>(runs: readonly Run[], arms: readonly string[]): Run[] {
  return [...runs].sort(
    (one, other) => arms.indexOf(one.arm) - arms.indexOf(other.arm) || one.repetition - other.repetition,
  );
}

/** A scrape of the first run's server, beside the report. */
export const metricsName = "metrics.prom";

/**
 * Every form, or none: all are made before the first is written, and an interrupt does not end the program in between. What draws the
 * page and packs the tables is large, and is loaded when there is something to write.
 */
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
  const tables = { figures: figureTable(report), requests: requestTable(report), seconds: secondTable(report) };
  const files: readonly (readonly [name: string, content: string | Uint8Array])[] = [
    ["report.json", `${JSON.stringify(report)}\n`],
    ["report.txt", renderCapacityText(report)],
    ["report.html", renderCapacityHtml(report)],
    ...Object.entries(tables).flatMap(([name, table]) => [
      [`${name}.csv`, renderCsv(table)] as const,
      [`${name}.parquet`, renderParquet(table)] as const,
    ]),
    ["perf-dash.json", renderPerfDash(report)],
    ...(metrics === undefined ? [] : [[metricsName, metrics] as const]),
  ];
  uninterrupted(() => {
    mkdirSync(folder, { recursive: true });
    for (const [name, content] of files) writeWhole(join(folder, name), content);
    // Of an earlier run into the same folder, it would be taken for this one's.
    if (metrics === undefined) rmSync(join(folder, metricsName), { force: true });
  });
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
