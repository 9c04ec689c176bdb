/** Some seeds of a hunt, as they are sent to a thread or through a queue, and what came of them. */
import { bugsOf } from "../../sim/experiments/bugs.ts";
import { type HuntedSeed, huntSeed } from "../../sim/experiments/hunt-seed.ts";
import { parseScenario } from "../../scenarios/load.ts";
import type { Scenario } from "../../scenarios/schema.ts";

export interface HuntTask {
  /** The scenario file, word for word, and how errors call it. */
  readonly scenario: string;
  readonly scenarioName: string;
  readonly profile: Scenario["profile"];
  readonly mode: Scenario["mode"];
  readonly bugs: readonly string[];
}

export interface HuntPart extends HuntTask {
  readonly seeds: readonly number[];
}

/** Scenarios are read once a thread. */
const read = new Map<string, Scenario>();

function huntPart({ scenario: text, scenarioName, profile, mode, bugs, seeds }: HuntPart): readonly HuntedSeed[] {
  let scenario = read.get(text);
  if (scenario === undefined) {
    scenario = parseScenario(text, scenarioName);
    read.clear();
    read.set(text, scenario);
  }
  const options = { mode, bugs: bugsOf(bugs) };
  const played = { ...scenario, profile };
  return seeds.map((seed) => huntSeed(played, seed, options));
}

/** The body of a thread. */
export default huntPart;
