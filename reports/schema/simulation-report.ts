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
  readonly mode: "lite" | "swarm" | "performance";
  /** Bugs that were planted, by name. */
  readonly bugs: readonly string[];
  /** What the seed made of rates and choices, in words. */
  readonly drawn: readonly string[];
  /** Faults that were injected. Counted. */
  readonly faultCount: number;
  /** What happened at least once, and how often, by the names that scenarios know. Counted. */
  readonly coverage: Readonly<Record<string, number>>;
  /** The first promise that was broken. Absent: none was. */
  readonly failure?: SimulationFailure;
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
  /** What led to a failure, in words. */
  readonly evidence?: readonly string[];
}

/** A broken promise, and exactly where the run was when it broke. */
export interface SimulationFailure {
  readonly requirement: string;
  readonly text: string;
  readonly expected: string;
  readonly actual: string;
  readonly evidence: readonly string[];
  readonly atMicros: number;
  /** Records of the trace so far, and their hash: a replay that is the same has the same. */
  readonly atRecord: number;
  readonly traceHash: string;
  /** What failures of one kind have in common: numbers and names taken out. */
  readonly signature: string;
}
