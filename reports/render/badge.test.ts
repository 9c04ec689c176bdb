import { describe, expect, it } from "vitest";
import { withBaseline } from "../gate/gate.ts";
import type { Outcome } from "../schema/verdict.ts";
import { renderBadgeJson, renderBadgeSvg } from "./badge.ts";
import { failedCheck, failure, report, row } from "./sample-report.fixture.ts";

const passed: Outcome = { status: "passed", runs: 1 };
const failed: Outcome = { status: "failed", expected: "e", actual: "a" };
const failing = report([row("watch.reliable", failed), row("a.b", passed)], [failedCheck]);

describe("a badge", () => {
  it.each([
    [report([row("a.b", passed)], []), "conformant", "2f8a4a"],
    [failing, "nonconformant (1 failed)", "c0392b"],
    [withBaseline(failing, "b", [{ finding: failure.finding, reason: "r" }]), "nonconformant (1 known)", "2f8a4a"],
    [report([], []), "inconclusive", "9a7d0a"],
    [{ ...report([row("a.b", passed)], []), complete: false }, "inconclusive", "9a7d0a"],
    [{ ...report([row("a.b", passed)], []), partial: true }, "conformant, in part", "2f8a4a"],
  ])("says of report %# what the gate says", (whole, message, color) => {
    expect(JSON.parse(renderBadgeJson(whole))).toEqual({ schemaVersion: 1, label: "svc API", message, color });
    expect(renderBadgeSvg(whole)).toContain(`aria-label="svc API: ${message}"`);
  });
});
