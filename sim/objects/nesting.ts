/** Bounds on values whose depth a client chooses. */
import { valuesOf } from "./members.ts";

/** Whether lists and objects stand in one another more than `max` deep. Any depth. */
export function isDeeperThan(max: number, value: unknown): boolean {
  let level: object[] = isContainer(value) ? [value] : [];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === max) return true;
    const next: object[] = [];
    for (const container of level) {
      const children = valuesOf(container);
      for (let at = 0; at < children.length; at++) if (isContainer(children[at])) next.push(children[at] as object);
    }
    level = next;
  }
  return false;
}

const isContainer = (value: unknown): value is object => typeof value === "object" && value !== null;
