import fc from "fast-check";
import { type Collection, objectOf, succeeded } from "../../client/collection.ts";
import { Inconclusive } from "../../client/findings.ts";
import { shownAnswer } from "../../client/status-document.ts";
import type { JsonObject } from "../../client/types.ts";
import { valueAt } from "../../model/json-values.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { createPod } from "../../runner/pods.ts";
import { pollUntil } from "../../runner/poll.ts";
import { createSecondUser } from "../../runner/service-account.ts";

const holders = ["ServiceAccount", "Secret", "Pod"] as const;
type Holder = (typeof holders)[number];

/** What has been found out about a token is remembered for a while, and what is gone may be told of a minute late. */
const goneMillisMax = 120_000;

/**
 * Property: a token is good while the account that it is of, and the object that it is bound to, are there: once one of them is
 * gone it is nobody's, though another of the same name is made.
 * Method: tokens of service accounts that are bound to secrets, pods or nothing, reviewed and used before and after.
 */
export const tokensGoWithWhatTheyAreBoundTo = defineCheck({
  id: "tokens-go-with-what-they-are-bound-to",
  area: "authentication",
  property: "A token ends with the account that it is of, and with the object that it is bound to.",
  requirements: ["authentication.bound"],
  features: ["service-accounts", "token-reviews", "pods", "namespaces"],
  cost: "slow",
  input: fc.record({ holder: fc.constantFrom(...holders), again: fc.boolean() }),
  examples: holders.map((holder, index) => ({ holder, again: index % 2 === 0 })),
  async run(attempt, { holder, again }) {
    const { account } = await createSecondUser(attempt);
    const accounts = await attempt.target.collection("serviceaccounts");
    const secrets = await attempt.target.collection("secrets");
    const pods = await attempt.target.collection("pods");
    const make: Readonly<Record<Holder, () => Promise<JsonObject>>> = {
      ServiceAccount: async () => objectOf(await accounts.create(objectNamed("ServiceAccount", account))),
      Secret: async () => objectOf(await secrets.create(objectNamed("Secret", "bound"))),
      Pod: () =>
        createPod(attempt, pods, "bound", {
          serviceAccountName: account,
          schedulerName: "touchstone-nobody",
          terminationGracePeriodSeconds: 0,
        }),
    };
    if (holder !== "ServiceAccount") await make[holder]();
    const token = await tokenFor(attempt, accounts, account, holder);
    const isKnown = await pollUntil(attempt, attempt.clock.nowMillis() + 10_000, () => knows(attempt, token, true));
    attempt.expect(
      "authentication.bound",
      isKnown === true,
      `a token bound to a ${holder} is authenticated`,
      "it is not",
    );
    const [collection, name] = {
      ServiceAccount: [accounts, account],
      Secret: [secrets, "bound"],
      Pod: [pods, "bound"],
    }[holder] as [Collection, string];
    succeeded(await collection.delete(name));
    if (again) await make[holder]();
    const deadline = (): number => attempt.clock.nowMillis() + goneMillisMax;
    const isOver = await pollUntil(attempt, deadline(), () => knows(attempt, token, false));
    const what = `a token of a ${holder} that is gone${again ? ", and was made again" : ""}`;
    attempt.expect("authentication.bound", isOver === true, `${what} is nobody's`, "it is authenticated");
    // Another front-end may remember it for itself.
    const isRefused = await pollUntil(attempt, deadline(), async () => {
      const used = await attempt.client.request("GET", accounts.path, { as: { token } });
      return used.status === 401 ? true : undefined;
    });
    attempt.expect("authentication.bound", isRefused === true, `401 for ${what}`, "it is let in");
  },
});

const objectNamed = (kind: string, name: string): JsonObject => ({ apiVersion: "v1", kind, metadata: { name } });

async function tokenFor(attempt: Attempt, accounts: Collection, account: string, holder: Holder): Promise<string> {
  const apiVersion = `authentication.${attempt.profile.dialect.groupSuffix}/v1`;
  const boundObjectRef =
    holder === "ServiceAccount" ? {} : { boundObjectRef: { apiVersion: "v1", kind: holder, name: "bound" } };
  const body = {
    apiVersion,
    kind: "TokenRequest",
    spec: { audiences: [], expirationSeconds: 3600, ...boundObjectRef },
  };
  const answer = await attempt.client.request("POST", accounts.pathOf(`${account}/token`), { body });
  const token = valueAt(answer.json, "status", "token");
  if (typeof token !== "string") throw new Inconclusive(`no token for a service account: ${shownAnswer(answer)}`);
  return token;
}

/** True where a review says just that; undefined where it says the contrary. */
async function knows(attempt: Attempt, token: string, expected: boolean): Promise<true | undefined> {
  const apiVersion = `authentication.${attempt.profile.dialect.groupSuffix}/v1`;
  const body = { apiVersion, kind: "TokenReview", spec: { token } };
  const answer = await attempt.client.request("POST", `/apis/${apiVersion}/tokenreviews`, { body });
  const isKnown = valueAt(succeeded(answer, "authentication.bound").json, "status", "authenticated") === true;
  return isKnown === expected ? true : undefined;
}
