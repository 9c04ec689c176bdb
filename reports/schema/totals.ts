/** The counts of a report, from its rows. */
import type { CheckResult, DeviationResult, RequirementResult, SuiteTotals } from "./suite-report.ts";
import { outcomeStatuses } from "./verdict.ts";

export function totalsOf(
  requirements: readonly RequirementResult[],
  checks: readonly CheckResult[],
  deviations: readonly DeviationResult[],
): SuiteTotals {
  const countBy = <Key extends string>(keys: readonly Key[], found: readonly Key[]) =>
    Object.fromEntries(keys.map((key) => [key, found.filter((other) => other === key).length])) as Record<Key, number>;
  const verdictStatuses = outcomeStatuses.filter((status) => status !== "deviation");
  return {
    requirements: countBy(
      outcomeStatuses,
      requirements.map((requirement) => requirement.outcome.status),
    ),
    checks: countBy(
      verdictStatuses,
      checks.map((check) => check.verdict.status),
    ),
    deviations: countBy(
      ["occurred", "stale", "unjudged"],
      deviations.map((deviation) => deviation.status),
    ),
    runs: checks.reduce((sum, check) => sum + check.runs, 0),
    exchanges: checks.reduce((sum, check) => sum + check.exchanges, 0),
  };
}
