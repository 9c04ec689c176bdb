import { describe, expect, it } from "vitest";
import { BaselineError, parseBaseline, renderBaseline } from "./baseline.ts";

const head = "apiVersion: baselines/v1\nkind: Baseline\n";
const entry = { finding: "watch.reliable/watch-replays-to-list", reason: "It loses events: mended in 2.4." };

function mistakesOf(text: string): string {
  try {
    parseBaseline(text, "b.yaml");
  } catch (error) {
    if (error instanceof BaselineError) return error.message;
    throw error;
  }
  return "none";
}

describe("a baseline", () => {
  it("is read as it was written, from YAML and from JSON", () => {
    const written = renderBaseline([entry]);
    const document = { apiVersion: "baselines/v1", kind: "Baseline", expected: [entry] };
    expect(parseBaseline(written, "b.yaml")).toEqual(document);
    expect(parseBaseline(JSON.stringify(document), "b.json")).toEqual(document);
    expect(parseBaseline(renderBaseline([]), "b.yaml").expected).toEqual([]);
  });

  it.each([
    [
      `${head}expected:\n  - finding: watch reliable\n    reason: r\n`,
      "b.yaml:4:14: expected.0.finding: must be a requirement",
    ],
    [`${head}expected:\n  - finding: a.b/c\n    reason: " "\n`, "b.yaml:5:13: expected.0.reason: must say why"],
    [`${head}expected:\n  - finding: a.b/c\n`, "b.yaml:4:5: expected.0.reason: is missing: expected a text"],
    [`${head}expect: []\n`, '"expect"'],
    [`${head}expected:\n  - { finding: a.b/c, reason: r }\n  - { finding: a.b/c, reason: s }\n`, "given twice"],
    ["kind: Baseline\nexpected: []\n", "apiVersion"],
    ["a: [", "b.yaml:1:"],
    ["", "the document"],
  ])("rejects %j with its place", (text, mistake) => {
    expect(mistakesOf(text)).toContain(mistake);
  });

  it("tells the first mistakes of many, and how many there are", () => {
    const entries = "  - { finding: a.b/c, reason: r }\n".repeat(1000);
    const told = mistakesOf(`${head}expected:\n${entries}`).split("\n");
    expect(told).toHaveLength(21);
    expect(told[20]).toBe("b.yaml: and 979 more");
  });

  it.each([
    [
      '{ "name": "a", "version": "1", "scripts": {} }',
      "b.yaml:1:1: this is something else: expected a baseline, for `touchstone conform --baseline`, with apiVersion: baselines/v1",
    ],
    [
      "name: a\napiVersion: scenarios/v1\nuntil: 5s\n",
      "b.yaml:2:13: apiVersion: this is a scenario, for `touchstone run`",
    ],
    [`${head}expectd: []\n`, 'b.yaml:1:1: the document: there is no field "expectd" here; did you mean expected?'],
  ])("tells in one line that %j is none, or what is misspelt", (text, mistake) => {
    expect(mistakesOf(text)).toBe(mistake);
  });
});
