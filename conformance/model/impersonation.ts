/** Who a caller is that acts as another: that other, and nobody besides. */
import type { Violation } from "../client/findings.ts";
import type { Caller } from "./callers.ts";

/** Whom a request asks to be. */
export interface Other {
  readonly username: string;
  /** Undefined: none is asked for. */
  readonly group: string | undefined;
}

/** The name that was asked for; the groups that were, or else those of a service account; and all that have a name at all. */
export function judgeOther({ username, group }: Other, actual: Caller | undefined): Violation | undefined {
  const namespace = /^system:serviceaccount:([^:]+):/.exec(username)?.[1];
  const own = namespace === undefined ? [] : ["system:serviceaccounts", `system:serviceaccounts:${namespace}`];
  const groups = [...(group === undefined ? own : [group]), "system:authenticated"].toSorted();
  const expected = shown(username, groups);
  const seen = actual === undefined ? "no user" : shown(actual.username, actual.groups.toSorted());
  return seen === expected ? undefined : { expected, actual: seen };
}

const shown = (username: string, groups: readonly string[]): string =>
  `${username} in ${groups.join(", ") || "no group"}`;
