/** `touchstone capacity compare`: arms side by side, and a gate against regressions. */
import { type Comparison, comparisonsOf } from "../../reports/capacity/compare.ts";
import { metrics } from "../../reports/capacity/metrics.ts";
import { renderComparisons } from "../../reports/render/capacity-compare-text.ts";
import type { CapacityReport } from "../../reports/schema/capacity-report.ts";
import type { CapacityOptions } from "../command-line.ts";
import { readCapacityReport } from "../flags/capacity-report-file.ts";
import { requireKnown } from "../flags/known-names.ts";
import { type ExitCode, exitCodes, UsageError } from "../flags/usage-error.ts";
import { painter } from "../output/terminal.ts";

type CompareOptions = Extract<CapacityOptions, { readonly action: "compare" }>;

export function compareCapacity({ files, threshold, gate, json }: CompareOptions): ExitCode {
  requireKnown(
    "--gate",
    "figure",
    gate,
    metrics.map(({ name }) => name),
  );
  const reports = files.map((path) => ({ name: path, report: readCapacityReport(path, "compare") }));
  const comparisons = comparisonsOf(reports, threshold);
  if (comparisons.length === 0) throw new UsageError(`there is nothing to compare: ${withoutPairs(reports)}`);
  for (const comparison of comparisons) requireGated(gate, comparison);
  const gated = comparisons.map((comparison) => ({
    ...comparison,
    figures: comparison.figures.filter(({ metric }) => gate.length === 0 || gate.includes(metric.name)),
  }));
  process.stdout.write(
    json
      ? `${JSON.stringify(gated.map(forMachines), undefined, 2)}\n`
      : renderComparisons(gated, painter(process.stdout), gate.length > 0),
  );
  return exitCodeOf(gated);
}

/** A gate on a figure that an arm lacks would pass whatever came. */
function requireGated(gate: readonly string[], { before, after, repetitions, figures }: Comparison): void {
  if (repetitions === 0) return;
  const lacking = gate.find((name) => !figures.some(({ metric }) => metric.name === name));
  if (lacking !== undefined)
    throw new UsageError(
      `--gate ${lacking}: there was nothing to take this figure from in ${before} or in ${after}, so that nothing would be judged: name another figure, or leave it out.`,
    );
}

/** Why no arm has one that it could stand beside. */
function withoutPairs(reports: readonly { readonly name: string; readonly report: CapacityReport }[]): string {
  const told = reports
    .map(({ name, report }) => `${name} has ${report.arms.map((arm) => arm.name).join(", ")}`)
    .join("; ");
  return reports.length === 1
    ? `one report needs two arms, and ${told}. Give a second report.`
    : `several reports need arms of the same name, and ${told}.`;
}

function forMachines({ figures, ...comparison }: Comparison): object {
  return {
    ...comparison,
    figures: figures.map(({ metric: { name, kind, unit }, ...figure }) => ({ name, kind, unit, ...figure })),
  };
}

function exitCodeOf(comparisons: readonly Comparison[]): ExitCode {
  const verdicts = comparisons.flatMap(({ figures }) => figures.map(({ verdict }) => verdict));
  if (verdicts.includes("worse")) return exitCodes.targetFailed;
  return verdicts.includes("unproven") || comparisons.some(({ repetitions }) => repetitions === 0)
    ? exitCodes.inconclusive
    : exitCodes.good;
}
