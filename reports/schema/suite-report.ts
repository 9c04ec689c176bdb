/**
 * What a run of the conformance suite found, as one JSON document. Renderers work from this alone.
 * Field order is the order in which a person reads it. A change that breaks a reader raises `apiVersion`.
 */
import type { Conclusion, GateOutcome, Outcome, OutcomeStatus, Verdict } from "./verdict.ts";

export const suiteReportVersion = "reports/v1";

export interface SuiteReport {
  readonly apiVersion: typeof suiteReportVersion;
  readonly kind: "SuiteReport";
  readonly conclusion: Conclusion;
  /** False when the run was cut short: what is here is true, but it is not all. */
  readonly complete: boolean;
  /** True when `only` or `level` left requirements out: the conclusion is about the rest alone. */
  readonly partial: boolean;
  readonly target: TargetDescription;
  readonly profile: string;
  readonly seed: number;
  readonly options: SuiteOptionsRecord;
  /** Optional features of the target, as discovery and a probe showed them. */
  readonly features: readonly FeatureResult[];
  /** One row a requirement in scope, in the order of the requirement tables. */
  readonly requirements: readonly RequirementResult[];
  /** Rows that no run against a server can judge, each with the reason. They are no part of the conclusion. */
  readonly notJudged: readonly NotJudged[];
  /** One row a check in scope, in the order of the registry. */
  readonly checks: readonly CheckResult[];
  readonly deviations: readonly DeviationResult[];
  /** Absent when the run was judged by no baseline. */
  readonly baseline?: BaselineResult | undefined;
  readonly totals: SuiteTotals;
  /** Objects that cleanup could not remove in time, as paths: a person may want to. */
  readonly leftovers: readonly string[];
  readonly startedAt: string; // RFC 3339, of the suite's clock; virtual when the target is embedded
  readonly durationMillis: number; // measured on the suite's clock: virtual when the target is embedded
}

export interface TargetDescription {
  readonly kind: "embedded" | "url";
  /** Base URL, or what stands for it in curl lines when the target has none. */
  readonly address: string;
  /** What `/version` answered, when it answered JSON. */
  readonly version: string | undefined;
  /** As it was agreed on: `HTTP/1.1`, `HTTP/2 over TLSv1.3`. Absent when the target is embedded. */
  readonly protocol?: string | undefined;
  /** Whatever the caller needs to make this target again (faults, gates); passed through untouched. */
  readonly details: unknown;
}

export interface SuiteOptionsRecord {
  /** `i/n`: this run had the i-th of n shares of the checks. Absent: all. */
  readonly shard?: string | undefined;
  readonly runs: number;
  readonly jobs: number;
  readonly only: readonly string[];
  readonly skip: readonly string[];
  readonly law: SuiteLaw;
  readonly level: SuiteLevel;
  readonly maxWaitMillis: number;
}

/** `must`: only what the documents promise. `observed`: what the known implementation does beyond that as well. */
export type SuiteLaw = "must" | "observed";

/** `quick`: fewer programs embedded, by URL no waiting until the target forgets. `full`: all. */
export type SuiteLevel = "quick" | "full";

/**
 * `must`: the documents promise it. `should`: they recommend it. `may`: they allow it. `observed`: they are silent,
 * and the known implementation does it; the profile makes that part of its law.
 */
export type RequirementLevel = "must" | "should" | "may" | "observed";

/**
 * Who could judge what no check does. `simulation`: only a simulated server shows it. `process`: only a program that
 * is started and stopped shows it. `pending`: a run could, and nothing does yet. `no`: nothing can. `level`: a run at the
 * level `full` does.
 */
export type UnjudgedBy = "simulation" | "process" | "pending" | "no" | "level";

export interface RequirementSource {
  /** Number of the document, or undefined when the source is an observation. */
  readonly document: number | undefined;
  /** Section and item of the document, or what was observed. */
  readonly clause: string;
}

export interface RequirementResult {
  readonly id: string; // `area.word`
  readonly level: RequirementLevel;
  readonly source: RequirementSource;
  /** What is promised, in our own words. */
  readonly text: string;
  /** Ids of the checks that judge it, at least one. */
  readonly checks: readonly string[];
  readonly outcome: Outcome;
  /** Files of the report directory: `failures/<check>.json`. */
  readonly evidence: readonly string[];
}

