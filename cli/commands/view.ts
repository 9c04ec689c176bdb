/** `touchstone view`: saved reports in another form, several of them side by side, and the schemas of what is saved. */
import { existsSync, statSync } from "node:fs";
import { mergeShards } from "../../reports/gate/merge-shards.ts";
import { basename, dirname, join, resolve } from "node:path";
import process from "node:process";
import { renderComparisonHtml } from "../../reports/html/compare-page.ts";
import type { NamedReport } from "../../reports/render/compare.ts";
import { renderComparisonText } from "../../reports/render/compare-text.ts";
import { renderComparisonMarkdown } from "../../reports/render/markdown.ts";
import { isCapsule } from "../../reports/schema/capsule.ts";
import { renderSchema } from "../../reports/schema/published.ts";
import { suiteReportSchema } from "../../reports/schema/suite-report-schema.ts";
import type { SuiteReport } from "../../reports/schema/suite-report.ts";
import { renderTracePage } from "../../reports/html/trace-page.ts";
import { renderPerfetto } from "../../reports/render/perfetto.ts";
import { renderTraceText } from "../../reports/render/trace-text.ts";
import type { TraceDocument } from "../../reports/schema/trace-document.ts";
import { parseCapsule, recordedCapsule } from "../targets/capsule-run.ts";
import type { SuiteFormat, ViewFormat, ViewOptions } from "../command-line.ts";
import { suiteRenderers } from "../output/report-files.ts";
import { huntText, readHuntReport } from "../output/hunt-reports.ts";
import { painter } from "../output/terminal.ts";
import { fileJson } from "../flags/file-text.ts";
import { asSchema, readJsonFile } from "../flags/json-file.ts";
import { unwritable } from "../flags/file-problem.ts";
import { type ExitCode, exitCodes, UsageError } from "../flags/usage-error.ts";
import { writeWhole } from "../output/written-files.ts";

export function view(options: ViewOptions): ExitCode {
  const { files, schema } = options;
  if (schema !== undefined) {
    if (files.length > 0) throw new UsageError("--schema prints a schema and reads no report: leave the files out.");
    if (options.format !== undefined) throw new UsageError("--schema prints JSON: leave --format out.");
    emit(renderSchema(schema), options.output);
    return exitCodes.good;
  }
  if (options.merge) return viewMerged(options);
  if (files.length === 0) {
    throw new UsageError(`nothing was named. ${expectedFile}`);
  }
  const format = options.format ?? "html";
  const [file = "", ...more] = files;
  if (more.length === 0 && isHunt(reportFile(file))) return viewHunt(reportFile(file), options);
  const trace = more.length === 0 && !statSync(file).isDirectory() ? readTrace(file) : undefined;
  if (trace !== undefined) {
    emit(renderedTrace(trace, format), options.output ?? (format === "html" ? "trace.html" : undefined));
    return exitCodes.good;
  }
  if (format === "perfetto")
    throw new UsageError("--format perfetto is for traces: give what `run --trace FILE.json` wrote, or a capsule.");
  const text = rendered(named(files), format as SuiteFormat, options.output === undefined);
  // A page is for a browser: it goes into a file, unless somebody says otherwise.
  emit(text, options.output ?? (format === "html" ? "report.html" : undefined));
  return exitCodes.good;
}

/** What a hunt has left is shown as the hunt shows it. */
function viewHunt(file: string, { format = "text", output }: ViewOptions): ExitCode {
  const report = readHuntReport(file, file);
  if (format === "json") emit(`${JSON.stringify(report, undefined, 2)}\n`, output);
  else if (format === "text") emit(huntText(report, dirname(file), output === undefined), output);
  else throw new UsageError(`--format ${format} is not for reports of hunts: they are shown as text, json.`);
  return exitCodes.good;
}

function isHunt(file: string): boolean {
  try {
    return (fileJson(file) as { kind?: unknown } | null)?.kind === "HuntReport";
  } catch {
    return false; // whoever reads reports says what is wrong
  }
}

