import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { renderBaseline } from "../gate/baseline.ts";
import { withBaseline } from "../gate/gate.ts";
import { failedCheck, failure, report, row, watchExchange } from "../render/sample-report.fixture.ts";
import { renderSchema, type SchemaName, schemaNames } from "./published.ts";
import { suiteFailureSchema, suiteReportSchema } from "./suite-report-schema.ts";

const files: Readonly<Record<SchemaName, string>> = {
  report: "suite-report.schema.json",
  failure: "suite-failure.schema.json",
  event: "suite-event.schema.json",
  baseline: "../gate/baseline.schema.json",
  diff: "diff-report.schema.json",
  faults: "fault-report.schema.json",
};

describe("the published schemas", () => {
  it.each(schemaNames)("%s is what `touchstone view --schema` prints, and the file is not stale", (name) => {
    expect(readFileSync(new URL(files[name], import.meta.url), "utf8")).toBe(renderSchema(name));
  });
});

const evidence = { ...failure, history: [watchExchange({ lost: "reset" })], counterexample: { a: 1 } };
const check = { ...failedCheck, failure: evidence };
const whole = withBaseline(
  {
    ...report(
      [
        row("watch.reliable", { status: "failed", expected: "e", actual: "a" }),
        row("lists.fields", { status: "deviation", deviations: ["d"] }),
      ],
      [check],
      [{ name: "d", requirement: "lists.fields", reason: "r", instead: "i", status: "occurred" }],
    ),
    features: [{ feature: "watch", supported: false, how: "h" }],
    notJudged: [{ ...row("a.b", { status: "passed", runs: 1 }), judged: "pending", why: "w" }],
  },
  "b.yaml",
  [{ finding: failure.finding, reason: "r" }],
);
const asJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

describe("the form of a report", () => {
  it("knows every field that a report has", () => {
    const { notJudged, ...rest } = asJson(whole) as { notJudged: object[] };
    const read = suiteReportSchema.parse({ notJudged, ...rest });
    expect({ ...read, notJudged: [] }).toEqual({ ...rest, notJudged: [] });
    expect(suiteFailureSchema.parse(asJson(evidence))).toEqual(asJson(evidence));
  });

  it.each([
    [{ apiVersion: "reports/v2" }, "apiVersion"],
    [{ kind: "FaultReport" }, "kind"],
    [{ conclusion: "fine" }, "conclusion"],
    [{ requirements: [{ id: "a.b" }] }, "requirements"],
    [{ totals: undefined }, "totals"],
  ])("rejects %j", (change, field) => {
    const parsed = suiteReportSchema.safeParse({ ...(asJson(whole) as object), ...change });
    expect(parsed.error?.issues[0]?.path[0]).toBe(field);
  });

  it("takes fields of a later version, in what a program wrote", () => {
    expect(suiteReportSchema.safeParse({ ...(asJson(whole) as object), later: 1 }).success).toBe(true);
    expect(renderBaseline([])).toContain("apiVersion: baselines/v1");
  });
});
