import { describe, expect, it } from "vitest";
import { report, row } from "../render/sample-report.fixture.ts";
import type { SuiteReport } from "../schema/suite-report.ts";
import type { Outcome } from "../schema/verdict.ts";
import { mergeShards } from "./merge-shards.ts";

const share = (shard: string | undefined, outcomes: Readonly<Record<string, Outcome>>): SuiteReport => {
  const one = report(
    Object.entries(outcomes).map(([id, outcome]) => row(id, outcome)),
    [],
  );
  return { ...one, options: { ...one.options, ...(shard === undefined ? {} : { shard }) } };
};
const passed: Outcome = { status: "passed", runs: 2 };
const failed: Outcome = { status: "failed", expected: "e", actual: "a" };

describe("mergeShards", () => {
  it("takes the worst of each requirement, and adds what was run", () => {
    const merged = mergeShards([
      share("1/2", { "watch.reliable": passed, "lists.scope": passed }),
      share("2/2", { "watch.reliable": failed, "lists.scope": passed, "pages.end": passed }),
    ]);
    expect(merged.requirements.map(({ id, outcome }) => [id, outcome])).toEqual([
      ["watch.reliable", failed],
      ["lists.scope", { status: "passed", runs: 4 }],
      ["pages.end", passed],
    ]);
    expect(merged.conclusion).toBe("nonconformant");
    expect(merged.options.shard).toBeUndefined();
    expect(merged.totals.requirements.passed).toBe(2);
  });

  it.each<[string, readonly SuiteReport[]]>([
    ["whole runs", [share(undefined, { "a.b": passed })]],
    ["missing", [share("1/3", { "a.b": passed }), share("3/3", { "a.b": passed })]],
    ["given twice", [share("1/1", { "a.b": passed }), share("1/1", { "a.b": passed })]],
    ["another target", [share("1/2", { "a.b": passed }), { ...share("2/2", { "a.b": passed }), seed: 99 }]],
  ])("refuses what is not one run: %s", (why, reports) => {
    expect(() => mergeShards(reports)).toThrow(why);
  });
});
