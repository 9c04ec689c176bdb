import type { Answer } from "../client/exchange.ts";
import type { RequestOptions } from "../client/client.ts";
import type { Other } from "../model/impersonation.ts";
import type { Attempt } from "./attempt.ts";

/** Asks the target who the caller is that acts as the other; `as`: whose credentials it has. */
export function whoAmIAs(attempt: Attempt, other: Other, as?: RequestOptions["as"]): Promise<Answer> {
  const apiVersion = `authentication.${attempt.profile.dialect.groupSuffix}/v1`;
  return attempt.client.request("POST", `/apis/${apiVersion}/selfsubjectreviews`, {
    body: { apiVersion, kind: "SelfSubjectReview" },
    headers: actingAs(other),
    as,
  });
}

export function actingAs({ username, group }: Other): Record<string, string> {
  return { "impersonate-user": username, ...(group === undefined ? {} : { "impersonate-group": group }) };
}
