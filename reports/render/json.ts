/** A report for machines: the result type as it is, indented so that two reports can be compared line by line. */
import type { DiffReport } from "../schema/diff-report.ts";
import type { FaultReport } from "../schema/fault-report.ts";
import type { SuiteFailure, SuiteReport } from "../schema/suite-report.ts";

export function renderJson(document: SuiteReport | SuiteFailure | FaultReport | DiffReport): string {
  return `${JSON.stringify(document, undefined, 2)}\n`;
}
