/**
 * A suite report for a pull request or a job's summary, in GitHub's Markdown: verdict, what needs action, areas. Bounded,
 * since a comment holds 65,536 characters.
 */
import { baselineWords, expectedBy } from "../gate/gate.ts";
import { findingsOf } from "../gate/finding.ts";
import type { SuiteFailure, SuiteReport } from "../schema/suite-report.ts";
import { type OutcomeStatus, outcomeStatuses } from "../schema/verdict.ts";
import { columnNote, compareReports, type NamedReport, notComparedNote, passedOf, statusOf } from "./compare.ts";
import { caveatsOf, checksText, counted, countsByArea, durationText, targetName } from "./describe.ts";
import { codeBlock, codeSpan, markdownTable, plainText } from "./markdown-text.ts";
import { renderFailure } from "./text.ts";

const symbols: Readonly<Record<OutcomeStatus | "absent", string>> = {
  failed: "❌",
  error: "💥",
  inconclusive: "❓",
  deviation: "≠",
  passed: "✅",
  unsupported: "➖",
  skipped: "⏭️",
  absent: "",
};

const conclusionSymbols = { conformant: "✅", nonconformant: "❌", inconclusive: "❓", error: "💥" } as const;

/** Findings in full, up to this many characters; the others by name. */
const findingsCharsMax = 40_000;
const failureCharsMax = 6000;

/** Ends in a newline. */
export function renderSuiteMarkdown(report: SuiteReport): string {
  const { target, conclusion, totals, profile, seed } = report;
  const where = `${plainText(targetName(target))}${target.version === undefined ? "" : ` ${codeSpan(target.version)}`}`;
  const notes = [...caveatsOf(report), ...baselineWords(report)];
  const counts = outcomeStatuses.filter((status) => totals.requirements[status] > 0);
  return `${[
    `## ${conclusionSymbols[conclusion]} Touchstone: ${conclusion}`,
    `${where}, profile ${codeSpan(profile)}, seed ${seed}`,
    notes.length === 0 ? "" : `**${plainText(notes.join("; "))}**`,
    counts.map((status) => `${symbols[status]} ${totals.requirements[status]} ${status}`).join(" · "),
    ...findingBlocks(report),
    areaBlock(report, counts),
    unsupportedBlock(report),
    `<sub>${checksText(report)}, ${counted(totals.runs, "program")}, ${counted(totals.exchanges, "exchange")}, ${durationText(report)}</sub>`,
  ]
    .filter((block) => block !== "")
    .join("\n\n")}\n`;
}

function findingBlocks(report: SuiteReport): string[] {
  const findings = findingsOf(report);
  if (findings.length === 0) return [];
  const failures = new Map(
    report.checks.flatMap(({ failure }) => (failure === undefined ? [] : [[failure.finding, failure]])),
  );
  const blocks: string[] = [];
  const rest: string[] = [];
  let chars = 0;
  for (const { id, requirement, expected, actual } of findings) {
    const failure = failures.get(id);
    const block =
      failure === undefined
        ? `- ${codeSpan(requirement)}: expected ${plainText(expected)}, actual ${plainText(actual)}`
        : findingBlock(report, failure);
    if (chars + block.length > findingsCharsMax) rest.push(codeSpan(id));
    else blocks.push(block);
    chars += block.length;
  }
  const more = rest.length === 0 ? [] : [moreFindings(rest)];
  return [`### ${counted(findings.length, "finding")}`, ...blocks, ...more];
}

const namedMax = 200;

function moreFindings(names: readonly string[]): string {
  const left = names.length > namedMax ? `, and ${names.length - namedMax} others` : "";
  return `And ${names.length} more, for which there is no room here: ${names.slice(0, namedMax).join(", ")}${left}`;
}

function findingBlock(report: SuiteReport, failure: SuiteFailure): string {
  const reason = expectedBy(report, failure.finding);
  const expected = reason === undefined ? "" : ` (expected: ${plainText(reason)})`;
  const text = renderFailure(failure);
  const shown = text.length <= failureCharsMax ? text : `${text.slice(0, failureCharsMax)}…`;
  return [
    `<details><summary><code>${plainText(failure.requirement)}</code> by <code>${plainText(failure.check)}</code>${expected}</summary>`,
    "",
    codeBlock(shown),
    "",
    "</details>",
  ].join("\n");
}

function areaBlock({ requirements }: SuiteReport, shown: readonly OutcomeStatus[]): string {
  const rows = [...countsByArea(requirements)].map(([area, counts]) => [
    area,
    ...shown.map((status) => (counts[status] === 0 ? "" : String(counts[status]))),
  ]);
  if (rows.length === 0) return "";
  const table = markdownTable(["area", ...shown.map((status) => `${symbols[status]} ${status}`)], rows);
  return `<details><summary>Requirements by area</summary>\n\n${table}\n\n</details>`;
}

function unsupportedBlock({ requirements, features }: SuiteReport): string {
  const missing = features.filter(({ supported }) => !supported).map(({ feature }) => codeSpan(feature));
  const rows = requirements.filter(({ outcome }) => outcome.status === "unsupported").map(({ id }) => codeSpan(id));
  if (missing.length + rows.length === 0) return "";
  return `Optional features that the target does not claim: ${missing.join(", ") || "none"}. Requirements not judged for it: ${rows.join(", ") || "none"}.`;
}

/** Several reports side by side. */
export function renderComparisonMarkdown(reports: readonly NamedReport[]): string {
  const { columns, areas, rows } = compareReports(reports);
  const names = columns.map(({ name }) => plainText(name));
  const differing = rows.filter(({ differs }) => differs);
  const cell = (status: OutcomeStatus | "absent"): string => `${symbols[status]} ${status}`.trim();
  return `${[
    "## Touchstone: implementations side by side",
    columns.map((column) => `- **${plainText(column.name)}**: ${plainText(columnNote(column))}`).join("\n"),
    markdownTable(
      ["passed of applicable", ...names],
      areas.map(({ area, counts }) => [area, ...counts.map(passedOf)]),
    ),
    differing.length === 0
      ? "All verdicts are the same."
      : markdownTable(
          [counted(differing.length, "difference"), ...names],
          differing.map(({ id, outcomes }) => [codeSpan(id), ...outcomes.map((outcome) => cell(statusOf(outcome)))]),
        ),
    notComparedNote(rows),
  ]
    .filter((block) => block !== "")
    .join("\n\n")}\n`;
}
