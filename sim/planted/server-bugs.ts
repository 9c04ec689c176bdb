/**
 * Bugs that the embedded server can be told to have: published ones, and a few common mistakes. They prove the suite:
 * with a planted bug on, some check must fail; with none, none may.
 * They live in wrappers (`wrappers/`): the code of the server asks for none of them.
 */
import { accessBugs } from "./access-bugs.ts";
import { seenAgentBugs } from "./agent-bugs.ts";
import { answerBugs } from "./answer-bugs.ts";
import { edgeBugs } from "./edge-bugs.ts";
import type { BugRow } from "./bug-row.ts";
import { readBugs } from "./read-bugs.ts";
import { secondUnforeseenBugs } from "./second-unforeseen-bugs.ts";
import { subresourceBugs } from "./subresource-bugs.ts";
import { thirdUnforeseenBugs } from "./third-unforeseen-bugs.ts";
import { unforeseenBugs } from "./unforeseen-bugs.ts";
import { varietyBugs } from "./variety-bugs.ts";
import { writeBugs } from "./write-bugs.ts";

const rows = {
  ...answerBugs,
  ...edgeBugs,
  ...accessBugs,
  ...readBugs,
  ...writeBugs,
  ...subresourceBugs,
  ...varietyBugs,
  ...unforeseenBugs,
  ...secondUnforeseenBugs,
  ...thirdUnforeseenBugs,
  ...seenAgentBugs,
} as const satisfies Record<string, BugRow>;

export type ServerBugName = keyof typeof rows;
export type ServerBugs = Readonly<Record<ServerBugName, boolean>>;

/** The bugs that take a cache behind the store, and how far behind it then is: longer than a request is under way. */
export const lagging: readonly ServerBugName[] = [
  "list-stale-when-consistent-asked",
  "watch-unset-rv-from-stale-cache",
  "initial-events-stale-snapshot",
];
/** Asked at every write. */
export function cacheLagMicrosWith(bugs: ServerBugs): number {
  for (const name of lagging) if (bugs[name]) return 20_000;
  return 0;
}

export const serverBugRows: Readonly<Record<ServerBugName, BugRow>> = rows;
export const serverBugNames = Object.keys(rows) as readonly ServerBugName[];

/** Every switch off, or the named ones on. Always the same property order, so that reads stay monomorphic. */
export function bugsOn(names: readonly ServerBugName[] = []): ServerBugs {
  const on = new Set<string>(names);
  return Object.fromEntries(serverBugNames.map((name) => [name, on.has(name)])) as ServerBugs;
}
