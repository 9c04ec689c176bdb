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
      path: "status",
      a: "200",
      b: "500",
      places: [{ path: "status", a: "200", b: "500" }],
      placesCount: 1,
      answers: {
        a: { status: 200, headers: { "content-type": "application/json" }, body: { kind: "PodList", items: [] } },
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
  answer A 200  PodList of 0 items
  answer B 500  text "broken"  warning: w
  at       status
    A      200
    B      500
  again    touchstone diff one other

20 programs on 1 topic, 20 each, seed 7; 1 difference
DIFFERENT
`);
  });

  it("tells the first places of many, and cuts what is long", () => {
    const [difference] = report.differences;
    const places = Array.from({ length: 20 }, (_, index) => ({ path: `data.k${index}`, a: "1", b: undefined }));
    const long = { what: "create", method: "POST", path: "/p", body: "x".repeat(5000) };
    const text = renderDiffText({
      ...report,
      differences: [{ ...(difference as DiffReport["differences"][number]), program: [long], places, placesCount: 33 }],
    });
    expect(text).toContain("  at       data.k7\n    A      1\n    B      nothing\n  and 25 more places\n");
    expect(Math.max(...text.split("\n").map((line) => line.length))).toBeLessThan(500);
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