export interface CheckResult {
  readonly id: string;
  readonly area: string;
  readonly property: string; // one sentence
  readonly requirements: readonly string[];
  readonly verdict: Verdict;
  /** Declared deviations that this check met. */
  readonly deviations: readonly string[];
  /** Programs run, shrinking included. */
  readonly runs: number;
  /** Programs left out, since the target was too slow for them. Absent: none. */
  readonly leftOut?: number | undefined;
  readonly exchanges: number; // counted
  readonly durationMillis: number; // suite clock
  readonly failure: SuiteFailure | undefined;
}

export interface NotJudged {
  readonly id: string;
  readonly level: RequirementLevel;
  readonly source: RequirementSource;
  readonly text: string;
  readonly judged: UnjudgedBy;
  readonly why: string;
}

/** Everything that a failure needs to be understood and to be made again: `touchstone replay FILE` takes this file. */
export interface SuiteFailure {
  readonly apiVersion: typeof suiteReportVersion;
  readonly kind: "SuiteFailure";
  /** The same in every run that finds this: `requirement/check`. */
  readonly finding: string;
  readonly check: string;
  readonly requirement: string;
  readonly level: RequirementLevel;
  readonly promised: string;
  readonly expected: string;
  readonly actual: string;
  readonly target: TargetDescription;
  readonly profile: string;
  readonly seed: number;
  /** Path of the shrunk program below the seed; empty for a check without random input. */
  readonly path: string;
  /** The shrunk program as a value, and as one line to read. */
  readonly counterexample: unknown;
  readonly counterexampleText: string;
  /** How many times the program was made smaller. */
  readonly shrinks: number;
  /** A command line that runs just this program again. */
  readonly replay: string;
  /** The exchange that showed the failure, as a command line. */
  readonly curl: string;
  /**
   * Shell lines that bring it about anew, since what the program made is gone by then. Empty: too many, a replay does it.
   * Undefined: the command line can be run as it stands.
   */
  readonly again?: readonly string[] | undefined;
  /** The exchanges of the shrunk program, oldest first; `historyDropped` older ones were not kept. */
  readonly history: readonly ExchangeRecord[];
  readonly historyDropped: number;
}

/** One request and what came back, in the order of sending. */
export interface ExchangeRecord {
  readonly index: number;
  /** Places in the one order of sendings and answers, so that overlaps can be seen without clocks. */
  readonly began: number;
  readonly ended: number | undefined;
  readonly sentAtMillis: number;
  readonly endedAtMillis: number | undefined;
  readonly method: string;
  readonly path: string;
  readonly requestHeaders: Readonly<Record<string, string>>;
  readonly requestBody: string | undefined;
  /** Undefined: no answer is known, `lost` says why (or the request was still under way). */
  readonly status: number | undefined;
  readonly responseHeaders: Readonly<Record<string, string | readonly string[]>>;
  /** Cut after some kilobytes; of a watch, the documents received so far. */
  readonly responseBody: string;
  /** Of a watch with events: when each document of the body was complete, oldest first. */
  readonly arrivals?: readonly Arrival[] | undefined;
  readonly lost: string | undefined;
  readonly curl: string;
}

/** `place` is in the same order as `began` and `ended`. */
export interface Arrival {
  readonly place: number;
  readonly atMillis: number;
}

export interface DeviationResult {
  readonly name: string;
  readonly requirement: string;
  readonly reason: string;
  readonly instead: string;
  /** `occurred`: seen. `stale`: the target behaved as promised, so the declaration is wrong. `unjudged`: it did not come to show. */
  readonly status: "occurred" | "stale" | "unjudged";
}

/** What a file of expected failures makes of the run. The conclusion is about the target, and does not know of it. */
export interface BaselineResult {
  readonly file: string;
  readonly gate: GateOutcome;
  readonly entries: readonly {
    readonly finding: string;
    readonly reason: string;
    /** `stale`: judged, and the failure is gone, which fails the gate. `unjudged`: this run does not tell. */
    readonly status: "occurred" | "stale" | "unjudged";
  }[];
  /** Findings that no entry names. */
  readonly unexpected: readonly string[];
  /** Requirements that stay unproven because a check of theirs ended at an expected finding. */
  readonly hidden: readonly string[];
}

export interface FeatureResult {
  readonly feature: string;
  readonly supported: boolean;
  readonly how: string;
}

export interface SuiteTotals {
  readonly requirements: Readonly<Record<OutcomeStatus, number>>;
  readonly checks: Readonly<Record<Verdict["status"], number>>;
  readonly deviations: Readonly<Record<DeviationResult["status"], number>>;
  readonly runs: number;
  readonly exchanges: number;
}
