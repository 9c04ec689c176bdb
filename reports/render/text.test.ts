import { describe, expect, it } from "vitest";
import type { CheckResult, DeviationResult, UnjudgedBy } from "../schema/suite-report.ts";
import { withBaseline } from "../gate/gate.ts";
import { renderJson } from "./json.ts";
import { renderSuiteMarkdown } from "./markdown.ts";
import { failedCheck, failure, report, row } from "./sample-report.fixture.ts";
import { renderFailure, renderSuiteText } from "./text.ts";

describe("text of a failure", () => {
  it("says what was promised, expected and seen, and how to see it again", () => {
    expect(renderFailure(failure, { evidence: "out/failures/watch-replays-to-list.json" })).toBe(
      [
        "FAILED watch.reliable (must)   check watch-replays-to-list",
        "  promised  Every change after the given version is delivered.",
        "  expected  configmap a absent: DELETE returned 200",
        "  actual    configmap a present",
        "            after folding 4 events",
        "  program   create a, delete a (made smaller 3 times)",
        "  evidence  out/failures/watch-replays-to-list.json",
        "  replay    npx touchstone conform http://127.0.0.1:8001 --only watch-replays-to-list --seed 1812 --path 1:1:2",
        "  curl      curl -sS http://127.0.0.1:8001/api/v1/namespaces/n/configmaps",
      ].join("\n"),
    );
  });

  it("shows the beginning of a program that is long, and says how much there is beside", () => {
    const long = (text: string): string => {
      const shown = renderFailure({ ...failure, shrinks: 0, counterexampleText: text });
      return shown.split("\n").find((line) => line.startsWith("  program")) ?? "";
    };
    expect(long("x".repeat(1200))).toBe(`  program   ${"x".repeat(1200)}`);
    expect(long("x".repeat(51_200))).toBe(
      `  program   ${"x".repeat(1200)} … and 50,000 characters more (the JSON form has all)`,
    );
    // No character is cut in two.
    expect(long("😀".repeat(1300))).toBe(
      `  program   ${"😀".repeat(1200)} … and 200 characters more (the JSON form has all)`,
    );
  });

  it("says whether its request can be sent as it stands, and what brings it about anew", () => {
    const gone = "  again     its namespace is gone by now";
    expect(renderFailure({ ...failure, again: ["a1=$(curl $SERVER)", "curl $SERVER"] })).toContain(
      `${gone}; these lines make it again, in bash or zsh with jq:\n            a1=$(curl $SERVER)\n            curl $SERVER`,
    );
    expect(renderFailure({ ...failure, again: [] })).toContain(`${gone}: replay makes it again`);
    expect(renderFailure(failure)).not.toContain("  again ");
  });
});

