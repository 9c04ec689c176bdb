import fc from "fast-check";
import type { Reply } from "../../../wire/ports.ts";
import { shownAnswer } from "../../client/status-document.ts";
import { type AuthorizerName, authorizerNames, oddPrefix, webhooks } from "../../model/access-files.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { gatedUser, isRefused, mayRead } from "../../runner/gated-user.ts";
import { opinion, type Question } from "../../runner/review-desk.ts";
import { grant } from "../../runner/roles.ts";

/** How a webhook fails; `odd`: a condition cannot be evaluated. Each would allow, if it were believed. */
const failures: Readonly<Record<string, (question: Question) => Reply>> = {
  broken: () => ({ status: 500, body: undefined }),
  garbled: () => ({ status: 200, body: { kind: "Nonsense", status: { allowed: true } } }),
  empty: () => ({ status: 200, body: undefined }),
  late: ({ authorizer, review }) => ({
    ...opinion(review, "allow"),
    afterMillis: webhooks[authorizer].timeoutSeconds * 1000 + 4000,
  }),
  odd: ({ review }) => opinion(review, "allow"),
};
const failureNames = Object.keys(failures);

/**
 * Property: when a webhook cannot be asked, its answer makes no sense or comes too late, or a condition cannot be evaluated,
 * its failure policy decides: Deny refuses, whatever others would say; NoOpinion leaves it to the next.
 * Method: one of the suite's webhooks fails, the other has no opinion, and a role grants the read, or not.
 */
export const authorizersThatFailDecideByPolicy = defineCheck({
  id: "authorizers-that-fail-decide-by-policy",
  area: "authorization",
  property: "What comes of a webhook that fails is what its failure policy says.",
  requirements: ["authorization-config.failure-policy", "authorization-config.timeout"],
  features: ["authorizer-webhooks", "service-accounts", "roles", "access-reviews", "configmaps", "namespaces"],
  cost: "slow",
  input: fc.record({
    which: fc.constantFrom<AuthorizerName>(...authorizerNames),
    failure: fc.constantFrom(...failureNames),
    granted: fc.boolean(),
  }),
  examples: failureNames.flatMap((failure) => [
    { which: "first" as const, failure, granted: failure !== "late" },
    { which: "second" as const, failure, granted: true },
  ]),
  async run(attempt, { which, failure, granted }) {
    const gated = await gatedUser(attempt);
    const name = failure === "odd" ? `${oddPrefix}name` : "name";
    await grant(attempt, gated.user, granted ? [{ verbs: ["get"], resources: ["configmaps"], names: [name] }] : []);
    gated.answers = { [which]: failures[failure] as (question: Question) => Reply };
    // The condition that cannot be evaluated is one of both: the first then leaves it to the second, which denies.
    const policy = failure === "odd" ? webhooks.second.failurePolicy : webhooks[which].failurePolicy;
    const isAllowed = policy === "NoOpinion" && granted;
    const answer = await gated.read(name);
    const shown = `${failure} at the webhook ${which}, whose policy is ${policy}${granted ? ", and a role that grants it" : ""}`;
    attempt.expect(
      failure === "late" ? "authorization-config.timeout" : "authorization-config.failure-policy",
      isAllowed ? mayRead(answer) : isRefused(answer),
      `${shown}: ${isAllowed ? "404, since it may read" : "403 or 500"}`,
      shownAnswer(answer),
    );
  },
});
