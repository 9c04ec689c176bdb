/** Whether the suite finds the bugs that were planted for it, and none where there is none: one JSON document. */
export const faultReportVersion = "reports/v1";

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
