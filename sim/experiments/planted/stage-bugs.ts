/** Planted bugs of a scenario's servers, around what happens to its store. */
import type { Gate } from "../../faults/gate.ts";
import type { SimulatedBugs } from "../../planted/simulated-bugs.ts";

type Compacted = (revision: number) => void;

/** What slow watchers have not been told yet is lost when it is compacted. */
export function compactedWith(bugs: SimulatedBugs, gates: () => Iterable<Gate>, compacted: Compacted): Compacted {
  if (!bugs.has("watch-lost-when-slow-and-compacted")) return compacted;
  return (revision) => {
    compacted(revision);
    for (const gate of gates()) gate.dropUntold();
  };
}

/** After a restore nobody begins again: streams go on, on versions that start again lower. */
export const beginAgainWith = (
  bugs: SimulatedBugs,
  kind: "recovered" | "restored",
  servers: readonly string[],
): readonly string[] => (kind === "restored" && bugs.has("rv-rewind-after-restore") ? [] : servers);
