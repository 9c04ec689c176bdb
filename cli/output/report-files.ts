/** Every form in which a suite report is printed or written. */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { renderSuiteHtml } from "../../reports/html/suite-page.ts";
import { renderBadgeJson, renderBadgeSvg } from "../../reports/render/badge.ts";
import { renderJson } from "../../reports/render/json.ts";
import { renderJUnit } from "../../reports/render/junit.ts";
import { renderSuiteMarkdown } from "../../reports/render/markdown.ts";
import { renderSuiteText, type TextOptions } from "../../reports/render/text.ts";
import type { SuiteReport } from "../../reports/schema/suite-report.ts";
import type { SuiteFormat } from "../command-line.ts";
import { prepareFolder } from "./written-files.ts";

/** Options are for text alone. */
export const suiteRenderers: Readonly<Record<SuiteFormat, (report: SuiteReport, options?: TextOptions) => string>> = {
  text: (report, options) => renderSuiteText(report, options),
  html: (report) => renderSuiteHtml(report),
  markdown: (report) => renderSuiteMarkdown(report),
  json: (report) => renderJson(report),
  junit: (report) => renderJUnit(report),
  badge: (report) => renderBadgeSvg(report),
  "badge-json": (report) => renderBadgeJson(report),
};

const files: readonly (readonly [string, SuiteFormat])[] = [
  ["report.json", "json"],
  ["report.html", "html"],
  ["report.md", "markdown"],
  ["report.txt", "text"],
  ["junit.xml", "junit"],
  ["badge.svg", "badge"],
  ["badge.json", "badge-json"],
];

/** Before the run, so that a folder that cannot be made is known at once. */
export function prepareReport(directory: string): void {
  prepareFolder(directory, "--report");
  prepareFolder(join(directory, "failures"), "--report");
}

/**
 * The report in every form, and one file for each failure that `replay` takes. What an earlier run has left there of
 * a check that failed no more goes away: the folder is of this run.
 */
export function writeReport(report: SuiteReport, directory: string): void {
  for (const [name, format] of files) {
    writeFileSync(join(directory, name), suiteRenderers[format](report, { directory }));
  }
  for (const { id, failure } of report.checks) {
    const file = join(directory, "failures", `${id}.json`);
    if (failure === undefined) rmSync(file, { force: true });
    else writeFileSync(file, renderJson(failure));
  }
}
