import { type ServerBugName, serverBugRows } from "../../sim/planted/server-bugs.ts";

type Gates = Readonly<Record<string, boolean>>;

/** A bug of a feature that is off by default is planted with the feature on, unless `asked` says of its gate what it is to be. */
export function gatesWith(faults: readonly ServerBugName[], asked: Gates = {}): Record<string, boolean> {
  const needed = faults.flatMap((fault) => serverBugRows[fault].gate ?? []);
  return { ...Object.fromEntries(needed.map((gate) => [gate, true])), ...asked };
}
