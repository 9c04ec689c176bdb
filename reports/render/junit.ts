/**
 * A suite report as JUnit XML, the form that CI servers read: a suite an area, a case a requirement, so that ids
 * are stable from run to run. A declared deviation is a skipped case that says so; what proved nothing is an error.
 * Source: the Apache Ant JUnit schema, as Jenkins and its kin read it.
 */
import type { CheckResult, RequirementResult, SuiteReport } from "../schema/suite-report.ts";
import type { Outcome } from "../schema/verdict.ts";
import { findingsOf } from "../gate/finding.ts";
import { areaOf, reasonOf } from "./describe.ts";
import { renderFailure } from "./text.ts";

/** The XML document, UTF-8. Times are seconds on the suite's clock: virtual when the target is embedded. */
export function renderJUnit(judged: SuiteReport): string {
  const report = { ...judged, requirements: judged.requirements.map((row) => throughBaseline(judged, row)) };
  const areas = Map.groupBy(report.requirements, ({ id }) => areaOf(id));
  const checks = new Map(report.checks.map((check) => [check.id, check]));
  const suites = [...areas].flatMap(([area, rows]) => suiteLines(report, area, rows, checks));
  const attributes = {
    name: `touchstone ${report.profile}`,
    ...counts(report.requirements),
    time: seconds(report.durationMillis),
  };
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${written(attributes)}>`,
    ...suites,
    "</testsuites>",
    "",
  ].join("\n");
}

/** What is expected does not count against the target, and what is stale does: a CI server must come to our exit code. */
function throughBaseline(report: SuiteReport, row: RequirementResult): RequirementResult {
  const { baseline } = report;
  if (baseline === undefined) return row;
  const own = baseline.entries.filter(({ finding }) => finding.startsWith(`${row.id}/`));
  const stale = own.filter(({ status }) => status === "stale").map(({ finding }) => finding);
  const found = findingsOf(report).filter(({ requirement }) => requirement === row.id);
  const allExpected = found.length > 0 && found.every(({ id }) => !baseline.unexpected.includes(id));
  const skip = (why: string): RequirementResult => ({ ...row, outcome: { status: "skipped", why } });
  if (stale.length > 0 && (found.length === 0 || allExpected)) {
    const expected = `the failure that ${baseline.file} expects: ${stale.join(", ")}`;
    return { ...row, outcome: { status: "failed", expected, actual: "it no longer occurs: remove the entry" } };
  }
  if (allExpected) return skip(`expected by ${baseline.file}: ${own.map(({ reason }) => reason).join(" ")}`);
  return baseline.hidden.includes(row.id) ? skip("hidden behind an expected failure of its check") : row;
}

function suiteLines(
  report: SuiteReport,
  area: string,
  rows: readonly RequirementResult[],
  checks: ReadonlyMap<string, CheckResult>,
): string[] {
  const attributes = { name: area, ...counts(rows), timestamp: report.startedAt };
  const cases = rows.flatMap((row) => caseLines(area, row, checks));
  return [`  <testsuite${written(attributes)}>`, ...cases, "  </testsuite>"];
}

function caseLines(area: string, row: RequirementResult, checks: ReadonlyMap<string, CheckResult>): string[] {
  const judges = row.checks.flatMap((id) => checks.get(id) ?? []);
  const time = seconds(judges.reduce((sum, check) => sum + check.durationMillis, 0));
  const open = `    <testcase${written({ classname: `touchstone.${area}`, name: row.id, time })}`;
  const said = outcomeElement(row, judges);
  return said === undefined ? [`${open}/>`] : [`${open}>`, `      ${said}`, "    </testcase>"];
}

/** Nothing for a pass. */
function outcomeElement({ id, outcome, text }: RequirementResult, judges: readonly CheckResult[]): string | undefined {
  switch (outcome.status) {
    case "passed":
      return undefined;
    case "failed": {
      const failure = judges.find((check) => check.failure?.requirement === id)?.failure;
      const message = `expected ${outcome.expected}, actual ${outcome.actual}`;
      const detail = failure === undefined ? `promised: ${text}` : renderFailure(failure);
      return `<failure${written({ type: "failed", message })}>${legal(detail).replace(/[&<>]/g, entity)}</failure>`;
    }
    case "inconclusive":
    case "error":
      return `<error${written({ type: outcome.status, message: reasonOf(outcome) })}/>`;
    default:
      return `<skipped${written({ message: `${outcome.status}: ${reasonOf(outcome)}` })}/>`;
  }
}

function counts(rows: readonly RequirementResult[]): Record<string, number> {
  const having = (...statuses: Outcome["status"][]): number =>
    rows.filter(({ outcome }) => statuses.includes(outcome.status)).length;
  return {
    tests: rows.length,
    failures: having("failed"),
    errors: having("inconclusive", "error"),
    skipped: having("unsupported", "skipped", "deviation"),
  };
}

const seconds = (millis: number): string => (millis / 1000).toFixed(3);

const written = (attributes: Readonly<Record<string, string | number>>): string =>
  Object.entries(attributes)
    .map(([name, value]) => ` ${name}="${legal(String(value)).replace(/[&<>"\n\t]/g, entity)}"`)
    .join("");

/** XML 1.0 has no place for most control characters and lone surrogates, not even escaped: they become U+FFFD. */
const legal = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is looked for.
  text
    .toWellFormed()
    .replaceAll("\r", "\n")
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd");

const entity = (character: string): string => entities[character] as string;

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\n": "&#10;",
  "\t": "&#9;",
};
