/** What a run of few programs says: its examples alone bring every requirement to the point of judging it. */
import { expect, it } from "vitest";
import type { SuiteReport } from "../../reports/schema/suite-report.ts";
import { runHere } from "../command-here.fixture.ts";

it("leaves no verdict to the luck of the draw", { timeout: 240_000 }, async () => {
  const { code, stdout } = await runHere("conform", "--profile", "kubernetes", "--runs", "1", "--json");
  const { requirements } = JSON.parse(stdout) as SuiteReport;
  expect(requirements.filter(({ outcome }) => outcome.status === "inconclusive")).toEqual([]);
  expect(code).toBe(0);
});
