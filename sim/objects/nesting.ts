/** Bounds on values whose depth a client chooses. */
import { append } from "../../wire/lists.ts";
import { paced } from "../expressions/pace.ts";
import { valuesOf } from "./members.ts";

/** Whether lists and objects stand in one another more than `max` deep. Any depth; of a judgement, in parts. */
export function isDeeperThan(max: number, value: unknown): boolean {
  let level: readonly object[] = isContainer(value) ? [value] : [];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === max) return true;
    const above = level;
    const next: object[] = [];
    for (let at = 0; at < above.length; ) {
      const part = paced(
        () => containersIn(above, at),
        ({ count }) => count * costOfValue,
      );
      append(next, part.found);
      at = part.to;
    }
    level = next;
  }
  return false;
}

/** Values that are looked at in one part. */
const valuesPerPart = 4_000;
/** The values of an object with very many members take up to a microsecond each. */
const costOfValue = 3;

/** What the containers from `from` on hold, until that makes a part. */
function containersIn(
  above: readonly object[],
  from: number,
): { readonly found: readonly object[]; readonly to: number; readonly count: number } {
  const found: object[] = [];
  let count = 0;
  let to = from;
  while (to < above.length && count < valuesPerPart) {
    const children = valuesOf(above[to++] as object);
    count += children.length + 1;
    for (let at = 0; at < children.length; at++) if (isContainer(children[at])) found.push(children[at] as object);
  }
  return { found, to, count };
}

const isContainer = (value: unknown): value is object => typeof value === "object" && value !== null;
