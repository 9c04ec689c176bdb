/**
 * A run told while it goes on: one JSON document a line (NDJSON). The first line is `started`, the last `ended`: a
 * log without it was cut off. A change that breaks a reader raises `apiVersion`.
 */
import { z } from "zod";
import type { RequirementLevel, SuiteFailure, SuiteReport, TargetDescription } from "./suite-report.ts";
import { type AsJson, suiteFailureSchema, verdictSchema } from "./suite-report-schema.ts";
import type { Conclusion, GateOutcome, Verdict } from "./verdict.ts";

export const suiteEventVersion = "events/v1";

/** What every line has. */
export interface SuiteEventHead {
  readonly apiVersion: typeof suiteEventVersion;
  readonly kind: "SuiteEvent";
  /** 0, 1, 2 … without a gap. */
  readonly sequence: number;
  /** When the line was written, by the clock of the machine that runs the suite: RFC 3339 with milliseconds. */
  readonly at: string;
}

export type SuiteEventBody =
  | {
      readonly type: "started";
      readonly target: Pick<TargetDescription, "kind" | "address">;
      readonly profile: string;
      readonly seed: number;
    }
  | { readonly type: "planned"; readonly checks: number; readonly requirements: number }
  | { readonly type: "phase"; readonly phase: string }
  | { readonly type: "check-started"; readonly check: string; readonly area: string }
  | {
      readonly type: "check-ended";
      readonly check: string;
      readonly area: string;
      readonly verdict: Verdict;
      readonly runs: number; // programs
    }
  /** After its check's `check-ended`, at once: its program is as small as it gets by then. */
  | {
      readonly type: "finding";
      readonly finding: string;
      readonly level: RequirementLevel;
      readonly failure: SuiteFailure;
    }
  | {
      readonly type: "ended";
      readonly conclusion: Conclusion;
      readonly gate: GateOutcome;
      readonly complete: boolean;
      readonly exitCode: number;
      readonly totals: SuiteReport["totals"];
    };

export type SuiteEvent = SuiteEventHead & SuiteEventBody;

const head = {
  apiVersion: z.literal(suiteEventVersion),
  kind: z.literal("SuiteEvent"),
  sequence: z.int().min(0).describe("0, 1, 2 … without a gap."),
  at: z.iso.datetime().describe("When the line was written, by the clock of the machine that runs the suite."),
};
const count = z.int().min(0);
const countsByName = z.record(z.string(), count);

export const suiteEventSchema = z
  .discriminatedUnion("type", [
    z.object({
      ...head,
      type: z.literal("started"),
      target: z.object({ kind: z.enum(["embedded", "url"]), address: z.string() }),
      profile: z.string(),
      seed: count,
    }),
    z.object({ ...head, type: z.literal("planned"), checks: count, requirements: count }),
    z.object({ ...head, type: z.literal("phase"), phase: z.string() }),
    z.object({ ...head, type: z.literal("check-started"), check: z.string(), area: z.string() }),
    z.object({
      ...head,
      type: z.literal("check-ended"),
      check: z.string(),
      area: z.string(),
      verdict: verdictSchema,
      runs: count.describe("Programs."),
    }),
    z.object({
      ...head,
      type: z.literal("finding"),
      finding: z.string(),
      level: z.enum(["must", "should", "may", "observed"]),
      failure: suiteFailureSchema,
    }),
    z.object({
      ...head,
      type: z.literal("ended"),
      conclusion: z.enum(["conformant", "nonconformant", "inconclusive", "error"]),
      gate: z.enum(["passed", "failed", "inconclusive", "error"]),
      complete: z.boolean(),
      exitCode: count,
      totals: z.object({
        requirements: countsByName,
        checks: countsByName,
        deviations: countsByName,
        runs: count,
        exchanges: count,
      }),
    }),
  ])
  .describe("One line of a run that is told while it goes on.");

// Both ways: neither may have what the other does not know.
true satisfies z.output<typeof suiteEventSchema>["type"] extends SuiteEvent["type"] ? true : false;
true satisfies AsJson<SuiteEvent>["type"] extends z.output<typeof suiteEventSchema>["type"] ? true : false;
