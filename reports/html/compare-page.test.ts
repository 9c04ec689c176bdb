import { describe, expect, it } from "vitest";
import { failure, report, row } from "../render/sample-report.ts";
import { renderComparisonHtml } from "./compare-page.ts";

const failed = { status: "failed", expected: failure.expected, actual: "<b>no</b>" } as const;
const passed = { status: "passed", runs: 20 } as const;

describe("a comparison as a page", () => {
  const page = renderComparisonHtml([
    { name: "one", report: report([row("lists.same", passed), row("watch.other", passed)], []) },
    { name: "two", report: report([row("lists.same", passed), row("watch.other", failed)], []) },
  ]);

  it("has a column for each, and the differences first, with their reasons", () => {
    expect(page).toContain("<strong>one</strong>");
    expect(page.indexOf('id="watch.other"')).toBeLessThan(page.indexOf('id="lists.same"'));
    expect(page).toContain('data-verdict="passed failed" data-area="watch" data-level="must" data-differs>');
    expect(page).toContain("actual &#60;b&#62;no");
    expect(page).toContain(">1 difference</h2>");
  });
});
