/** Which bugs a run has, whatever they are bugs of. */
import { didYouMean } from "../../wire/near-names.ts";
import { type AgentBugName, agentBugNames } from "../planted/agent-bugs.ts";
import { type ServerBugName, serverBugNames, serverBugRows } from "../planted/server-bugs.ts";
import { type SimulatedBug, simulatedBugNames, type SimulatedBugs } from "../planted/simulated-bugs.ts";

export interface Bugs {
  readonly names: readonly string[];
  readonly simulated: SimulatedBugs;
  /** Of the server itself. */
  readonly server: readonly ServerBugName[];
  /** Of node agents. */
  readonly agent: readonly AgentBugName[];
  /** Feature gates that they need. */
  readonly gates: Readonly<Record<string, boolean>>;
}

export const noBugs: Bugs = { names: [], simulated: new Set(), server: [], agent: [], gates: {} };

/** Every name that a scenario can plant. */
const bugNames: readonly string[] = [...new Set([...simulatedBugNames, ...serverBugNames, ...agentBugNames])];

/** Throws `UnknownBug`, which says what is near. */
export function bugsOf(names: readonly string[]): Bugs {
  const unknown = names.find((name) => !bugNames.includes(name));
  if (unknown !== undefined)
    throw new UnknownBug(
      `no bug is called ${unknown}${didYouMean(unknown, bugNames) || "; docs/simulated-bugs.md and docs/faults.md have their names"}`,
    );
  const server = names.filter((name) => (serverBugNames as readonly string[]).includes(name)) as ServerBugName[];
  const simulated = names.filter((name) => (simulatedBugNames as readonly string[]).includes(name)) as SimulatedBug[];
  const gates = server.flatMap((name) => serverBugRows[name].gate ?? []);
  return {
    names,
    server,
    simulated: new Set(simulated),
    agent: agentBugNames.filter((name) => names.includes(name)),
    gates: Object.fromEntries(gates.map((gate) => [gate, true])),
  };
}

export class UnknownBug extends Error {
  override readonly name = "UnknownBug";
}
