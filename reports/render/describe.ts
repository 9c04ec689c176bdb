/** What several renderers say alike. Pure. */
import type { RequirementResult, SuiteFailure, SuiteReport, TargetDescription } from "../schema/suite-report.ts";
import { type Outcome, type OutcomeStatus, outcomeStatuses } from "../schema/verdict.ts";

/** Of a requirement: `watch` of `watch.reliable`. */
export const areaOf = (id: string): string => id.split(".", 1)[0] as string;

export const targetName = ({ kind, address }: TargetDescription): string =>
  kind === "embedded" ? "the embedded server" : address;

/** What an outcome says beside its status; empty for a pass. */
export function reasonOf(outcome: Outcome): string {
  switch (outcome.status) {
    case "failed":
      return `expected ${outcome.expected}, actual ${outcome.actual}`;
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

export type StatusCounts = Readonly<Record<OutcomeStatus, number>>;

/** Requirements by status, for each area in the order of the report. */
export function countsByArea(rows: readonly RequirementResult[]): ReadonlyMap<string, StatusCounts> {
  const areas = Map.groupBy(rows, ({ id }) => areaOf(id));
  return new Map([...areas].map(([area, own]) => [area, countsOf(own)]));
}

function countsOf(rows: readonly RequirementResult[]): StatusCounts {
  const counts = Object.fromEntries(outcomeStatuses.map((status) => [status, 0])) as Record<OutcomeStatus, number>;
  for (const { outcome } of rows) counts[outcome.status]++;
  return counts;
}

/** `12,345 exchanges`. */
export function counted(count: number, noun: string): string {
  return `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;
}

const grouped = (count: number): string => String(count).replace(/\B(?=(\d{3})+$)/g, ",");

/** `154 checks`, or `3 of 154 checks` where some were never begun. What the target does not claim needs no program. */
export function checksText({ checks }: SuiteReport): string {
  const idle = checks.filter(({ runs, verdict }) => runs === 0 && !restful.has(verdict.status)).length;
  return `${idle === 0 ? "" : `${grouped(checks.length - idle)} of `}${counted(checks.length, "check")}`;
}

const restful: ReadonlySet<string> = new Set(["unsupported", "skipped"]);

/** `1.5 s of virtual time`. */
export function durationText({ durationMillis, target }: SuiteReport): string {
  return `${(durationMillis / 1000).toFixed(1)} s of ${target.kind === "embedded" ? "virtual" : "real"} time`;
}

/** What a reader must know beside the conclusion before trusting it. */
export function caveatsOf(report: SuiteReport): string[] {
  const { complete, partial, totals } = report;
  return [
    complete ? undefined : "cut short",
    partial ? "of a part of the requirements only" : undefined,
    totals.deviations.occurred === 0 ? undefined : `with ${counted(totals.deviations.occurred, "declared deviation")}`,
    leftOutText(report),
  ].filter((note) => note !== undefined);
}

function leftOutText({ checks, options }: SuiteReport): string | undefined {
  const fewer = checks.filter(({ leftOut = 0 }) => leftOut > 0);
  if (fewer.length === 0) return undefined;
  const left = fewer.reduce((sum, { leftOut = 0 }) => sum + leftOut, 0);
  return `without ${counted(left, "program")} of ${counted(fewer.length, "check")} for which the target was too slow (--runs ${options.runs} runs them all)`;
}

/** How to bring about anew what the curl line shows: what a run has made, it takes away again. Empty: the line alone does. */
export function againText({ again }: Pick<SuiteFailure, "again">): string {
  if (again === undefined) return "";
  if (again.length === 0) return "its namespace is gone by now: replay makes it again";
  return ["its namespace is gone by now; these lines make it again, in bash or zsh with jq:", ...again].join("\n");
}
