/** What a run of few programs says: its examples alone bring every requirement to the point of judging it. */
import { expect, it } from "vitest";
import type { RequirementResult } from "../../reports/schema/suite-report.ts";
import { runSuiteOn, type SuiteTarget } from "../targets/suite-target.ts";

const target: SuiteTarget = { kind: "embedded", details: { seed: 1, faults: [], featureGates: {} } };

async function inconclusive(
  profile: "svc" | "kubernetes",
  runs: number,
  only: readonly string[],
): Promise<RequirementResult[]> {
  const { requirements } = await runSuiteOn(target, { profile, seed: 1, level: "full", runs, jobs: 1, only });
  return requirements.filter(({ outcome }) => outcome.status === "inconclusive");
}

/** Where a check has no examples, anything that is drawn judges everything. */
const hasNoExamples = ({ outcome }: RequirementResult): boolean =>
  outcome.status === "inconclusive" && outcome.why.startsWith("0 programs ");

it("leaves no verdict to the luck of the draw", { timeout: 240_000 }, async () => {
  const rows = await inconclusive("svc", 0, []);
  expect(rows.filter((row) => !hasNoExamples(row))).toEqual([]);
  const drawn = rows.map(({ id }) => id);
  expect(drawn.length).toBeGreaterThan(10);
  expect(await inconclusive("kubernetes", 1, drawn)).toEqual([]);
});
