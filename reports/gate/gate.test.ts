import { describe, expect, it } from "vitest";
import { failedCheck, failure, report, row } from "../render/sample-report.fixture.ts";
import type { CheckResult, DeviationResult, SuiteReport } from "../schema/suite-report.ts";
import type { Outcome } from "../schema/verdict.ts";
import { findingsOf } from "./finding.ts";
import { baselineWords, exitCodeFor, gateOf, withBaseline } from "./gate.ts";

const failed: Outcome = { status: "failed", expected: failure.expected, actual: failure.actual };
const passed: Outcome = { status: "passed", runs: 20 };
const inconclusive: Outcome = { status: "inconclusive", why: "watch-replays-to-list ended at watch.reliable" };
const passedCheck: CheckResult = {
  ...failedCheck,
  verdict: { status: "passed", runs: 20 },
  failure: undefined,
};
const other: CheckResult = { ...passedCheck, id: "other" };
const known = { finding: failure.finding, reason: "known" };

const judged = (whole: SuiteReport, ...entries: { finding: string; reason: string }[]): SuiteReport =>
  withBaseline(whole, "b.yaml", entries);
const codeOf = (whole: SuiteReport): number => exitCodeFor(whole);

describe("the gate without a baseline", () => {
  it("is the conclusion, as an exit code", () => {
    expect(codeOf(report([row("a.a", passed)], []))).toBe(0);
    expect(codeOf(report([row("a.a", failed), row("a.b", passed)], []))).toBe(1);
    expect(codeOf(report([row("a.a", { status: "error", cause: "c" })], []))).toBe(4);
  });

  it("passes a target whose optional features are off, and none that proved nothing", () => {
    const off: Outcome = { status: "unsupported", feature: "streaming-lists" };
    expect(codeOf(report([row("a.a", passed), row("a.b", off)], []))).toBe(0);
    expect(codeOf(report([row("a.b", off)], []))).toBe(3);
    expect(codeOf(report([], []))).toBe(3);
    expect(codeOf(report([row("a.a", passed), row("a.b", { status: "skipped", why: "w" })], []))).toBe(3);
  });

  it("says nothing good of a run that was cut short, and nothing less bad", () => {
    expect(codeOf({ ...report([row("a.a", passed)], []), complete: false })).toBe(3);
    expect(codeOf({ ...report([row("a.a", failed)], []), complete: false })).toBe(1);
  });
});

describe("the gate with a baseline", () => {
  const failing = report([row("watch.reliable", failed), row("watch.order", passed)], [failedCheck, other]);

  it("passes when every finding is expected and something was proven", () => {
    const result = judged(failing, known);
    expect(result.baseline).toMatchObject({ gate: "passed", unexpected: [], entries: [{ status: "occurred" }] });
    expect([result.conclusion, codeOf(result)]).toEqual(["nonconformant", 0]);
    expect(baselineWords(result)).toEqual(["gate passed by the baseline b.yaml", "1 expected finding"]);
    expect(gateOf(judged(report([row("watch.reliable", failed)], [failedCheck]), known))).toBe("inconclusive");
  });

  it("fails on a finding that it does not name", () => {
    const result = judged(failing);
    expect(result.baseline).toMatchObject({ gate: "failed", unexpected: [failure.finding] });
    expect(codeOf(result)).toBe(1);
  });

  it("fails on an entry that no longer occurs, also beside another check of the same promise", () => {
    const held = report([row("watch.reliable", passed)], [passedCheck]);
    expect(judged(held, known).baseline).toMatchObject({ gate: "failed", entries: [{ status: "stale" }] });
    const another = {
      ...failedCheck,
      id: "other",
      failure: { ...failure, check: "other", finding: "watch.reliable/other" },
    };
    const stillBroken = report([row("watch.reliable", failed)], [passedCheck, another]);
    const entries = [known, { finding: "watch.reliable/other", reason: "r" }];
    expect(judged(stillBroken, ...entries).baseline?.entries.map(({ status }) => status)).toEqual([
      "stale",
      "occurred",
    ]);
  });

  it("does not call stale what this run could not tell", () => {
    const elsewhere = judged(
      report([row("lists.fields", passed)], [{ ...other, requirements: ["lists.fields"] }]),
      known,
    );
    expect(elsewhere.baseline).toMatchObject({ gate: "passed", entries: [{ status: "unjudged" }] });
    const unproven = report(
      [row("watch.reliable", inconclusive), row("a.a", passed)],
      [{ ...passedCheck, verdict: { status: "inconclusive", why: "w" } }],
    );
    expect(judged(unproven, known).baseline).toMatchObject({ gate: "inconclusive", entries: [{ status: "unjudged" }] });
  });

  it("lets an expected finding hide the other requirements of its check, and nothing else", () => {
    const rows = [row("watch.reliable", failed), row("watch.order", inconclusive), row("a.a", passed)];
    expect(judged(report(rows, [failedCheck]), known).baseline).toMatchObject({
      gate: "passed",
      hidden: ["watch.order"],
    });
    const silent: CheckResult = { ...other, verdict: { status: "inconclusive", why: "no answer" } };
    const both = rows.map((each) => ({ ...each, checks: ["watch-replays-to-list", "other"] }));
    expect(judged(report(both, [failedCheck, silent]), known).baseline).toMatchObject({
      gate: "inconclusive",
      hidden: [],
    });
  });

  it("is not passed by a run that was cut short, nor by an error of ours", () => {
    expect(gateOf(judged({ ...failing, complete: false }, known))).toBe("inconclusive");
    const broken = report([row("watch.reliable", failed), row("a.a", { status: "error", cause: "c" })], [failedCheck]);
    expect(gateOf(judged(broken, known))).toBe("error");
  });

  it("takes a stale deviation for a finding like any other", () => {
    const deviation: DeviationResult = { name: "d", requirement: "a.a", reason: "r", instead: "i", status: "stale" };
    const stale = report([row("a.a", failed), row("a.b", passed)], [other], [deviation]);
    expect(findingsOf(stale).map(({ id }) => id)).toEqual(["a.a/stale:d"]);
    expect(gateOf(judged(stale, { finding: "a.a/stale:d", reason: "r" }))).toBe("passed");
    const occurs = report([row("a.b", passed)], [other], [{ ...deviation, status: "occurred" }]);
    expect(gateOf(judged(occurs, { finding: "a.a/stale:d", reason: "r" }))).toBe("failed");
  });
});
