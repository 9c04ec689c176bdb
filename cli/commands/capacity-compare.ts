/** `touchstone capacity compare`: arms side by side, and a gate against regressions. */
import { type Comparison, comparisonsOf } from "../../reports/capacity/compare.ts";
import { metrics } from "../../reports/capacity/metrics.ts";
import { renderComparisons } from "../../reports/render/capacity-compare-text.ts";
import { nearNames } from "../../wire/near-names.ts";
import type { CapacityOptions } from "../command-line.ts";
import { readCapacityReport } from "../flags/capacity-report-file.ts";
import { type ExitCode, exitCodes, UsageError } from "../flags/usage-error.ts";
import { painter } from "../output/terminal.ts";

type CompareOptions = Extract<CapacityOptions, { readonly action: "compare" }>;

export function compareCapacity({ files, threshold, gate, json }: CompareOptions): ExitCode {
  const names = metrics.map(({ name }) => name);
  for (const name of gate) {
    if (names.includes(name)) continue;
    const [near] = nearNames(name, names);
    throw new UsageError(
      `--gate ${name}: there is no such figure${near === undefined ? "." : `; did you mean ${near}?`} There are ${names.join("; ")}.`,
    );
  }
  const reports = files.map((path) => ({ name: path, report: readCapacityReport(path, "compare") }));
  const comparisons = comparisonsOf(reports, threshold);
  if (comparisons.length === 0)
    throw new UsageError("there is nothing to compare: one report needs two arms, several need arms of the same name.");
  const gated = comparisons.map((comparison) => ({
    ...comparison,
    figures: comparison.figures.filter(({ metric }) => gate.length === 0 || gate.includes(metric.name)),
  }));
  process.stdout.write(
    json
      ? `${JSON.stringify(gated.map(forMachines), undefined, 2)}\n`
      : renderComparisons(gated, painter(process.stdout)),
  );
  return exitCodeOf(gated);
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
