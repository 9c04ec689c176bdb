import { describe, expect, it } from "vitest";
import { withBaseline } from "../gate/gate.ts";
import { renderJUnit } from "./junit.ts";
import { failedCheck, failure, report, row } from "./sample-report.fixture.ts";

const passed = { status: "passed", runs: 3 } as const;

describe("JUnit", () => {
  it("is a suite an area and a case a requirement, with every outcome in its place", () => {
    const xml = renderJUnit(
      report(
        [
          row("watch.ordered", passed),
          row("watch.reliable", failedCheck.verdict),
          row("lists.fields", { status: "inconclusive", why: 'no "event" <yet>' }),
          row("lists.order", { status: "unsupported", feature: "pods" }),
          row("lists.limit", { status: "deviation", deviations: ["limit-ignored"] }),
        ],
        [failedCheck],
      ),
    );
    const lines = xml.split("\n");
    expect(lines[0]).toBe('<?xml version="1.0" encoding="UTF-8"?>');
    expect(lines[1]).toBe(
      '<testsuites name="touchstone svc" tests="5" failures="1" errors="1" skipped="2" time="1.500">',
    );
    expect(lines[2]).toBe(
      '  <testsuite name="watch" tests="2" failures="1" errors="0" skipped="0" timestamp="2030-01-01T00:00:00Z">',
    );
    expect(lines[3]).toBe('    <testcase classname="touchstone.watch" name="watch.ordered" time="0.010"/>');
    expect(xml).toContain(
      '<failure type="failed" message="expected configmap a absent: DELETE returned 200, actual configmap a present&#10;after folding 4 events">FAILED watch.reliable',
    );
    expect(xml).toContain('<error type="inconclusive" message="no &quot;event&quot; &lt;yet&gt;"/>');
    expect(xml).toContain('<skipped message="unsupported: the target does not claim pods"/>');
    expect(xml).toContain('<skipped message="deviation: declared by the profile: limit-ignored"/>');
  });

  it("comes to the gate's answer where there is a baseline", () => {
    const known = { finding: failure.finding, reason: "an old bug" };
    const failing = report([row("watch.reliable", failedCheck.verdict), row("lists.fields", passed)], [failedCheck]);
    const expected = renderJUnit(withBaseline(failing, "b.yaml", [known]));
    expect(expected).toContain('failures="0"');
    expect(expected).toContain('<skipped message="skipped: expected by b.yaml: an old bug"/>');
    expect(renderJUnit(withBaseline(failing, "b.yaml", []))).toContain('tests="2" failures="1"');
    const mended = { ...failedCheck, verdict: passed, failure: undefined };
    const stale = renderJUnit(withBaseline(report([row("watch.reliable", passed)], [mended]), "b.yaml", [known]));
    expect(stale).toContain("it no longer occurs: remove the entry");
    expect(stale).toContain('failures="1"');
  });

  it("holds nothing that XML forbids, whatever a target answered", () => {
    const hostile = `nul \u0000 escape \u001b lone \ud800 pair \u{1f600} end ]]> & tab\t`;
    const xml = renderJUnit(report([row("a.b", { status: "error", cause: hostile })], []));
    expect(xml).toContain('message="nul \ufffd escape \ufffd lone \ufffd pair \u{1f600} end ]]&gt; &amp; tab&#9;"');
  });
});
