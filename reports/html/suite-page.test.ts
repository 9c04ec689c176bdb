import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { failedCheck, failure, report, row, watchExchange } from "../render/sample-report.fixture.ts";
import type { Outcome } from "../schema/verdict.ts";
import { renderSuiteHtml } from "./suite-page.ts";

const failed: Outcome = { status: "failed", expected: failure.expected, actual: failure.actual };
const passed: Outcome = { status: "passed", runs: 20 };

const page = renderSuiteHtml(
  report([row("watch.reliable", failed), row("lists.fields", passed)], [{ ...failedCheck, failure }]),
);

describe("a report as a page", () => {
  it("tells the verdict, the matrix, the finding and every requirement", () => {
    for (const text of [
      "<title>nonconformant: http://127.0.0.1:8001, profile svc – Touchstone</title>",
      '<a href="#area=watch&amp;verdict=failed">1</a>',
      'id="watch.reliable/watch-replays-to-list" open',
      "<dt>expected</dt><dd><pre>configmap a absent: DELETE returned 200</pre></dd>",
      "--seed 1812 --path 1:1:2</code>",
      '<li id="lists.fields" data-item data-verdict="passed" data-area="lists" data-level="must">',
    ])
      expect(page).toContain(text);
  });

  it("has the lines that bring a failure about anew as they are pasted, one below the other", () => {
    const again = { ...failure, again: ["a1=$(curl $SERVER)", `jq . <<<"$a1"`] };
    const rendered = renderSuiteHtml(report([row("watch.reliable", failed)], [{ ...failedCheck, failure: again }]));
    expect(rendered).toContain("<code>a1=$(curl $SERVER)\njq . &#60;&#60;&#60;&#34;$a1&#34;</code>");
    expect(rendered).toMatch(/\.command code \{[^}]*white-space: pre-wrap/);
  });

  it("shows what a server sent and never obeys it", () => {
    const hostile = "</pre><script>alert(1)</script><img src=x onerror=alert(1)>";
    const evil = {
      ...failure,
      actual: hostile,
      history: [watchExchange({ responseBody: hostile, responseHeaders: { [hostile]: hostile }, path: `/${hostile}` })],
    };
    const rendered = renderSuiteHtml(report([row("watch.reliable", failed)], [{ ...failedCheck, failure: evil }]));
    expect(rendered).not.toContain("<img");
    expect(rendered.match(/<script/g)).toHaveLength(1);
    expect(rendered).toContain("&#60;img src=x");
  });

  it("asks no network: its policy allows its own style and script alone", () => {
    const hashOf = (tag: string): string => {
      const text = new RegExp(`<${tag}[^>]*>(.*?)</${tag}>`, "s").exec(page)?.[1] ?? "";
      return `sha256-${createHash("sha256").update(text).digest("base64")}`;
    };
    const policy = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page)?.[1]?.replaceAll("&#39;", "'");
    expect(policy).toContain(`default-src 'none'; style-src '${hashOf("style")}'; script-src '${hashOf("script")}'`);
    expect(page).not.toMatch(/(src|href)="https?:|url\(|@import|style="/);
  });

  it("has each finding of a promise once, the first one open", () => {
    const other = { ...failure, check: "other", finding: "watch.reliable/other" };
    const checks = [failedCheck, { ...failedCheck, id: "other", failure: other }];
    const rendered = renderSuiteHtml(report([row("watch.reliable", failed)], checks));
    expect(rendered.match(/<article class="finding"/g)).toHaveLength(1);
    expect(rendered).toContain("found by 2 checks");
    expect(rendered).toContain('id="watch.reliable/other">');
  });

  it("says what is not whole, and that nothing was found", () => {
    const whole = report([row("lists.fields", passed)], []);
    const rendered = renderSuiteHtml({ ...whole, complete: false, partial: true });
    expect(rendered).toContain("cut short; of a part of the requirements only");
    expect(rendered).toContain("No promise was seen broken.");
  });
});
