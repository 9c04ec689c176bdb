import { describe, expect, it } from "vitest";
import type { SuiteFailure } from "../../reports/schema/suite-report.ts";
import type { Outcome, Verdict } from "../../reports/schema/verdict.ts";
import { suiteProfiles } from "../profiles/index.ts";
import type { SuiteProfile } from "../profiles/profile.ts";
import type { Requirement } from "../requirements/rows.ts";
import { assembleReport } from "./assemble-report.ts";
import { JudgedRequirements } from "./attempt.ts";
import { type Check, defineCheck } from "./define-check.ts";
import type { CheckOutcome } from "./run-check.ts";

const check = (id: string, ...requirements: [string, ...string[]]): Check =>
  defineCheck({ id, area: "a", property: "p", requirements, features: [], async run() {} });

const row = (id: string): Requirement => ({
  id,
  level: "must",
  source: { document: 1, clause: "c" },
  text: "t",
  reading: undefined,
  judged: "url",
  why: undefined,
  tests: [],
});
const rows = new Map(["a.one", "a.two"].map((id) => [id, row(id)]));

function outcome(
  of: Check,
  verdict: Verdict,
  fields: Partial<Record<"judged" | "occurred" | "kept", string[]>> = {},
): CheckOutcome {
  const results = new JudgedRequirements();
  for (const id of fields.judged ?? of.requirements) results.judged.add(id);
  for (const name of fields.occurred ?? []) results.deviationsOccurred.add(name);
  for (const name of fields.kept ?? []) results.deviationsKept.add(name);
  const failure =
    verdict.status === "failed"
      ? ({ ...verdict, requirement: "a.one", check: of.id } as unknown as SuiteFailure)
      : undefined;
  return { check: of, verdict, results, runs: 3, exchanges: 9, durationMillis: 0, failure };
}

function assemble(outcomes: readonly CheckOutcome[], options: { skipped?: Check[]; profile?: SuiteProfile } = {}) {
  const checks = outcomes.map((each) => each.check as Check);
  return assembleReport({
    plan: { requirements: [...rows.values()], checks, skipped: options.skipped ?? [], unjudged: [], partial: false },
    rows,
    outcomes,
    profile: options.profile ?? suiteProfiles.svc,
    features: new Map(),
    target: { kind: "embedded", address: "$SERVER", version: undefined, details: null },
    seed: 1,
    options: { runs: 3, jobs: 1, only: [], skip: [], law: "observed", level: "full", maxWaitMillis: 1 },
    cancelled: false,
    leftovers: [],
    startedMillis: 0,
    durationMillis: 5,
  });
}

const passed: Verdict = { status: "passed", runs: 3 };
const failed: Verdict = { status: "failed", expected: "x", actual: "y" };
const both = check("both", "a.one", "a.two");
const one = check("one", "a.one");
const statuses = (report: ReturnType<typeof assemble>): Record<string, Outcome["status"]> =>
  Object.fromEntries(report.requirements.map(({ id, outcome: { status } }) => [id, status]));

describe("assembleReport", () => {
  it("concludes from what was proven", () => {
    const report = assemble([outcome(both, passed), outcome(one, passed)]);
    expect(statuses(report)).toEqual({ "a.one": "passed", "a.two": "passed" });
    expect(report.requirements[0]?.outcome).toEqual({ status: "passed", runs: 6 });
    expect(report.conclusion).toBe("conformant");
    expect(report.totals.requirements.passed).toBe(2);
  });

  it("names the requirement that broke, and says nothing for the others of the check", () => {
    const report = assemble([outcome(both, failed)]);
    expect(statuses(report)).toEqual({ "a.one": "failed", "a.two": "inconclusive" });
    expect([report.conclusion, report.requirements[0]?.evidence]).toEqual(["nonconformant", ["failures/both.json"]]);
  });

  it("does not count as proof what no program came to judge", () => {
    expect(statuses(assemble([outcome(both, passed, { judged: ["a.one"] })]))).toEqual({
      "a.one": "passed",
      "a.two": "inconclusive",
    });
  });

  it("keeps a skip, an error and an unsupported feature apart", () => {
    const skipping = assemble([outcome(both, passed)], { skipped: [one] });
    expect([statuses(skipping)["a.one"], skipping.conclusion]).toEqual(["skipped", "inconclusive"]);
    const broken = assemble([outcome(both, passed), outcome(one, { status: "error", cause: "ours" })]);
    expect([statuses(broken)["a.one"], broken.conclusion]).toEqual(["error", "error"]);
    const optional = assemble([
      outcome(check("two", "a.two"), passed),
      outcome(one, { status: "unsupported", feature: "f" }),
    ]);
    expect([statuses(optional)["a.one"], optional.conclusion]).toEqual(["unsupported", "conformant"]);
  });

  it("counts what was judged apart from a verb that is not served, and nothing else", () => {
    for (const verdict of [passed, { status: "unsupported", feature: "patch of pods" } as const]) {
      const report = assemble([{ ...outcome(both, verdict, { judged: ["a.one"] }), unserved: "patch of pods" }]);
      expect(statuses(report)).toEqual({ "a.one": "passed", "a.two": "unsupported" });
    }
    const broken = assemble([{ ...outcome(both, failed), unserved: "patch of pods" }]);
    expect(statuses(broken)).toEqual({ "a.one": "failed", "a.two": "inconclusive" });
  });

  const deviation = { name: "d", requirement: "a.one", reason: "r", instead: "i" };
  const profile: SuiteProfile = { ...suiteProfiles.svc, deviations: [deviation] };

  it("counts a declared deviation apart, never as a pass", () => {
    const report = assemble([outcome(both, passed, { judged: ["a.two"], occurred: ["d"] })], { profile });
    expect(statuses(report)).toEqual({ "a.one": "deviation", "a.two": "passed" });
    expect([report.conclusion, report.deviations[0]?.status]).toEqual(["conformant", "occurred"]);
  });

  it("fails a deviation that no longer occurs", () => {
    const report = assemble([outcome(both, passed, { kept: ["d"] })], { profile });
    expect([statuses(report)["a.one"], report.conclusion, report.deviations[0]?.status]).toEqual([
      "failed",
      "nonconformant",
      "stale",
    ]);
  });

  it("does not call stale what shows only sometimes", () => {
    const lagging: SuiteProfile = { ...profile, deviations: [{ ...deviation, sometimes: true }] };
    const report = assemble([outcome(both, passed, { kept: ["d"] })], { profile: lagging });
    expect([statuses(report)["a.one"], report.deviations[0]?.status]).toEqual(["passed", "unjudged"]);
  });

  it("leaves a deviation unjudged when nothing met it", () => {
    expect(assemble([outcome(both, passed)], { profile }).deviations[0]?.status).toBe("unjudged");
  });
});
