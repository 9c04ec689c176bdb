/** A scenario as a command takes it: from its file, with what flags change. */
import { parseScenario, ScenarioError } from "../../scenarios/load.ts";
import type { Scenario } from "../../scenarios/schema.ts";
import { type Bugs, bugsOf, UnknownBug } from "../../sim/experiments/bugs.ts";
import { fileText, writtenMebibytesMax } from "./file-text.ts";
import { unreadable } from "./file-problem.ts";
import { UsageError } from "./usage-error.ts";

export function readScenario(path: string, profile?: Scenario["profile"]): Scenario {
  return scenarioOf(readText(path), path, profile);
}

export function scenarioOf(text: string, name: string, profile?: Scenario["profile"]): Scenario {
  try {
    const scenario = parseScenario(text, name);
    return profile === undefined ? scenario : { ...scenario, profile };
  } catch (error) {
    if (error instanceof ScenarioError) throw new UsageError(error.message);
    throw error;
  }
}

export function readText(path: string): string {
  try {
    return fileText(path, writtenMebibytesMax);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${path}: ${unreadable(error)}`);
  }
}

/** By their names, and with the feature gates that they or the scenario need. */
export function plantedBugs(names: readonly string[], { regress }: Scenario): Bugs {
  try {
    const bugs = bugsOf([...new Set(names)]);
    const wanted = regress === undefined ? [] : regress.gates;
    return { ...bugs, gates: { ...Object.fromEntries(wanted.map((gate) => [gate, true])), ...bugs.gates } };
  } catch (error) {
    if (error instanceof UnknownBug) throw new UsageError(`--fault: ${error.message}`);
    throw error;
  }
}
