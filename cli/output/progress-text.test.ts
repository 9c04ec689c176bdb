import { describe, expect, it } from "vitest";
import type { SuiteProgress } from "../../conformance/run-suite.ts";
import { progressText } from "./progress-text.ts";

const planned: SuiteProgress = { kind: "planned", checks: 10, requirements: 20 };
const phase = (name: "checking" | "expiring"): SuiteProgress => ({ kind: "phase", phase: name });
const started: SuiteProgress = { kind: "check-started", check: "watch-is-ordered", area: "watch" };
const ended = (status: "passed" | "failed" = "passed"): SuiteProgress => ({
  kind: "check-ended",
  check: "watch-is-ordered",
  area: "watch",
  verdict: status === "passed" ? { status, runs: 1 } : { status, expected: "a", actual: "b" },
  runs: 1,
});

/** The last line of a run whose steps are told at these times. */
function lineAfter(agedCount: number, ...steps: readonly [millis: number, progress: SuiteProgress][]): string {
  let now = 1_000_000;
  const text = progressText({ agedCount, maxWaitMillis: 900_000, nowMillis: () => now });
  let line = "";
  for (const [millis, progress] of steps) {
    now = 1_000_000 + millis;
    line = text(progress);
  }
  return line;
}

const threeEnded: readonly [number, SuiteProgress][] = [
  [0, planned],
  [0, phase("checking")],
  [2000, ended()],
  [4000, ended("failed")],
  [6000, ended()],
];

describe("the progress line", () => {
  it("says what is going on before a pace can be told", () => {
    expect(lineAfter(0, [0, planned], [1000, ended()], [1000, started])).toBe("1/10 checks  watch-is-ordered");
  });

  it("tells the time left from the pace so far, rounded up", () => {
    expect(lineAfter(0, ...threeEnded)).toBe("3/10 checks, 1 failed, about 15 s left  ");
  });

  it("counts what waits for expiry apart, by the longest that it may take", () => {
    expect(lineAfter(2, ...threeEnded)).toBe("3/10 checks, 1 failed, about 10 s left, with expiry at most 15 min  ");
    expect(lineAfter(2, [0, planned], [0, phase("checking")], [300_000, phase("expiring")])).toBe(
      "0/10 checks, at most 10 min left  expiring",
    );
  });

  it("says nothing of time when nothing is left", () => {
    const all = Array.from({ length: 10 }, (_, index) => [index * 1000, ended()] as [number, SuiteProgress]);
    expect(lineAfter(0, [0, planned], ...all)).toBe("10/10 checks  ");
  });
});
