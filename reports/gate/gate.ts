/**
 * What a run means for a gate: the conclusion by itself, or against a baseline of expected failures. Pure.
 */
import { counted } from "../render/describe.ts";
import type { BaselineResult, RequirementResult, SuiteReport } from "../schema/suite-report.ts";
import { type Conclusion, exitCodeOf, type GateOutcome } from "../schema/verdict.ts";
import type { BaselineEntry } from "./baseline.ts";
import { findingsOf } from "./finding.ts";

/** The report with what the baseline makes of it. */
export function withBaseline(report: SuiteReport, file: string, expected: readonly BaselineEntry[]): SuiteReport {
  const found = new Set(findingsOf(report).map(({ id }) => id));
  const entries = expected.map((entry) => ({ ...entry, status: statusOf(report, entry.finding, found) }));
  const named = new Set(expected.map(({ finding }) => finding));
  const unexpected = [...found].filter((id) => !isNamed(named, id));
  const hidden = hiddenBehind(report, named);
  const result = { file, entries, unexpected, hidden };
  return { ...report, baseline: { ...result, gate: judge(report, result) } };
}

/** By its id, or by its requirement: which check meets a broken promise first may differ from run to run. */
const isNamed = (named: ReadonlySet<string>, finding: string): boolean =>
  named.has(finding) || (!finding.includes("/stale:") && named.has(finding.split("/")[0] as string));

type EntryStatus = BaselineResult["entries"][number]["status"];

/** Stale only when what the entry names was judged and held: a run of other checks says nothing about it. */
function statusOf(report: SuiteReport, finding: string, found: ReadonlySet<string>): EntryStatus {
  if (found.has(finding)) return "occurred";
  const [requirement, by = ""] = finding.split("/", 2);
  if (by === "") {
    if ([...found].some((id) => id.startsWith(`${requirement}/`) && !id.includes("/stale:"))) return "occurred";
    const { status } = report.requirements.find(({ id }) => id === requirement)?.outcome ?? { status: "skipped" };
    return status === "passed" || status === "deviation" ? "stale" : "unjudged";
  }
  if (by.startsWith("stale:")) {
    const deviation = report.deviations.find(({ name }) => `stale:${name}` === by);
    return deviation?.status === "occurred" ? "stale" : "unjudged";
  }
  const check = report.checks.find(({ id }) => id === by);
  const row = report.requirements.find(({ id }) => id === requirement);
  const held = row?.outcome.status === "passed" || row?.outcome.status === "deviation";
  // Another check may still break the promise; this one no longer does.
  return check?.verdict.status === "passed" && (held || row?.outcome.status === "failed") ? "stale" : "unjudged";
}

/** A check ends at its first failure, so an expected one leaves the check's other requirements unproven. */
function hiddenBehind({ requirements, checks }: SuiteReport, expected: ReadonlySet<string>): string[] {
  const judges = new Map(checks.map((check) => [check.id, check]));
  const isHidden = ({ outcome, checks: own }: RequirementResult): boolean => {
    if (outcome.status !== "inconclusive") return false;
    const verdicts = own.flatMap((id) => judges.get(id) ?? []);
    const failed = verdicts.filter(({ verdict }) => verdict.status === "failed");
    const others = verdicts.filter(({ verdict }) => verdict.status !== "failed");
    return (
      failed.length > 0 &&
      failed.every(({ failure }) => failure !== undefined && isNamed(expected, failure.finding)) &&
      others.every(({ verdict }) => verdict.status === "passed" || verdict.status === "unsupported")
    );
  };
  return requirements.filter(isHidden).map(({ id }) => id);
}

function judge(report: SuiteReport, { entries, unexpected, hidden }: Omit<BaselineResult, "gate">): GateOutcome {
  const rows = report.requirements;
  if (unexpected.length > 0 || entries.some(({ status }) => status === "stale")) return "failed";
  if (rows.some(({ outcome }) => outcome.status === "error")) return "error";
  const open = rows.some(
    ({ id, outcome: { status } }) => status === "skipped" || (status === "inconclusive" && !hidden.includes(id)),
  );
  const proven = rows.some(({ outcome }) => outcome.status === "passed");
  return open || !proven || !report.complete ? "inconclusive" : "passed";
}

const gateOfConclusion: Readonly<Record<Conclusion, GateOutcome>> = {
  conformant: "passed",
  nonconformant: "failed",
  inconclusive: "inconclusive",
  error: "error",
};

/** What is good in a part of the run says nothing about the rest. */
export function gateOf(report: SuiteReport): GateOutcome {
  if (report.baseline !== undefined) return report.baseline.gate;
  const gate = gateOfConclusion[report.conclusion];
  return gate === "passed" && !report.complete ? "inconclusive" : gate;
}

export function exitCodeFor(report: SuiteReport): 0 | 1 | 3 | 4 {
  const conclusions = Object.keys(gateOfConclusion) as Conclusion[];
  const gate = gateOf(report);
  return exitCodeOf[conclusions.find((name) => gateOfConclusion[name] === gate) as Conclusion];
}

/** The reason that the baseline gives for a finding; undefined when it names no such finding. */
export function expectedBy({ baseline }: SuiteReport, finding: string): string | undefined {
  return baseline?.entries.find((entry) => isNamed(new Set([entry.finding]), finding))?.reason;
}

/** In words, for a heading; none without a baseline. */
export function baselineWords({ baseline }: SuiteReport): string[] {
  if (baseline === undefined) return [];
  const { entries, unexpected, hidden, gate } = baseline;
  const having = (status: EntryStatus): number => entries.filter((entry) => entry.status === status).length;
  return [
    `gate ${gate} by the baseline ${baseline.file}`,
    having("occurred") > 0 && counted(having("occurred"), "expected finding"),
    unexpected.length > 0 && `${counted(unexpected.length, "finding")} not expected`,
    having("stale") > 0 && `${counted(having("stale"), "entry").replace(/ys$/, "ies")} stale: remove them`,
    having("unjudged") > 0 && `${counted(having("unjudged"), "entry").replace(/ys$/, "ies")} not judged by this run`,
    hidden.length > 0 && `${counted(hidden.length, "requirement")} hidden behind expected findings`,
  ].filter((words) => words !== false);
}
