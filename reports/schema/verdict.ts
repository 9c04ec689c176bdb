/** Outcome of one requirement in one run. A new member is a report-format version change. */
export type Verdict =
  | { readonly status: "passed"; readonly runs: number } // runs >= 1
  | { readonly status: "failed"; readonly expected: string; readonly actual: string }
  | { readonly status: "inconclusive"; readonly why: string } // timeout, or the source sets no bound
  | { readonly status: "unsupported"; readonly feature: string } // the target does not claim it
  | { readonly status: "skipped"; readonly why: string } // a person asked for it
  | { readonly status: "error"; readonly cause: string }; // our harness broke: blames nobody else

/**
 * The target does something else than the documents promise, exactly as its profile declares it. That is neither
 * a pass nor a failure, so it is no verdict; it is counted apart.
 */
export interface DeclaredDeviation {
  readonly status: "deviation";
  readonly deviations: readonly string[]; // names from the profile, at least one
}

export type Outcome = Verdict | DeclaredDeviation;
export type OutcomeStatus = Outcome["status"];

/** In the order in which a reader wants to see them: what needs action first. */
export const outcomeStatuses = [
  "failed",
  "error",
  "inconclusive",
  "deviation",
  "passed",
  "unsupported",
  "skipped",
] as const satisfies readonly OutcomeStatus[];

/** What a gate makes of a run: by its conclusion, or by a baseline of expected failures. */
export type GateOutcome = "passed" | "failed" | "inconclusive" | "error";

export type Conclusion = "conformant" | "nonconformant" | "inconclusive" | "error";

/**
 * Conformant = every applicable requirement proven or a declared deviation, and at least one of them proven. An
 * empty, skipped or timed-out run proves nothing. A failure outweighs an error of ours: it has its own evidence.
 */
export function summarize(outcomes: readonly Outcome[]): Conclusion {
  if (outcomes.some((outcome) => outcome.status === "failed")) return "nonconformant";
  if (outcomes.some((outcome) => outcome.status === "error")) return "error";
  const applicable = outcomes.filter((outcome) => outcome.status !== "unsupported"); // optional features, listed apart
  const judged = applicable.filter((outcome) => outcome.status !== "deviation");
  const proven = judged.length > 0 && judged.every((outcome) => outcome.status === "passed");
  return proven ? "conformant" : "inconclusive";
}

/** Exit codes of every command: 0 good, 1 the target failed, 2 usage (never from here), 3 inconclusive, 4 Touchstone broke. */
export const exitCodeOf: Readonly<Record<Conclusion, 0 | 1 | 3 | 4>> = {
  conformant: 0,
  nonconformant: 1,
  inconclusive: 3,
  error: 4,
};
