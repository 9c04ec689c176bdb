/** Whether the suite finds the bugs that were planted for it, and none where there is none: one JSON document. */
import { z } from "zod";
import { suiteReportVersion } from "./suite-report.ts";
import type { AsJson } from "./suite-report-schema.ts";

export const faultReportVersion = suiteReportVersion;

export interface FaultReport {
  readonly apiVersion: typeof faultReportVersion;
  readonly kind: "FaultReport";
  readonly profile: string;
  readonly seed: number;
  /** Programs a property. */
  readonly runs: number;
  readonly featureGates: Readonly<Record<string, boolean>>;
  /** False when a person cut it short. */
  readonly complete: boolean;
  /** Each bug shows in one request of so many. Absent: in all. */
  readonly rarity: number | undefined;
  readonly faultsAsked: number;
  /** Of those that were asked for, all that were hunted to the end. */
  readonly faults: readonly FaultResult[];
  readonly cleanSeedsAsked: number;
  /** Seeds, from `seed` upward, on which a server without any fault was judged to the end. */
  readonly cleanSeeds: number;
  /** What was found there, and on a seed that was cut short. */
  readonly falseFindings: readonly FalseFinding[];
}

export interface FaultResult {
  readonly fault: string;
  readonly found: boolean;
  /** Undefined: no check found it. */
  readonly check: string | undefined;
  readonly requirement: string | undefined;
  /** Programs until the finding, that one included; counted over the checks in their order. */
  readonly programs: number;
  readonly virtualMillis: number; // until the finding was made small
  readonly measuredMillis: number; // the same in real time, one thread
  /** A command line that makes the finding again. */
  readonly replay: string | undefined;
}

export interface FalseFinding {
  readonly seed: number;
  readonly check: string;
  readonly requirement: string;
  readonly replay: string;
}

export function isGood(report: FaultReport): boolean {
  return report.faults.every(({ found }) => found) && report.falseFindings.length === 0;
}

const count = z.int().min(0);
const millis = z.number().min(0);

export const faultReportSchema = z
  .object({
    apiVersion: z.literal(faultReportVersion),
    kind: z.literal("FaultReport"),
    profile: z.string(),
    seed: count,
    runs: count.describe("Programs a property."),
    featureGates: z.record(z.string(), z.boolean()),
    complete: z.boolean().describe("False when the run was cut short."),
    rarity: count.optional().describe("Each bug shows in one request of so many. Absent: in all."),
    faultsAsked: count,
    faults: z
      .array(
        z.object({
          fault: z.string(),
          found: z.boolean(),
          check: z.string().optional().describe("Absent: no check found it."),
          requirement: z.string().optional(),
          programs: count.describe("Until the finding, that one included; over the checks in their order."),
          virtualMillis: millis.describe("Until the finding was made small."),
          measuredMillis: millis.describe("The same in real time, one thread."),
          replay: z.string().optional().describe("A command line that makes the finding again."),
        }),
      )
      .describe("Of those that were asked for, all that were hunted to the end."),
    cleanSeedsAsked: count,
    cleanSeeds: count.describe("Seeds, from seed upward, on which a server without any fault was judged to the end."),
    falseFindings: z
      .array(z.object({ seed: count, check: z.string(), requirement: z.string(), replay: z.string() }))
      .describe("What was found there, and on a seed that was cut short."),
  })
  .describe("Which planted bugs the suite finds, and what it finds where there is none.") satisfies z.ZodType<
  AsJson<FaultReport>
>;
