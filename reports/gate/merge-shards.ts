/** One report of the reports of all shards of a run. */
import type { DeviationResult, RequirementResult, SuiteReport } from "../schema/suite-report.ts";
import { totalsOf } from "../schema/totals.ts";
import { type Outcome, type OutcomeStatus, summarize } from "../schema/verdict.ts";

/** Worst first: what any shard says against a requirement holds for the run. */
const worstFirst: readonly OutcomeStatus[] = [
  "failed",
  "error",
  "inconclusive",
  "skipped",
  "deviation",
  "passed",
  "unsupported",
];

/** Throws an `Error` with a sentence when they are not all shards of one run. */
export function mergeShards(reports: readonly SuiteReport[]): SuiteReport {
  const [first] = reports;
  if (first === undefined) throw new Error("no report was given.");
  requireOneRun(reports, first);
  const deviations = first.deviations.map((row) => mergedDeviation(reports, row));
  const ids = new Set(reports.flatMap(({ requirements }) => requirements.map(({ id }) => id)));
  const requirements = [...ids].map((id) => mergedRequirement(reports, id, deviations));
  const checks = reports.flatMap((report) => report.checks);
  const { shard: _shard, ...options } = first.options;
  const { baseline: _baseline, ...report } = first;
  return {
    ...report,
    options,
    requirements,
    checks,
    deviations,
    conclusion: summarize(requirements.map(({ outcome }) => outcome)),
    complete: reports.every(({ complete }) => complete),
    partial:
      options.only.length > 0 || options.law === "must" || first.notJudged.some(({ judged }) => judged === "level"),
    totals: totalsOf(requirements, checks, deviations),
    leftovers: [...new Set(reports.flatMap(({ leftovers }) => leftovers))],
    durationMillis: Math.max(...reports.map(({ durationMillis }) => durationMillis)),
  };
}

function requireOneRun(reports: readonly SuiteReport[], first: SuiteReport): void {
  const shares = reports.map(({ options }) => options.shard ?? "");
  const count = Number(/^\d+\/(\d+)$/.exec(first.options.shard ?? "")?.[1] ?? 0);
  if (count === 0) throw new Error("these are reports of whole runs: give those of `conform --shard`.");
  const missing = Array.from({ length: count }, (_, at) => `${at + 1}/${count}`).filter((one) => !shares.includes(one));
  if (missing.length > 0)
    throw new Error(`the shares ${missing.join(", ")} are missing: give the reports of all of them.`);
  if (new Set(shares).size !== shares.length) throw new Error("a share is given twice: give each report once.");
  const runOf = ({ target, profile, seed, options }: SuiteReport): string =>
    JSON.stringify([target.kind, target.address, profile, seed, { ...options, shard: undefined, jobs: 0 }]);
  const other = reports.find((report) => runOf(report) !== runOf(first));
  if (other === undefined) return;
  throw new Error(`share ${other.options.shard} is of a run with another target, profile, seed or selection.`);
}

function mergedDeviation(reports: readonly SuiteReport[], row: DeviationResult): DeviationResult {
  const statuses = reports.flatMap(({ deviations }) => deviations.filter(({ name }) => name === row.name));
  const having = (status: DeviationResult["status"]): boolean => statuses.some((each) => each.status === status);
  return { ...row, status: having("occurred") ? "occurred" : having("stale") ? "stale" : "unjudged" };
}

function mergedRequirement(
  reports: readonly SuiteReport[],
  id: string,
  deviations: readonly DeviationResult[],
): RequirementResult {
  const rows = reports.flatMap(({ requirements }) => requirements.filter((row) => row.id === id));
  const outcomes = rows.map(({ outcome }) => unlessOccurred(outcome, id, deviations));
  const status = worstFirst.find((one) => outcomes.some((outcome) => outcome.status === one)) as OutcomeStatus;
  const worst = outcomes.find((outcome) => outcome.status === status) as Outcome;
  const runs = outcomes.reduce((sum, outcome) => sum + (outcome.status === "passed" ? outcome.runs : 0), 0);
  return {
    ...(rows[0] as RequirementResult),
    checks: [...new Set(rows.flatMap(({ checks }) => checks))],
    outcome: worst.status === "passed" ? { status: "passed", runs } : worst,
    evidence: [...new Set(rows.flatMap(({ evidence }) => evidence))],
  };
}

/** A deviation that looked stale in one share and was seen in another is not stale. */
function unlessOccurred(outcome: Outcome, id: string, deviations: readonly DeviationResult[]): Outcome {
  const seen = deviations.filter(({ requirement, status }) => requirement === id && status === "occurred");
  const isStale = outcome.status === "failed" && outcome.expected.startsWith("the declared deviation ");
  return isStale && seen.length > 0 ? { status: "deviation", deviations: seen.map(({ name }) => name) } : outcome;
}
