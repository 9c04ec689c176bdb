import { describe, expect, it } from "vitest";
import { withBaseline } from "../gate/gate.ts";
import type { Outcome } from "../schema/verdict.ts";
import { renderComparisonText } from "./compare-text.ts";
import { renderComparisonMarkdown, renderSuiteMarkdown } from "./markdown.ts";
import { codeBlock, codeSpan, plainText } from "./markdown-text.ts";
import { failedCheck, failure, report, row } from "./sample-report.fixture.ts";

const failed: Outcome = { status: "failed", expected: failure.expected, actual: failure.actual };
const passed: Outcome = { status: "passed", runs: 20 };
const off: Outcome = { status: "unsupported", feature: "streaming-lists" };

describe("a report as Markdown", () => {
  const failing = report(
    [row("watch.reliable", failed), row("lists.fields", passed), row("streaming.a", off)],
    [failedCheck],
  );

  it("tells verdict, counts, findings, areas and what is not supported", () => {
    const text = renderSuiteMarkdown(failing);
    for (const line of [
      "## ❌ Touchstone: nonconformant",
      "❌ 1 failed · ✅ 1 passed · ➖ 1 unsupported",
      "<details><summary><code>watch.reliable</code> by <code>watch\\-replays\\-to\\-list</code></summary>",
      "  replay    npx touchstone conform http://127.0.0.1:8001",
      "| watch | 1 |  |  |",
      "Requirements not judged for it: `streaming.a`",
    ])
      expect(text).toContain(line);
  });

  it("says what the baseline says", () => {
    const text = renderSuiteMarkdown(
      withBaseline(failing, "b.yaml", [{ finding: failure.finding, reason: "an old bug" }]),
    );
    expect(text).toContain("gate passed by the baseline b.yaml; 1 expected finding");
    expect(text).toContain("(expected: an old bug)");
  });

  it("stays within a comment, and names what has no room", () => {
    const checks = Array.from({ length: 60 }, (_, i) => ({
      ...failedCheck,
      failure: { ...failure, check: `c${i}`, finding: `watch.reliable/c${i}`, actual: "x".repeat(9000) },
    }));
    const text = renderSuiteMarkdown(report([row("watch.reliable", failed)], checks));
    expect(text.length).toBeLessThan(65_536);
    expect(text).toContain("And 54 more, for which there is no room here: `watch.reliable/c6`");
  });

  it("lets no server write markup, links, mentions or fences", () => {
    expect(plainText("<b>@me</b> [x](y) | *a*\n# h")).toBe(
      "&#60;b&#62;&#64;me&#60;/b&#62; \\[x\\]\\(y\\) \\| \\*a\\* \\# h",
    );
    expect(codeSpan("a`b|c")).toBe("``a`b\\|c``");
    expect(codeSpan("`a")).toBe("`` `a ``");
    expect(codeBlock("```\nx")).toBe("````text\n```\nx\n````");
  });
});

describe("several reports side by side", () => {
  const one = {
    name: "one",
    report: report([row("quiet.a", passed), row("watch.a", passed), row("lists.a", passed)], []),
  };
  const two = { name: "two", report: report([row("watch.a", failed), row("lists.a", passed), row("pods.a", off)], []) };

  it("puts the differences first, as text and as Markdown", () => {
    expect(renderComparisonText([one, two])).toContain(
      [
        "passed of applicable  one  two",
        "quiet                 1/1    –",
        "watch                 1/1  0/1",
        "lists                 1/1  1/1",
        "pods                    –    –",
        "",
        "1 difference     one     two",
        "watch.a       passed  failed",
        "",
        "Not in every report, and not compared: 2 requirements.",
        "",
      ].join("\n"),
    );
    const text = renderComparisonMarkdown([one, two]);
    expect(text).toContain("| `watch.a` | ✅ passed | ❌ failed |");
    expect(text).not.toContain("`lists.a`");
    expect(text).toContain("\n\nNot in every report, and not compared: 2 requirements.\n");
  });

  it("says so when nothing differs", () => {
    expect(renderComparisonText([one, { ...one, name: "again" }])).toMatch(/All verdicts are the same\.\n$/);
  });
});
