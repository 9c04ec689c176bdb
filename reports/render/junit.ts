/**
 * A suite report as JUnit XML, the form that CI servers read: a suite an area, a case a requirement, so that ids
 * are stable from run to run. A declared deviation is a skipped case that says so; what proved nothing is an error.
 * Source: the Apache Ant JUnit schema, as Jenkins and its kin read it.
 */
import type { CheckResult, RequirementResult, SuiteReport } from "../schema/suite-report.ts";
import type { Outcome } from "../schema/verdict.ts";
import { renderFailure } from "./text.ts";

/** The XML document, UTF-8. Times are seconds on the suite's clock: virtual when the target is embedded. */
export function renderJUnit(report: SuiteReport): string {
  const areas = Map.groupBy(report.requirements, ({ id }) => id.slice(0, id.indexOf(".")));
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

function reasonOf(outcome: Outcome): string {
  switch (outcome.status) {
    case "inconclusive":
    case "skipped":
      return outcome.why;
    case "error":
      return outcome.cause;
    case "unsupported":
      return `the target does not claim ${outcome.feature}`;
    case "deviation":
      return `declared by the profile: ${outcome.deviations.join(", ")}`;
    default:
      return "";
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
