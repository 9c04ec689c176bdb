import { describe, expect, it } from "vitest";
import type { FaultReport, FaultResult } from "../schema/fault-report.ts";
import { renderFaultText } from "./fault-text.ts";

const found: FaultResult = {
  fault: "a-fault",
  found: true,
  check: "a-check",
  requirement: "a.one",
  programs: 3,
  virtualMillis: 1500,
  measuredMillis: 40,
  replay: "touchstone conform …",
};
const missed: FaultResult = { ...found, fault: "b-fault", found: false, check: undefined, requirement: undefined };
const report: FaultReport = {
  apiVersion: "reports/v1",
  kind: "FaultReport",
  profile: "svc",
  seed: 1,
  runs: 30,
  rarity: undefined,
  featureGates: {},
  complete: true,
  faultsAsked: 1,
  faults: [found],
  cleanSeedsAsked: 2,
  cleanSeeds: 2,
  falseFindings: [],
};

describe("renderFaultText", () => {
  it("says by whom and how soon a fault was found", () => {
    const text = renderFaultText(report);
    expect(text).toMatch(/a-fault +a-check +a\.one +3 +1\.5 +0\.0\n/);
    expect(text).toMatch(/1 of 1 faults found\n0 findings without a fault, over 2 seeds\nGOOD\n$/);
  });

  it("puts what was missed first, and is not good then", () => {
    const text = renderFaultText({ ...report, faultsAsked: 2, faults: [found, missed] });
    expect(text.indexOf("NOT FOUND")).toBeLessThan(text.indexOf("a-check"));
    expect(text).toMatch(/1 of 2 faults found\n.*\nNOT GOOD\n$/);
  });

  it("is not good when something was found where nothing was planted", () => {
    const falseFindings = [{ seed: 2, check: "a-check", requirement: "a.one", replay: "again" }];
    expect(renderFaultText({ ...report, falseFindings })).toMatch(/FOUND WITHOUT A FAULT: a\.one[^]*NOT GOOD\n$/);
  });

  it("tells of a run that was cut short what was tried, and not what was asked for", () => {
    const text = renderFaultText({ ...report, complete: false, faultsAsked: 5, cleanSeedsAsked: 200, cleanSeeds: 7 });
    expect(text).toContain("1 of 1 faults found; 4 of 5 were not tried to the end\n");
    expect(text).toContain("over 7 seeds; 193 of 200 were not tried to the end\n");
    expect(text).toMatch(/cut short.*\nINCONCLUSIVE\n$/);
  });
});
