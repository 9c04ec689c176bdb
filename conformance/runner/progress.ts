/** What is told of a run while it goes. */
import type { SuiteFailure } from "../../reports/schema/suite-report.ts";
import type { Verdict } from "../../reports/schema/verdict.ts";

export type SuiteProgress =
  | { readonly kind: "planned"; readonly checks: number; readonly requirements: number }
  | { readonly kind: "check-started"; readonly check: string; readonly area: string }
  /** By URL: so many programs of a check have ended, of the number that it has if nothing is found. */
  | { readonly kind: "program-ended"; readonly check: string; readonly done: number; readonly of: number }
  | {
      readonly kind: "check-ended";
      readonly check: string;
      readonly area: string;
      readonly verdict: Verdict;
      readonly runs: number;
    }
  /** At once after the end of the check that failed. */
  | {
      readonly kind: "finding";
      readonly finding: string;
      readonly level: SuiteFailure["level"];
      readonly failure: SuiteFailure;
    }
  | { readonly kind: "phase"; readonly phase: "probing" | "capturing" | "checking" | "expiring" | "cleaning" };
