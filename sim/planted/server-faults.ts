/**
 * Bugs that the embedded server can be told to have: published ones, and a few common mistakes. They prove the suite:
 * with a fault on, some check must fail; with none, none may.
 * Switches are read where the behaviour lives, beside the profile: `faults["list-null-items"]`.
 */
import { accessFaults } from "./access-faults.ts";
import { seenAgentFaults } from "./agent-faults.ts";
import { answerFaults } from "./answer-faults.ts";
import { edgeFaults } from "./edge-faults.ts";
import type { FaultRow } from "./fault-row.ts";
import { readFaults } from "./read-faults.ts";
import { writeFaults } from "./write-faults.ts";

const rows = {
  ...answerFaults,
  ...edgeFaults,
  ...accessFaults,
  ...readFaults,
  ...writeFaults,
  ...seenAgentFaults,
} as const satisfies Record<string, FaultRow>;

export type FaultName = keyof typeof rows;
export type Faults = Readonly<Record<FaultName, boolean>>;

/** The faults that take a cache behind the store, and how far behind it then is: longer than a request is under way. */
const lagging: readonly FaultName[] = [
  "list-stale-when-consistent-asked",
  "watch-unset-rv-from-stale-cache",
  "initial-events-stale-snapshot",
];
/** Asked at every write. */
export function cacheLagMicrosUnder(faults: Faults): number {
  for (const name of lagging) if (faults[name]) return 20_000;
  return 0;
}

export const faultRows: Readonly<Record<FaultName, FaultRow>> = rows;
export const faultNames = Object.keys(rows) as readonly FaultName[];

/** Every switch off, or the named ones on. Always the same property order, so that reads stay monomorphic. */
export function faultsOn(names: readonly FaultName[] = []): Faults {
  const on = new Set<string>(names);
  return Object.fromEntries(faultNames.map((name) => [name, on.has(name)])) as Faults;
}
