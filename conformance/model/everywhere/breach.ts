import type { Violation } from "../../client/findings.ts";

/** A law that holds everywhere was broken: which, and how. */
export interface Breach {
  readonly requirement: string;
  readonly violation: Violation;
}

export function breach(requirement: string, expected: string, actual: string): Breach {
  return { requirement, violation: { expected, actual } };
}
