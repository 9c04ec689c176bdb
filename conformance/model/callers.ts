/** Whom the server takes a caller for, as reviews tell it: the same token is the same user, however one asks. */
import { isJsonObject, type Json } from "../client/types.ts";
import type { Violation } from "../client/findings.ts";

export interface Caller {
  readonly username: string;
  readonly groups: readonly string[];
}

/** The user in a review's answer: `status.userInfo` of a self-subject review, `status.user` of a token review. */
export function callerIn(document: Json | undefined, field: "userInfo" | "user"): Caller | undefined {
  const status = isJsonObject(document) ? document["status"] : undefined;
  const info = isJsonObject(status) ? status[field] : undefined;
  if (!isJsonObject(info) || typeof info["username"] !== "string" || info["username"] === "") return undefined;
  const { groups } = info;
  return { username: info["username"], groups: Array.isArray(groups) ? groups.map(String) : [] };
}

/** The user is called as expected and in every group that it must be in; a server may put it in others as well. */
export function judgeCaller(expected: Caller, actual: Caller | undefined): Violation | undefined {
  const missing = expected.groups.filter((group) => actual?.groups.includes(group) !== true);
  if (actual?.username === expected.username && missing.length === 0) return undefined;
  return { expected: shown(expected), actual: shown(actual) };
}

function shown(caller: Caller | undefined): string {
  return caller === undefined ? "no user" : `${caller.username} in ${caller.groups.join(", ") || "no group"}`;
}
