import fc from "fast-check";
import { shownAnswer } from "../../client/status-document.ts";
import { Inconclusive } from "../../client/findings.ts";
import { type AuthorizerName, authorizerNames, webhooks } from "../../model/access-files.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { type GatedUser, gatedUser, isRefused, mayRead } from "../../runner/gated-user.ts";

const repeats = 5;
/** Beyond a lifetime, for clocks that tick in steps. */
const slackMillis = 500;

/**
 * Property: while an answer of a webhook is kept, the same question is not asked again; once its lifetime is over it is, and
 * the new answer counts. The two kinds of answers have lifetimes of their own.
 * Method: a question is repeated at once, and again when its time is over and the suite's webhook has changed its mind.
 */
export const decisionsAreKeptForTheirLifetime = defineCheck<{
  readonly which: AuthorizerName;
  readonly says: "allow" | "deny";
}>({
  id: "decisions-are-kept-for-their-lifetime",
  area: "authorization",
  property: "A webhook's answer counts for its lifetime, and not longer.",
  requirements: ["authorization-config.authorized-ttl", "authorization-config.unauthorized-ttl"],
  features: ["authorizer-webhooks", "service-accounts", "configmaps", "namespaces"],
  cost: "slow",
  input: fc.record({
    which: fc.constantFrom<AuthorizerName>(...authorizerNames),
    says: fc.constantFrom<"allow" | "deny">("allow", "deny"),
  }),
  examples: [
    { which: "first", says: "allow" },
    { which: "second", says: "deny" },
  ],
  async run(attempt, { which, says }) {
    const gated = await gatedUser(attempt);
    const [requirement, lifetimeSeconds] =
      says === "allow"
        ? (["authorization-config.authorized-ttl", webhooks[which].authorizedSeconds] as const)
        : (["authorization-config.unauthorized-ttl", webhooks[which].unauthorizedSeconds] as const);
    const isAsSaid = says === "allow" ? mayRead : isRefused;
    const isAsChanged = says === "allow" ? isRefused : mayRead;
    gated.answers = { [which]: says };
    const first = await gated.read("kept");
    attempt.expect(
      requirement,
      isAsSaid(first),
      `the webhook ${which} says ${says}, and it is done`,
      shownAnswer(first),
    );

    const askedBefore = askedCount(gated, which);
    const startMillis = attempt.clock.nowMillis();
    let latest = first;
    for (let repeat = 0; repeat < repeats; repeat += 1) latest = await gated.read("kept");
    if (attempt.clock.nowMillis() - startMillis > lifetimeSeconds * 1000) {
      throw new Inconclusive(
        `the target was too slow to repeat a question ${repeats} times within ${lifetimeSeconds} s`,
      );
    }
    const askedAgain = askedCount(gated, which) - askedBefore;
    attempt.expect(
      requirement,
      askedAgain < repeats,
      `the webhook ${which} is not asked each time within the ${lifetimeSeconds} s of its answer`,
      `asked ${askedAgain} times for ${repeats} repetitions, the last answered ${shownAnswer(latest)}`,
    );

    gated.answers = { [which]: says === "allow" ? "deny" : "allow" };
    const asked = gated.questions.at(-1)?.atMillis ?? startMillis;
    await attempt.client.pause(asked + lifetimeSeconds * 1000 + slackMillis - attempt.clock.nowMillis());
    const late = await gated.read("kept");
    const shown = `after ${lifetimeSeconds} s the webhook ${which} is asked again, and its new answer counts`;
    attempt.expect(requirement, isAsChanged(late), shown, shownAnswer(late));
  },
});

const askedCount = ({ questions }: GatedUser, which: AuthorizerName): number =>
  questions.filter(({ authorizer }) => authorizer === which).length;
