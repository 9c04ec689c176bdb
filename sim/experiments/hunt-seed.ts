/** One seed of a hunt: small enough to be sent between threads and machines. */
import type { SimulationFailure } from "../../reports/schema/simulation-report.ts";
import type { Scenario } from "../../scenarios/schema.ts";
import type { PlannedFault } from "../faults/plan.ts";
import type { Bugs } from "./bugs.ts";
import { playScenario } from "./play.ts";

export interface HuntedSeed {
  readonly seed: number;
  /** Of the whole run, or up to the failure. */
  readonly traceHash: string;
  readonly records: number;
  /** What happened at least once. */
  readonly coverage: readonly string[];
  readonly failure?: SimulationFailure;
  /** What went wrong in a run that failed: enough to make it again. */
  readonly faults?: readonly PlannedFault[];
  /** The simulation itself threw: our bug, told with the seed that shows it. */
  readonly broke?: string;
}

export interface HuntOptions {
  readonly mode: Scenario["mode"];
  readonly bugs: Bugs;
}

/** Every hundredth seed of this scenario fails, on purpose: a hunt that does not find it is broken. */
const canary = "canary";

export function huntSeed(scenario: Scenario, seed: number, { mode, bugs }: HuntOptions): HuntedSeed {
  try {
    const { report, plan } = playScenario(scenario, { seed, mode, bugs, stopsAtFailure: true, trace: { tailMax: 16 } });
    const failure =
      report.failure ?? (scenario.name === canary && seed % 100 === 0 ? canaryFailure(report) : undefined);
    return {
      seed,
      traceHash: report.traceHash,
      records: report.traceRecords,
      coverage: Object.keys(report.coverage),
      ...(failure === undefined ? {} : { failure, faults: plan.faults }),
    };
  } catch (error) {
    const broke = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    return { seed, traceHash: "", records: 0, coverage: [], broke };
  }
}

function canaryFailure({
  virtualMicros,
  traceRecords,
  traceHash,
}: ReturnType<typeof playScenario>["report"]): SimulationFailure {
  return {
    requirement: "canary",
    text: "Every hundredth seed fails.",
    expected: "a hunt finds this seed",
    actual: "its number ends in 00",
    evidence: [],
    atMicros: virtualMicros,
    atRecord: traceRecords,
    traceHash,
    signature: "canary",
  };
}
