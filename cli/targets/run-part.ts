/** One run of a scenario, as it is sent to a thread, and what its trace came to. */
import type { Scenario } from "../../scenarios/schema.ts";
import { playScenario } from "../../sim/experiments/play.ts";
import type { TraceRecord } from "../../sim/kernel/trace.ts";
import { plantedBugs, scenarioOf } from "../flags/scenario-file.ts";

export interface RunPart {
  /** The scenario file, word for word, and how errors call it. */
  readonly scenario: string;
  readonly scenarioName: string;
  readonly profile: Scenario["profile"];
  readonly mode: Scenario["mode"];
  readonly bugs: readonly string[];
  readonly seed: number;
  /** What its trace should come to. */
  readonly hash: string;
}

export interface TraceCame {
  readonly hash: string;
  readonly count: number;
  /** All of them, when the hash is another one than it should be; else none. */
  readonly records: readonly TraceRecord[];
}

function runPart({ scenario: text, scenarioName, profile, mode, bugs, seed, hash: wanted }: RunPart): TraceCame {
  const scenario = scenarioOf(text, scenarioName, profile);
  const options = { mode, seed, bugs: plantedBugs(bugs, scenario), trace: { keep: "all" } as const };
  const { trace } = playScenario(scenario, options);
  const hash = trace.hash();
  return { hash, count: trace.count, records: hash === wanted ? [] : trace.records() };
}

/** The body of a thread. */
export default runPart;
