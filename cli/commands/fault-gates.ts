import { UsageError } from "../flags/usage-error.ts";
import { type ServerBugName, serverBugRows } from "../../sim/planted/server-bugs.ts";

type Gates = Readonly<Record<string, boolean>>;

/** A bug of a feature that is off by default is planted with the feature on, unless `asked` says of its gate what it is to be. */
export function gatesWith(faults: readonly ServerBugName[], asked: Gates = {}): Record<string, boolean> {
  const needed = faults.flatMap((fault) => serverBugRows[fault].gate ?? []);
  return { ...Object.fromEntries(needed.map((gate) => [gate, true])), ...asked };
}

/** Throws `UsageError` where nothing is planted that could be rare. */
export function requireBugs(rarity: number | undefined, faults: readonly ServerBugName[]): void {
  if (rarity === undefined || faults.length > 0) return;
  throw new UsageError(
    "--rarity says how rare planted bugs are, and none is planted: add --fault NAME, or leave it out.",
  );
}
