import fc from "fast-check";
import { shownAnswer, shownStatus } from "../../client/status-document.ts";
import { callerIn } from "../../model/callers.ts";
import type { Grant } from "../../model/access.ts";
import { judgeOther, type Other } from "../../model/impersonation.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { whoAmIAs } from "../../runner/impersonation.ts";
import { grant } from "../../runner/roles.ts";
import { createSecondUser } from "../../runner/service-account.ts";

/**
 * Property: a caller acts as exactly those whom it was granted to act as: a right to be one account is none to be another,
 * nor a user, nor in a group besides.
 * Method: a service account with a role that lets it be some of the accounts of its namespace.
 */
export const actingAsAnotherIsARight = defineCheck({
  id: "acting-as-another-is-a-right",
  area: "authentication",
  property: "Nobody acts as another without the right to be that other.",
  requirements: ["authentication.impersonation-right"],
  features: ["self-reviews", "roles", "service-accounts", "access-reviews"],
  cost: "slow",
  input: fc.record({
    granted: fc.uniqueArray(fc.constantFrom("a", "b"), { maxLength: 2 }),
    asked: fc.array(
      fc.record({
        name: fc.constantFrom("a", "b", "jane"),
        group: fc.option(fc.constantFrom("system:masters", "touchstone-dev"), { nil: undefined, freq: 2 }),
      }),
      { minLength: 1, maxLength: 4 },
    ),
  }),
  examples: [
    {
      granted: ["a"],
      asked: [
        { name: "a", group: undefined },
        { name: "b", group: undefined },
        { name: "jane", group: undefined },
        { name: "a", group: "system:masters" },
      ],
    },
  ],
  async run(attempt, { granted, asked }) {
    const second = await createSecondUser(attempt);
    const role: Grant = { verbs: ["impersonate"], resources: ["serviceaccounts"], names: granted };
    await grant(attempt, second, granted.length === 0 ? [] : [role]);
    for (const { name, group } of asked) {
      const username = name === "jane" ? name : `system:serviceaccount:${second.namespace}:${name}`;
      const other: Other = { username, group };
      const answer = await whoAmIAs(attempt, other, second.as);
      const shown = `${second.username} as ${username}${group === undefined ? "" : ` in ${group}`}`;
      if (granted.includes(name) && group === undefined) {
        attempt.expect(
          "authentication.impersonation-right",
          answer.status < 300,
          `${shown}: let in`,
          shownAnswer(answer),
        );
        attempt.holds("authentication.impersonation-right", judgeOther(other, callerIn(answer.json, "userInfo")));
      } else {
        const isRefused = shownStatus(answer) === "403 Forbidden";
        attempt.expect("authentication.impersonation-right", isRefused, `${shown}: 403 Forbidden`, shownAnswer(answer));
      }
    }
  },
});
