import fc from "fast-check";
import { shownAnswer } from "../../client/status-document.ts";
import { succeeded } from "../../client/collection.ts";
import { Unsupported } from "../../client/findings.ts";
import { callerIn } from "../../model/callers.ts";
import { judgeOther } from "../../model/impersonation.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { actingAs, whoAmIAs } from "../../runner/impersonation.ts";
import { createSecondUser } from "../../runner/service-account.ts";

/**
 * Property: who acts as another is that other: called so, in the groups that were asked for and in none of its own, and let
 * in where the other would be.
 * Method: the target is asked who the caller is. As a service account, the suite reads with the account's token and in its
 * name, and both are answered alike. Credentials that may act as nobody show nothing.
 */
export const whoActsAsAnotherIsTheOther = defineCheck({
  id: "who-acts-as-another-is-the-other",
  area: "authentication",
  property: "Who acts as another is that other and nobody besides.",
  requirements: ["authentication.impersonation"],
  features: ["self-reviews", "service-accounts", "configmaps"],
  input: fc.record({
    name: fc.constantFrom("touchstone-jane", "jane@example.com", "account"),
    group: fc.option(fc.constantFrom("touchstone-dev", "example:ops"), { nil: undefined }),
  }),
  examples: [
    { name: "touchstone-jane", group: "touchstone-dev" },
    { name: "account", group: undefined },
  ],
  async run(attempt, { name, group }) {
    const second = name === "account" ? await createSecondUser(attempt) : undefined;
    const other = { username: second?.username ?? name, group };
    const answer = await whoAmIAs(attempt, other);
    if (answer.status === 403) throw new Unsupported("acting as another with the credentials of the run");
    const said = callerIn(succeeded(answer, "authentication.impersonation").json, "userInfo");
    attempt.holds("authentication.impersonation", judgeOther(other, said));
    if (second === undefined || group !== undefined) return;
    const { path } = await attempt.target.collection("configmaps");
    const own = await attempt.client.request("GET", path, { as: second.as });
    const acted = await attempt.client.request("GET", path, { headers: actingAs(other) });
    const expected = `${own.status} for a list as ${other.username}, as its own token is answered`;
    attempt.expect("authentication.impersonation", acted.status === own.status, expected, shownAnswer(acted));
  },
});
