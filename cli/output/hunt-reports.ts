/** Reports of hunts: read from their files, shown to a person. */
import { join } from "node:path";
import process from "node:process";
import { renderHuntText } from "../../reports/render/hunt-text.ts";
import { type HuntReport, huntReportSchema } from "../../reports/schema/hunt-report.ts";
import { asSchema, readJsonFile } from "../flags/json-file.ts";
import { painter } from "./terminal.ts";

/** `name` is how errors call the file. */
export function readHuntReport(file: string, name: string): HuntReport {
  return asSchema(huntReportSchema, readJsonFile(file, name, expectedFile), name, expectedFile);
}

const expectedFile = "Give the report.json of a hunt.";

/** The report with each capsule named otherwise. */
export const withCapsules = (report: HuntReport, name: (capsule: string) => string): HuntReport => ({
  ...report,
  failures: report.failures.map((group) =>
    group.capsule === undefined ? group : { ...group, capsule: name(group.capsule) },
  ),
});

/** `folder` is where the report is: its capsules are shown as paths from here, so that the line to replay one can be pasted. */
export function huntText(report: HuntReport, folder: string, forTerminal: boolean): string {
  const shown = withCapsules(report, (capsule) => join(folder, capsule));
  return renderHuntText(shown, forTerminal ? painter(process.stdout) : undefined);
}
