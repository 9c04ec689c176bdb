/** From what the checks found to what a reader gets. Pure. */
import type {
  CheckResult,
  DeviationResult,
  RequirementResult,
  SuiteOptionsRecord,
  SuiteReport,
  TargetDescription,
} from "../../reports/schema/suite-report.ts";
import { suiteReportVersion } from "../../reports/schema/suite-report.ts";
import { type Outcome, summarize, type Verdict } from "../../reports/schema/verdict.ts";
import type { Deviation, SuiteProfile } from "../profiles/profile.ts";
import type { Requirement } from "../requirements/rows.ts";
import type { Features } from "./features.ts";
import { totalsOf } from "../../reports/schema/totals.ts";
import type { Plan } from "./plan.ts";
import type { CheckOutcome } from "./run-check.ts";

export interface Findings {
  readonly plan: Plan;
  readonly rows: ReadonlyMap<string, Requirement>;
  readonly outcomes: readonly CheckOutcome[];
  readonly profile: SuiteProfile;
  readonly features: Features;
  readonly target: TargetDescription;
  readonly seed: number;
  readonly options: SuiteOptionsRecord;
  readonly cancelled: boolean;
  readonly leftovers: readonly string[];
  readonly startedMillis: number;
  readonly durationMillis: number;
}

export function assembleReport(findings: Findings): SuiteReport {
  const { plan, outcomes } = findings;
  const deviations = findings.profile.deviations.map((row) => deviationResult(row, outcomes));
  const requirements = requirementsShown(findings).map((row) => requirementResult(row, findings, deviations));
  const checks = checkResults(findings);
  return {
    apiVersion: suiteReportVersion,
    kind: "SuiteReport",
    conclusion: summarize(requirements.map((requirement) => requirement.outcome)),
    complete: !findings.cancelled,
    partial: plan.partial,
    target: findings.target,
    profile: findings.profile.name,
    seed: findings.seed,
    options: findings.options,
    features: [...findings.features.values()],
    requirements,
    notJudged: plan.unjudged.map(({ id, level, source, text, judged, why }) => ({
      id,
      level,
      source,
      text,
      judged,
      why,
    })),
    checks,
    deviations,
    totals: totalsOf(requirements, checks, deviations),
    leftovers: findings.leftovers,
    startedAt: new Date(findings.startedMillis).toISOString(),
    durationMillis: findings.durationMillis,
  };
}

/** The rows in scope, and any other row that a check saw broken on its way. */
function requirementsShown(findings: Findings): Requirement[] {
  const broken = new Set(findings.outcomes.map((outcome) => outcome.failure?.requirement));
  const inScope = new Set(findings.plan.requirements);
  return [...findings.rows.values()].filter((row) => inScope.has(row) || broken.has(row.id));
}

function requirementResult(
  row: Requirement,
  findings: Findings,
  deviations: readonly DeviationResult[],
): RequirementResult {
  const { plan, outcomes } = findings;
  const judges = outcomes.filter((outcome) => outcome.check.requirements.includes(row.id));
  const breakers = outcomes.filter((outcome) => outcome.failure?.requirement === row.id);
  const skipped = plan.skipped.filter((check) => check.requirements.includes(row.id));
  const ownDeviations = deviations.filter((deviation) => deviation.requirement === row.id);
  return {
    id: row.id,
    level: row.level,
    source: row.source,
    text: row.text,
    checks: [
      ...new Set([...judges, ...breakers].map((outcome) => outcome.check.id)),
      ...skipped.map((check) => check.id),
    ],
    outcome: outcomeOf(row, judges, breakers, skipped.length, ownDeviations),
    evidence: breakers.map((outcome) => evidenceFile(outcome.check.id)),
  };
}

/** Where a failure of this check is kept in a report's directory. */
function evidenceFile(check: string): string {
  return `failures/${check}.json`;
}

