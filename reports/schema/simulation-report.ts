/** What one seeded simulation of a scenario found. Renderers work from this alone. */
import type { Verdict } from "./verdict.ts";

export interface SimulationReport {
  readonly apiVersion: "reports/v1";
  readonly kind: "SimulationReport";
  readonly scenario: string;
  readonly seed: number;
  readonly profile: string;
  /** The same commit, scenario and seed give the same hash. */
  readonly traceHash: string;
  readonly traceRecords: number; // counted
  readonly virtualMicros: number;
  /** In the order in which they were judged. */
  readonly expectations: readonly ExpectationResult[];
  /** By client: answers by status or failure for a writer; lists, watches, events and objects for an informer. Counted. */
  readonly clients: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

export interface ExpectationResult {
  readonly requirement: string;
  /** What it means, in one sentence. */
  readonly text: string;
  readonly byMicros: number;
  readonly verdict: Verdict;
}
