import { describe, expect, it } from "vitest";
import { failure, report, row } from "../render/sample-report.fixture.ts";
import { renderComparisonHtml } from "./compare-page.ts";

const failed = { status: "failed", expected: failure.expected, actual: "<b>no</b>" } as const;
const passed = { status: "passed", runs: 20 } as const;

describe("a comparison as a page", () => {
  const page = renderComparisonHtml([
    { name: "one", report: report([row("lists.same", passed), row("watch.other", passed)], []) },
    { name: "two", report: report([row("lists.same", passed), row("watch.other", failed)], []) },
    { name: "part", report: report([row("watch.other", passed), row("pods.own", failed)], []) },
  ]);

  it("has a column for each, and the differences first, with their reasons", () => {
    expect(page).toContain("<strong>one</strong>");
    expect(page.indexOf('id="watch.other"')).toBeLessThan(page.indexOf('id="lists.same"'));
    expect(page).toContain('data-verdict="passed failed" data-area="watch" data-level="must" data-differs>');
    expect(page).toContain("actual &#60;b&#62;no");
    expect(page).toContain(">1 difference</h2>");
  });

  it("takes what a report lacks for no difference, and shows it apart", () => {
    const at = (text: string): number => page.indexOf(text);
    expect(page).toContain('id="lacking">Not in every report <span class="quiet">2</span>');
    expect(page).toContain('data-verdict="failed" data-area="pods" data-level="must">');
    expect(at('id="watch.other"')).toBeLessThan(at('id="lacking"'));
    expect(at('id="pods.own"')).toBeLessThan(at('id="lists.same"'));
    expect(page).toContain('<h2 id="same">The same everywhere <span class="quiet">0</span>');
  });
});