/** The worst that any check says. A check that never got to judge the requirement says nothing for it. */
function outcomeOf(
  row: Requirement,
  judges: readonly CheckOutcome[],
  breakers: readonly CheckOutcome[],
  skippedCount: number,
  deviations: readonly DeviationResult[],
): Outcome {
  const [broken] = breakers;
  if (broken?.failure !== undefined) {
    return { status: "failed", expected: broken.failure.expected, actual: broken.failure.actual };
  }
  const stale = deviations.find((deviation) => deviation.status === "stale");
  if (stale !== undefined) {
    return {
      status: "failed",
      expected: `the declared deviation ${stale.name}: ${stale.instead}`,
      actual: "what the documents promise; the declaration is stale",
    };
  }
  const verdicts = judges.map((outcome) => verdictFor(row, outcome, deviations));
  const worst = first(verdicts, "error") ?? first(verdicts, "inconclusive");
  if (worst !== undefined) return worst;
  if (skippedCount > 0) return { status: "skipped", why: `${skippedCount} of its checks were skipped` };
  const occurred = deviations.filter((deviation) => deviation.status === "occurred");
  if (occurred.length > 0) return { status: "deviation", deviations: occurred.map((deviation) => deviation.name) };
  const runs = verdicts.reduce((sum, verdict) => sum + (verdict.status === "passed" ? verdict.runs : 0), 0);
  if (runs > 0) return { status: "passed", runs };
  return first(verdicts, "unsupported") ?? { status: "inconclusive", why: "no check of it ran" };
}

/** What one check says about one of the requirements that it judges. */
function verdictFor(row: Requirement, outcome: CheckOutcome, ownDeviations: readonly DeviationResult[]): Verdict {
  const { verdict, results, check, runs, unserved } = outcome;
  if (verdict.status === "failed") {
    return { status: "inconclusive", why: `${check.id} ended at ${outcome.failure?.requirement}` };
  }
  const deviated = ownDeviations.some((deviation) => results.deviationsOccurred.has(deviation.name));
  const isJudged = results.judged.has(row.id) || deviated;
  if (unserved !== undefined && (verdict.status === "unsupported" || verdict.status === "passed")) {
    // Where a verb is not served, what was judged before it was asked for, or without it, still counts.
    return isJudged ? { status: "passed", runs } : { status: "unsupported", feature: unserved };
  }
  if (verdict.status !== "passed" || isJudged) return verdict;
  return { status: "inconclusive", why: `no program of ${check.id} came to the point of judging it` };
}

function first(verdicts: readonly Verdict[], status: Verdict["status"]): Verdict | undefined {
  return verdicts.find((verdict) => verdict.status === status);
}

function deviationResult(row: Deviation, outcomes: readonly CheckOutcome[]): DeviationResult {
  const occurred = outcomes.some((outcome) => outcome.results.deviationsOccurred.has(row.name));
  const kept = outcomes.some((outcome) => outcome.results.deviationsKept.has(row.name));
  const { name, requirement, reason, instead } = row;
  const stale = kept && row.sometimes !== true;
  return { name, requirement, reason, instead, status: occurred ? "occurred" : stale ? "stale" : "unjudged" };
}

function checkResults(findings: Findings): CheckResult[] {
  const ran = findings.outcomes.map((outcome): CheckResult => {
    const { check, results } = outcome;
    return {
      id: check.id,
      area: check.area,
      property: check.property,
      requirements: check.requirements,
      verdict: outcome.verdict,
      deviations: [...results.deviationsOccurred],
      runs: outcome.runs,
      ...((outcome.leftOut ?? 0) > 0 ? { leftOut: outcome.leftOut } : {}),
      exchanges: outcome.exchanges,
      durationMillis: outcome.durationMillis,
      failure: outcome.failure,
    };
  });
  const skipped = findings.plan.skipped.map((check): CheckResult => {
    const { id, area, property, requirements } = check;
    const verdict: Verdict = { status: "skipped", why: "left out on request" };
    return {
      id,
      area,
      property,
      requirements,
      verdict,
      deviations: [],
      runs: 0,
      exchanges: 0,
      durationMillis: 0,
      failure: undefined,
    };
  });
  return [...ran, ...skipped];
}
