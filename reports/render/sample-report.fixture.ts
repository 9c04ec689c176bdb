/** A small report to hold the renderers to. */
import type {
  CheckResult,
  DeviationResult,
  ExchangeRecord,
  RequirementResult,
  SuiteFailure,
  SuiteReport,
} from "../schema/suite-report.ts";
import { type Outcome, outcomeStatuses, summarize } from "../schema/verdict.ts";

export const failure: SuiteFailure = {
  apiVersion: "reports/v1",
  kind: "SuiteFailure",
  finding: "watch.reliable/watch-replays-to-list",
  check: "watch-replays-to-list",
  requirement: "watch.reliable",
  level: "must",
  promised: "Every change after the given version is delivered.",
  expected: "configmap a absent: DELETE returned 200",
  actual: "configmap a present\nafter folding 4 events",
  target: { kind: "url", address: "http://127.0.0.1:8001", version: "v1.33.3", details: undefined },
  profile: "svc",
  seed: 1812,
  path: "1:1:2",
  counterexample: ["create a", "delete a"],
  counterexampleText: "create a, delete a",
  shrinks: 3,
  replay: "npx touchstone conform http://127.0.0.1:8001 --only watch-replays-to-list --seed 1812 --path 1:1:2",
  curl: "curl -sS http://127.0.0.1:8001/api/v1/namespaces/n/configmaps",
  history: [],
  historyDropped: 0,
};

export const exchange = (fields: Partial<ExchangeRecord>): ExchangeRecord => ({
  index: 0,
  began: 1,
  ended: 2,
  sentAtMillis: 1,
  endedAtMillis: 2,
  method: "GET",
  path: "/api/v1/namespaces/n/configmaps",
  requestHeaders: { accept: "application/json" },
  requestBody: undefined,
  status: 200,
  responseHeaders: { "content-type": "application/json" },
  responseBody: "{}",
  lost: undefined,
  curl: "curl -sS $SERVER",
  ...fields,
});

/** A watch from 6 that is told of one object. */
export const watchExchange = (fields: Partial<ExchangeRecord>): ExchangeRecord =>
  exchange({
    ended: 8,
    endedAtMillis: 8,
    path: "/api/v1/namespaces/n/configmaps?watch=true&resourceVersion=6",
    responseBody: '{"type":"ADDED","object":{"metadata":{"name":"a","resourceVersion":"7"}}}\n',
    arrivals: [{ place: 4, atMillis: 4 }],
    ...fields,
  });

export const row = (id: string, outcome: Outcome, evidence: string[] = []): RequirementResult => ({
  id,
  level: "must",
  source: { document: 1, clause: "Watch 1" },
  text: "…",
  checks: ["watch-replays-to-list"],
  outcome,
  evidence,
});

export const failedCheck: CheckResult = {
  id: "watch-replays-to-list",
  area: "watch",
  property: "A list plus the events after it equals a later list.",
  requirements: ["watch.reliable"],
  verdict: { status: "failed", expected: failure.expected, actual: failure.actual },
  deviations: [],
  runs: 7,
  exchanges: 40,
  durationMillis: 10,
  failure,
};

export function report(
  requirements: RequirementResult[],
  checks: CheckResult[],
  deviations: DeviationResult[] = [],
): SuiteReport {
  const count = (status: string): number => requirements.filter(({ outcome }) => outcome.status === status).length;
  const countDeviations = (status: string): number =>
    deviations.filter((deviation) => deviation.status === status).length;
  const requirementTotals = Object.fromEntries(outcomeStatuses.map((status) => [status, count(status)]));
  return {
    apiVersion: "reports/v1",
    kind: "SuiteReport",
    conclusion: summarize(requirements.map(({ outcome }) => outcome)),
    complete: true,
    partial: false,
    target: failure.target,
    profile: "svc",
    seed: 1812,
    options: { runs: 20, jobs: 4, only: [], skip: [], law: "observed", level: "full", maxWaitMillis: 900_000 },
    features: [],
    requirements,
    notJudged: [],
    checks,
    deviations,
    totals: {
      requirements: requirementTotals as SuiteReport["totals"]["requirements"],
      checks: { passed: 0, failed: checks.length, inconclusive: 0, unsupported: 0, skipped: 0, error: 0 },
      deviations: {
        occurred: countDeviations("occurred"),
        stale: countDeviations("stale"),
        unjudged: countDeviations("unjudged"),
      },
      runs: 12_345,
      exchanges: 1,
    },
    leftovers: [],
    startedAt: "2030-01-01T00:00:00Z",
    durationMillis: 1500,
  };
}
