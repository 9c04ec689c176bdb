import { describe, expect, it } from "vitest";
import type { DiffReport } from "../schema/diff-report.ts";
import { conclusionOf } from "../schema/diff-report.ts";
import { renderDiffText } from "./diff-text.ts";

const report: DiffReport = {
  apiVersion: "reports/v1",
  kind: "DiffReport",
  conclusion: "different",
  complete: true,
  a: "one",
  b: "other --b-fault x",
  seed: 7,
  runs: 20,
  topics: [{ topic: "lists", programs: 20, undecided: 0 }],
  differences: [
    {
      cause: "list: status 200 or 500",
      topic: "lists",
      programs: 2,
      steady: true,
      follows: undefined,
      program: [
        { what: "create", method: "POST", path: "/p", body: { a: 1 } },
        { what: "list", method: "GET", path: "/p", query: { limit: "1" }, headers: { accept: "x" } },
      ],
      a: "200",
      b: "500",
      answers: {
        a: { status: 200, headers: { "content-type": "application/json" }, body: { items: [] } },
        b: { status: 500, headers: { warning: "w" }, body: "broken" },
      },
      replay: "touchstone diff one other",
    },
  ],
  undecided: [],
  leftovers: { a: [], b: [] },
};

describe("a comparison as text", () => {
  it("shows the steps, the request and both answers of each difference", () => {
    expect(renderDiffText(report)).toBe(`A one
B other --b-fault x

1. list: status 200 or 500  lists, met in 2 programs
  first    POST  /p  {"a":1}
  request  GET  /p?limit=1  accept: x
  A        200
  B        500
  answer A 200  {"items":[]}
  answer B 500  warning: w  broken
  again    touchstone diff one other

20 programs on 1 topics, 20 each, seed 7; 1 difference
DIFFERENT
`);
  });

  it("says what it does not know, and what was left", () => {
    const [difference] = report.differences;
    const text = renderDiffText({
      ...report,
      conclusion: "inconclusive",
      complete: false,
      differences: [{ ...(difference as DiffReport["differences"][number]), steady: false, follows: "x" }],
      undecided: ["B: no answer"],
      leftovers: { a: ["/p/q"], b: [] },
    });
    for (const words of [
      "did not come back",
      "may follow from  x",
      "B: no answer",
      "A /p/q",
      "cut short",
      "INCONCLUSIVE",
    ])
      expect(text).toContain(words);
  });
});

describe("the conclusion", () => {
  const same = { ...report, differences: [] };
  it.each<[string, Partial<DiffReport>, DiffReport["conclusion"]]>([
    ["everything was compared", {}, "same"],
    [
      "there is a steady difference, though cut short",
      { differences: report.differences, complete: false },
      "different",
    ],
    ["it was cut short", { complete: false }, "inconclusive"],
    ["a program was not played", { undecided: ["x"] }, "inconclusive"],
    ["nothing was compared", { topics: [] }, "inconclusive"],
  ])("where %s", (_, change, conclusion) => {
    expect(conclusionOf({ ...same, ...change })).toBe(conclusion);
  });
});
