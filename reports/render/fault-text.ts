/** A fault report for a person: what was missed comes first. */
import { type FaultReport, type FaultResult, isGood } from "../schema/fault-report.ts";
import { renderTable } from "./table.ts";

export function renderFaultText(report: FaultReport): string {
  const { faults, faultsAsked, cleanSeeds, cleanSeedsAsked, falseFindings } = report;
  const missed = faults.filter(({ found }) => !found);
  const found = faults.filter((row) => row.found);
  const rows = [...missed, ...found].map(rowOf);
  const header = ["fault", "found by", "requirement", "programs", "virtual s", "measured s"];
  const lines = [
    ...(rows.length === 0 ? [] : [renderTable(header, rows), ""]),
    ...falseFindings.map(
      ({ check, requirement, replay }) => `FOUND WITHOUT A FAULT: ${requirement} by ${check}\n  ${replay}`,
    ),
    ...(faultsAsked === 0
      ? []
      : [`${found.length} of ${faults.length} faults found${untried(faults.length, faultsAsked)}`]),
    ...(cleanSeedsAsked === 0
      ? []
      : [
          `${falseFindings.length} findings without a fault, over ${cleanSeeds} seeds${untried(cleanSeeds, cleanSeedsAsked)}`,
        ]),
    ...(report.complete ? [] : ["cut short: what is here is not all"]),
    !isGood(report) ? "NOT GOOD" : report.complete ? "GOOD" : "INCONCLUSIVE",
  ];
  return `${lines.join("\n")}\n`;
}

const untried = (tried: number, asked: number): string =>
  tried === asked ? "" : `; ${asked - tried} of ${asked} were not tried to the end`;

function rowOf(row: FaultResult): string[] {
  return [
    row.fault,
    row.found ? (row.check ?? "") : "NOT FOUND",
    row.requirement ?? "",
    String(row.programs),
    (row.virtualMillis / 1000).toFixed(1),
    (row.measuredMillis / 1000).toFixed(1),
  ];
}