const comparisons: Partial<Record<SuiteFormat, (reports: readonly NamedReport[]) => string>> = {
  html: renderComparisonHtml,
  markdown: renderComparisonMarkdown,
  text: renderComparisonText,
};

function rendered(reports: readonly NamedReport[], format: SuiteFormat, forTerminal: boolean): string {
  const [first] = reports;
  if (reports.length === 1 && first !== undefined) {
    return suiteRenderers[format](first.report, forTerminal ? { paint: painter(process.stdout) } : {});
  }
  const compare = comparisons[format];
  if (compare !== undefined) return compare(reports);
  throw new UsageError(
    `--format ${format} is for one report, and ${reports.length} were given: several go side by side as ${Object.keys(comparisons).join(", ")}.`,
  );
}

/** A trace, or the run of a capsule made again; undefined for anything else. */
function readTrace(file: string): TraceDocument | undefined {
  let document: unknown;
  try {
    document = fileJson(file);
  } catch {
    return undefined; // whoever reads reports says what is wrong
  }
  if (isCapsule(document)) return recordedCapsule(parseCapsule(document, file), file);
  if ((document as { kind?: unknown } | null)?.kind !== "Trace") return undefined;
  const { apiVersion, lanes, entries } = document as Partial<TraceDocument>;
  if (apiVersion !== "traces/v1" || !Array.isArray(lanes) || !Array.isArray(entries))
    throw new UsageError(
      `${file}: this is no trace of this version. Write it again with \`npx touchstone run --trace FILE.json\`.`,
    );
  return document as TraceDocument;
}

const traceRenderers: Partial<Record<ViewFormat, (trace: TraceDocument) => string>> = {
  html: renderTracePage,
  text: renderTraceText,
  json: (trace) => `${JSON.stringify(trace)}\n`,
  perfetto: renderPerfetto,
};

function renderedTrace(trace: TraceDocument, format: ViewFormat): string {
  const render = traceRenderers[format];
  if (render === undefined)
    throw new UsageError(
      `--format ${format} is for reports: a trace is shown as ${Object.keys(traceRenderers).join(", ")}.`,
    );
  return render(trace);
}

function emit(text: string, output: string | undefined): void {
  if (output === undefined || output === "-") {
    process.stdout.write(text);
    return;
  }
  try {
    writeWhole(output, text);
  } catch (error) {
    throw new UsageError(`--output ${output}: ${unwritable(error)}. Name another file.`);
  }
  process.stdout.write(`${output}\n`);
}

/** By the folder of a `report.json`, by the file otherwise; where two are the same, by the whole path. */
function named(files: readonly string[]): NamedReport[] {
  const short = files.map((file) => {
    const path = resolve(reportFile(file));
    return basename(path) === "report.json" ? basename(dirname(path)) : basename(path).replace(/\.json$/, "");
  });
  return files.map((file, i) => {
    const name = short[i] as string;
    const alone = short.filter((other) => other === name).length === 1;
    return { name: alone ? name : file, report: readReport(file) };
  });
}

const reportFile = (file: string): string => (statSync(file).isDirectory() ? join(file, "report.json") : file);

function readReport(file: string): SuiteReport {
  const path = reportFile(file);
  if (path !== file && !existsSync(path))
    throw new UsageError(`${file}: there is no report.json in it. ${expectedFile}`);
  const document = readJsonFile(path, path, expectedFile);
  asSchema(suiteReportSchema, document, path, expectedFile);
  return document as SuiteReport; // fields that only a later version knows stay in it
}

const expectedFile =
  "Give the report.json that `touchstone conform --report DIR` or `touchstone hunt --output DIR` wrote, or DIR; a trace of `touchstone run`; or a capsule of `touchstone hunt`.";

/** One report of all shares of a run. */
function viewMerged({ files, format = "html", output }: ViewOptions): ExitCode {
  let report: SuiteReport;
  try {
    report = mergeShards(named(files).map((each) => each.report));
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`--merge: ${(error as Error).message}`);
  }
  const text = rendered([{ name: "merged", report }], format as SuiteFormat, output === undefined);
  emit(text, output ?? (format === "html" ? "report.html" : undefined));
  return exitCodes.good;
}
