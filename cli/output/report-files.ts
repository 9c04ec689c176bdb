/** Every form in which a suite report is printed or written. */
import { readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { renderSuiteHtml } from "../../reports/html/suite-page.ts";
import { renderBadgeJson, renderBadgeSvg } from "../../reports/render/badge.ts";
import { renderJson } from "../../reports/render/json.ts";
import { renderJUnit } from "../../reports/render/junit.ts";
import { renderSuiteMarkdown } from "../../reports/render/markdown.ts";
import { renderSuiteText, type TextOptions } from "../../reports/render/text.ts";
import type { SuiteReport } from "../../reports/schema/suite-report.ts";
import type { SuiteFormat } from "../command-line.ts";
import { fileHead } from "../flags/file-text.ts";
import { prepareFolder, writeWhole } from "./written-files.ts";

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

/** Before the run, so that a folder that cannot be made is known at once. Returns those that were not there. */
export function prepareReport(directory: string): readonly string[] {
  return [...prepareFolder(directory, "--report"), ...prepareFolder(join(directory, "failures"), "--report")];
}

/**
 * The report in every form, and one file for each failure that `replay` takes. The failures that an earlier run has left
 * there go away, whatever it has judged: the folder is of this run.
 */
export function writeReport(report: SuiteReport, directory: string): void {
  for (const [name, format] of files) {
    writeWhole(join(directory, name), suiteRenderers[format](report, { directory }));
  }
  const failures = join(directory, "failures");
  for (const name of readdirSync(failures)) if (isFailure(join(failures, name))) rmSync(join(failures, name));
  for (const { id, failure } of report.checks) {
    if (failure !== undefined) writeWhole(join(failures, `${id}.json`), renderJson(failure));
  }
}

/** What somebody else has put there stays: ours begin with what they are. */
function isFailure(file: string): boolean {
  if (!file.endsWith(".json") || !statSync(file).isFile()) return false;
  return /^\{\s*"apiVersion":\s*"[^"]*",\s*"kind":\s*"SuiteFailure"/.test(fileHead(file, 1024));
}
