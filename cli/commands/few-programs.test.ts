/** What a run of few programs says: its examples alone bring every requirement to the point of judging it. */
import { expect, it } from "vitest";
import type { SuiteReport } from "../../reports/schema/suite-report.ts";
import { runSuiteOn } from "../targets/suite-target.ts";
import { runHere } from "../command-here.fixture.ts";

it("leaves no verdict to the luck of the draw", { timeout: 240_000 }, async () => {
  const { code, stdout } = await runHere("conform", "--profile", "kubernetes", "--runs", "1", "--jobs", "1", "--json");
  const { requirements } = JSON.parse(stdout) as SuiteReport;
  expect(requirements.filter(({ outcome }) => outcome.status === "inconclusive")).toEqual([]);
  expect(code).toBe(0);
});

it("judges with the examples of a check all that it is there for", { timeout: 240_000 }, async () => {
  const details = { seed: 1, faults: [], featureGates: {} };
  const { requirements } = await runSuiteOn(
    { kind: "embedded", details },
    { profile: "svc", seed: 1, level: "full", runs: 0, jobs: 1 },
  );
  // Where a check has none, anything that is drawn judges everything.
  const unjudged = requirements.filter(
    ({ outcome }) => outcome.status === "inconclusive" && !outcome.why.startsWith("0 programs "),
  );
  expect(unjudged).toEqual([]);
});
