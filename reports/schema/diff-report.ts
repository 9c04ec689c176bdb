/** Where two servers answer the same programs differently, as one JSON document. */
import { suiteReportVersion } from "./suite-report.ts";

export const diffReportVersion = suiteReportVersion;

export interface DiffReport {
  readonly apiVersion: typeof diffReportVersion;
  readonly kind: "DiffReport";
  readonly conclusion: "same" | "different" | "inconclusive";
  /** False when the run was cut short. */
  readonly complete: boolean;
  /** How the two are called on the command line, flags included. */
  readonly a: string;
  readonly b: string;
  readonly seed: number;
  /** Programs a topic. */
  readonly runs: number;
  readonly topics: readonly TopicResult[];
  /** One for each cause, in the order in which they were met. */
  readonly differences: readonly Difference[];
  /** Why programs could not be compared, each reason once. */
  readonly undecided: readonly string[];
  /** Paths of what could not be removed, by side. */
  readonly leftovers: { readonly a: readonly string[]; readonly b: readonly string[] };
}

export interface TopicResult {
  readonly topic: string;
  readonly programs: number;
  /** Of these, programs that one of the servers did not play to the end. */
  readonly undecided: number;
}

export interface Difference {
  /** What differs, and how: the same for all answers that are grouped here. */
  readonly cause: string;
  readonly topic: string;
  /** Programs in which it was met. */
  readonly programs: number;
  /** Whether it came back when the smallest program was played once more. */
  readonly steady: boolean;
  /** The cause of an earlier difference of the same program that could not be left out: this may follow from it. */
  readonly follows: string | undefined;
  /** Of the smallest program found: the steps before the one that shows it, and that one, last. */
  readonly program: readonly DiffStep[];
  /** What stands at the place, as JSON, cut when long; undefined where there is nothing. */
  readonly a: string | undefined;
  readonly b: string | undefined;
  /** Both answers, masked. */
  readonly answers: { readonly a: DiffAnswer; readonly b: DiffAnswer };
  /** A command line that meets it again. */
  readonly replay: string;
}

/** References in braces stand for what a server has said before: `{version:a}`, `{continue}`. */
export interface DiffStep {
  readonly what: string;
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface DiffAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/** A run that compared nothing, or not everything, is never the same. A difference that did not come back decides nothing. */
export function conclusionOf(report: Omit<DiffReport, "conclusion" | "apiVersion" | "kind">): DiffReport["conclusion"] {
  if (report.differences.some(({ steady }) => steady)) return "different";
  const compared = report.topics.reduce((sum, { programs, undecided }) => sum + programs - undecided, 0);
  const doubtful = !report.complete || compared === 0 || report.undecided.length > 0 || report.differences.length > 0;
  return doubtful ? "inconclusive" : "same";
}