describe("text of a report", () => {
  it("closes with the verdict and what was counted", () => {
    const text = renderSuiteText(report([row("watch.reliable", { status: "passed", runs: 20 })], []));
    expect(text).toBe(
      [
        "http://127.0.0.1:8001 (v1.33.3), profile svc, seed 1812, 20 programs a property",
        "",
        "requirements  passed  failed",
        "watch              1       ·",
        "total              1       ·",
        "",
        "CONFORMANT",
        "0 checks, 12,345 programs, 1 exchange (counted), 1.5 s of real time",
        "",
      ].join("\n"),
    );
  });

  it("says how many of how many checks ran, where some have not", () => {
    const idle: CheckResult = { ...failedCheck, runs: 0, verdict: { status: "inconclusive", why: "not reached" } };
    const free: CheckResult = { ...idle, verdict: { status: "unsupported", feature: "cbor" } };
    const rows = [row("watch.reliable", { status: "passed", runs: 7 })];
    const last = (checks: CheckResult[]) => renderSuiteText(report(rows, checks)).trimEnd().split("\n").at(-1);
    expect(last([failedCheck, idle, free])).toMatch(/^2 of 3 checks, /);
    expect(last([failedCheck, free])).toMatch(/^2 checks, /);
    expect(renderSuiteMarkdown(report(rows, [failedCheck, idle]))).toContain("<sub>1 of 2 checks, ");
  });

  it("says once by which line the server is started that takes the embedded one's place", () => {
    const check = { ...failedCheck, failure: { ...failure, curl: "curl -sS $SERVER/api/v1" } };
    const at = (version: string, profile: string, details: object) => {
      const rows = [row("watch.reliable", { status: "failed", expected: "a", actual: "b" })];
      const told = report(rows, [check, check]);
      const target = { ...told.target, kind: "embedded", address: "$SERVER", version, details } as const;
      const text = renderSuiteText({ ...told, profile, target } as typeof told);
      expect(text.match(/\$SERVER is the URL/g)).toHaveLength(1);
      return /\$SERVER is the URL of a server that is started by: (.*)\n/.exec(text)?.[1];
    };
    expect(at("v1.33.3+touchstone", "svc", { seed: 1, faults: ["list-null-items"], featureGates: {} })).toBe(
      "npx touchstone serve --profile svc --anonymous-auth true --fault list-null-items",
    );
    const more = { seed: 1, faults: ["a", "b"], rarity: 9, featureGates: { C: true, D: false } };
    expect(at("v1.33.3+touchstone", "kubernetes", more)).toBe(
      "npx touchstone serve --profile kubernetes-1.33 --fault a --fault b --rarity 9 --feature-gates C=true,D=false",
    );
    expect(renderSuiteText(report([], [failedCheck]))).not.toContain("$SERVER is");
  });

  it("puts failures first, with the evidence in the report's folder", () => {
    const rows = [
      row("watch.reliable", { status: "failed", expected: "a", actual: "b" }, ["failures/watch-replays-to-list.json"]),
    ];
    const text = renderSuiteText(report(rows, [failedCheck]), { directory: "out/" });
    expect(text).toContain("  evidence  out/failures/watch-replays-to-list.json\n");
    expect(text.indexOf("FAILED watch.reliable")).toBeLessThan(text.indexOf("requirements"));
    expect(text).toContain("\nNONCONFORMANT\n");
  });

  it("lists apart what is inconclusive, unsupported, skipped, in error, deviating or stale, each with its reason", () => {
    const deviation = (name: string, status: DeviationResult["status"]): DeviationResult => ({
      name,
      requirement: "watch.expired-is-gone",
      reason: "The server streams errors.",
      instead: "200 with an ERROR event",
      status,
    });
    const rows = [
      row("watch.reliable", { status: "inconclusive", why: "no event within 10 s" }),
      row("lists.exact", { status: "unsupported", feature: "watch-list" }),
      row("lists.streamed", { status: "unsupported", feature: "watch-list" }),
      row("lists.skipped", { status: "skipped", why: "--skip lists.skipped" }),
      row("writes.broke", { status: "error", cause: "TypeError: x" }),
      row("watch.expired-is-gone", { status: "deviation", deviations: ["D4"] }),
    ];
    const text = renderSuiteText(
      report(rows, [], [deviation("D4", "occurred"), deviation("D5", "stale"), deviation("D6", "unjudged")]),
    );
    expect(text).toContain("INCONCLUSIVE (1)\n  watch.reliable (must)\n      no event within 10 s");
    expect(text).toContain("  lists.exact (must)\n  lists.streamed (must)\n      needs watch-list");
    expect(text).toContain("lists.skipped (must)\n      --skip lists.skipped");
    expect(text).toContain("writes.broke (must)\n      TypeError: x");
    expect(text).toContain(
      "counted apart (1)\n  D4\n      watch.expired-is-gone: instead, 200 with an ERROR event. Reason: The server streams errors.",
    );
    expect(text).toMatch(/STALE.*\(1\)\n {2}D5/);
    expect(text).toMatch(/NOT MET.*\(1\)\n {2}D6\n\n/);
    expect(text).toContain("ERROR, with 1 declared deviation");
  });

  it("says once, and again at the end, why nothing at all was decided", () => {
    const unreached = { status: "inconclusive", why: "the target was not reached: connect ECONNREFUSED\n" } as const;
    const rows = [row("watch.reliable", unreached), row("lists.exact", unreached)];
    const text = renderSuiteText(report(rows, []));
    expect(text).toContain(
      "INCONCLUSIVE (2)\n  all of them\n      the target was not reached: connect ECONNREFUSED\n\n",
    );
    expect(text).toContain("\nINCONCLUSIVE\nthe target was not reached: connect ECONNREFUSED\n");
    const other = renderSuiteText(report([...rows, row("a.b", { status: "inconclusive", why: "no event" })], []));
    expect(other).toContain("  lists.exact (must)\n      the target was not reached");
    expect(other).not.toContain("\nINCONCLUSIVE\nthe target");
  });

  it("names the checks that found the same, as many on a line as a terminal shows", () => {
    const checks = Array.from({ length: 20 }, (_, at) => ({ ...failedCheck, id: `check-${at}-that-has-a-name` }));
    const rows = [row("watch.reliable", { status: "failed", expected: "a", actual: "b" })];
    const lines = renderSuiteText(report(rows, checks)).split("\n");
    const at = lines.findIndex((line) => line.includes("found by 20 checks, besides by"));
    expect(lines.slice(at, at + 3)).toEqual([
      "  also      found by 20 checks, besides by",
      "            check-1-that-has-a-name, check-2-that-has-a-name, check-3-that-has-a-name,",
      "            check-4-that-has-a-name, check-5-that-has-a-name, check-6-that-has-a-name,",
    ]);
    expect(
      lines
        .slice(at)
        .join(" ")
        .match(/check-\d+-that-has-a-name/g),
    ).toHaveLength(19);
    expect(lines.slice(at, at + 9).every(({ length }) => length <= 100)).toBe(true);
  });

  it("leaves no empty line below an answer that ends with one", () => {
    expect(renderFailure({ ...failure, actual: "{}\n" })).toContain("  actual    {}\n  program");
  });

  it("does not call a report with a stale deviation plainly conformant", () => {
    const stale: DeviationResult = { name: "D5", requirement: "a.b", reason: "r", instead: "i", status: "stale" };
    expect(renderSuiteText(report([row("a.b", { status: "passed", runs: 1 })], [], [stale]))).toContain(
      "CONFORMANT, BUT WITH STALE DEVIATIONS",
    );
  });

  it("says when the run was cut short or looked at a part only", () => {
    const whole = report([row("a.b", { status: "passed", runs: 1 })], []);
    expect(renderSuiteText({ ...whole, complete: false, partial: true })).toContain(
      "CONFORMANT, cut short, of a part of the requirements only",
    );
  });

  it("counts what no run against a server judges, by reason and area", () => {
    const unjudged = (id: string, judged: UnjudgedBy) => {
      const { level, source, text } = row(id, { status: "passed", runs: 1 });
      return { id, level, source, text, judged, why: "it needs a lagging cache" };
    };
    const notJudged = [
      unjudged("watch.lag", "simulation"),
      unjudged("watch.first", "pending"),
      unjudged("lists.one", "pending"),
      unjudged("watch.second", "pending"),
    ];
    expect(renderSuiteText({ ...report([], []), notJudged })).toContain(
      [
        "NOT JUDGED by a run against a server (4)",
        "  no check yet (3)",
        "      watch 2, lists 1",
        "  shown only in simulations (1)",
        "      watch 1",
      ].join("\n"),
    );
  });

  it("tells what the baseline expects, and ends in the gate's answer", () => {
    const failing = report(
      [
        row("watch.reliable", { status: "failed", expected: "a", actual: "b" }),
        row("a.b", { status: "passed", runs: 1 }),
      ],
      [failedCheck],
    );
    const expected = renderSuiteText(withBaseline(failing, "b.yaml", [{ finding: failure.finding, reason: "old" }]));
    expect(expected).toContain(`EXPECTED by the baseline (1)\n  ${failure.finding}\n      old\n`);
    expect(expected).toContain("\nNONCONFORMANT\ngate passed by the baseline b.yaml, 1 expected finding\n");
    expect(renderSuiteText(withBaseline(failing, "b.yaml", []))).toContain(
      `NOT EXPECTED by the baseline (1)\n  ${failure.finding}\n`,
    );
  });

  it("paints by meaning when it is given colours", () => {
    const text = renderSuiteText(
      report([row("watch.reliable", { status: "failed", expected: "a", actual: "b" })], [failedCheck]),
      {
        paint: (tone, value) => `<${tone}>${value}</>`,
      },
    );
    expect(text).toContain("<bad>FAILED</> <strong>watch.reliable</>");
    expect(text).toContain("<bad>NONCONFORMANT</>");
  });
});

describe("JSON of a report", () => {
  it("is the report itself", () => {
    const document = report([], []);
    expect(JSON.parse(renderJson(document))).toEqual(JSON.parse(JSON.stringify(document)));
  });
});
