/** `--baseline` and `--write-baseline`: the file of expected failures, and whether what it names exists. */
import { findSimilar } from "@optique/core/suggestion";
import { allChecks } from "../../conformance/checks/index.ts";
import { suiteProfiles } from "../../conformance/profiles/index.ts";
import { readRequirements } from "../../conformance/requirements/rows.ts";
import { type BaselineEntry, BaselineError, parseBaseline, renderBaseline } from "../../reports/gate/baseline.ts";
import { findingsOf } from "../../reports/gate/finding.ts";
import type { SuiteReport } from "../../reports/schema/suite-report.ts";
import { readText } from "./pem-files.ts";
import { UsageError } from "./usage-error.ts";
import { writeWhole } from "../output/written-files.ts";

/** An entry that names nothing would never become stale: it is a usage error. */
export function readBaseline(file: string): readonly BaselineEntry[] {
  const entries = parsed(file);
  const requirements = [...readRequirements().keys()];
  const checks = allChecks.map(({ id }) => id);
  const deviations = Object.values(suiteProfiles).flatMap((profile) => profile.deviations.map(({ name }) => name));
  for (const { finding } of entries) {
    const [requirement = "", by = ""] = finding.split("/", 2);
    requireKnown(file, finding, "requirement", requirement, requirements);
    if (by === "") continue;
    if (by.startsWith("stale:")) requireKnown(file, finding, "deviation", by.slice("stale:".length), deviations);
    else requireKnown(file, finding, "check", by, checks);
  }
  return entries;
}

function parsed(file: string): readonly BaselineEntry[] {
  try {
    return parseBaseline(readText(file, "--baseline"), file).expected;
  } catch (error) {
    if (error instanceof BaselineError) throw new UsageError(`--baseline: ${error.message}`);
    throw error;
  }
}

function requireKnown(file: string, finding: string, what: string, name: string, known: readonly string[]): void {
  if (known.includes(name)) return;
  const near = findSimilar(name, known, { maxDistance: 8, maxDistanceRatio: 0.5, maxSuggestions: 3 });
  const meant = near.length === 0 ? "" : ` Near names: ${near.join(", ")}.`;
  throw new UsageError(
    `--baseline ${file}: ${finding}: no ${what} is called ${name}.${meant} Copy the id of a finding from a report, or remove the entry.`,
  );
}

const reasonOfNew = "Found by the run that wrote this entry; nobody has said why yet.";

/**
 * What was found, by requirement, since which check meets a broken promise first may differ from run to run; with the
 * reasons of the old baseline, its entries for single checks included, and what it names that this run did not judge.
 */
export function writeBaseline(report: SuiteReport, file: string): void {
  const old = report.baseline?.entries ?? [];
  const reasons = new Map(old.map(({ finding, reason }) => [finding, reason]));
  const entries = findingsOf(report).map(({ id, requirement }) =>
    reasons.has(id) || id.includes("/stale:") ? id : requirement,
  );
  const found = [...new Set(entries)].map((finding) => ({ finding, reason: reasons.get(finding) ?? reasonOfNew }));
  const kept = old.filter(({ status }) => status === "unjudged").map(({ finding, reason }) => ({ finding, reason }));
  writeWhole(file, renderBaseline([...found, ...kept]));
}
