import type { Answer } from "../../client/exchange.ts";
import type { RequestOptions } from "../../client/client.ts";
import { objectOf, succeeded } from "../../client/collection.ts";
import { shownAnswer } from "../../client/status-document.ts";
import { isJsonObject, type Json, type JsonObject } from "../../client/types.ts";
import { valueAt } from "../../model/json-values.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { createSecondUser, type SecondUser } from "../../runner/service-account.ts";

const times = 4;
/** The shortest life of a token that known servers give. */
const lifeSeconds = 600;

/**
 * Property: the same question about a caller has the same answer each time, with each group once; a token is good for
 * the audiences that it was asked for and no other, for as long as it was asked for, and only while its account is there.
 * Method: self reviews and token reviews, again and again; tokens of an audience of the suite's own. The life of a token
 * is waited for where waiting costs nothing.
 */
export const whoOneIsDoesNotChange = defineCheck({
  id: "who-one-is-does-not-change",
  area: "authentication",
  property: "Who a caller is does not depend on how often one asks, and a token holds for its audiences and its time.",
  requirements: ["authentication.stable", "authentication.audiences", "authentication.expiry"],
  features: ["self-reviews", "token-reviews", "service-accounts", "namespaces"],
  cost: "slow",
  async run(attempt) {
    const second = await createSecondUser(attempt);
    const callers: readonly (readonly [who: string, RequestOptions])[] = [
      ["the run's own caller", {}],
      ["a service account", { as: second.as }],
      [
        "one who is impersonated",
        { headers: { "impersonate-user": "touchstone-other", "impersonate-group": "system:authenticated" } },
      ],
    ];
    for (const [who, options] of callers) await judgeSame(attempt, who, () => whoAmI(attempt, options));
    await judgeSame(attempt, "a reviewed token", () => review(attempt, second.token));
    await judgeTold(attempt, second);
    await judgeAudiences(attempt, second.account, second.token);
    await judgeExpiry(attempt, second.account);
  },
});

/** Asked several times: the same answer, and no group twice. */
async function judgeSame(attempt: Attempt, who: string, ask: () => Promise<Answer>): Promise<void> {
  let first: string | undefined;
  for (let turn = 0; turn < times; turn += 1) {
    const answer = await ask();
    if (answer.status === 403) return; // who may not act as another is not asked
    const user =
      valueAt(succeeded(answer, "authentication.stable").json, "status", "userInfo") ??
      valueAt(answer.json, "status", "user");
    const groups = isJsonObject(user) && Array.isArray(user["groups"]) ? (user["groups"] as readonly Json[]) : [];
    attempt.expect(
      "authentication.stable",
      new Set(groups).size === groups.length,
      `each group of ${who} once`,
      groups.join(),
    );
    const said = JSON.stringify(user ?? null);
    first ??= said;
    attempt.expect("authentication.stable", said === first, `${who}, asked for time ${turn + 1}: ${first}`, said);
  }
}

/** A review of a token says of its holder what the holder is told itself. */
async function judgeTold(attempt: Attempt, { as, token }: SecondUser): Promise<void> {
  const itself = await whoAmI(attempt, { as });
  const reviewed = await review(attempt, token);
  if (itself.status >= 300 || reviewed.status >= 300) return; // who may not ask was judged before
  for (const field of ["username", "uid"]) {
    const told = String(valueAt(itself.json, "status", "userInfo", field) ?? "");
    const found = String(valueAt(reviewed.json, "status", "user", field) ?? "");
    const expected = `a reviewed token with the ${field} that its holder is told: ${told}`;
    attempt.expect("authentication.stable", found === told, expected, shownAnswer(reviewed));
  }
}

async function judgeAudiences(attempt: Attempt, account: string, usual: string): Promise<void> {
  const [own, other] = ["touchstone-own", "touchstone-other"];
  const token = await tokenFor(attempt, account, { audiences: [own], expirationSeconds: lifeSeconds });
  if (token === undefined) return;
  const rows: readonly (readonly [
    token: string,
    audiences: readonly string[] | undefined,
    expected: readonly string[] | undefined,
  ])[] = [
    [token, [own], [own]],
    [token, [other], undefined],
    [token, [other, own], [own]],
    [token, undefined, undefined],
    [usual, [other], undefined],
  ];
  for (const [asked, audiences, expected] of rows) {
    const answer = await review(attempt, asked, audiences);
    const status = valueAt(answer.json, "status");
    const isKnown = isJsonObject(status) && status["authenticated"] === true;
    const shown = `a token for ${asked === token ? own : "the server"}, reviewed for ${audiences?.join() ?? "the server"}`;
    const promise =
      expected === undefined ? `${shown}: not authenticated` : `${shown}: authenticated, for ${expected.join()}`;
    const said =
      isJsonObject(status) && Array.isArray(status["audiences"]) ? (status["audiences"] as readonly Json[]).join() : "";
    const isRight = expected === undefined ? !isKnown : isKnown && said === expected.join();
    attempt.expect("authentication.audiences", isRight, promise, shownAnswer(answer));
  }
  const used = await whoAmI(attempt, { as: { token } });
  attempt.expect(
    "authentication.audiences",
    used.status === 401,
    "401 for a token of another audience",
    shownAnswer(used),
  );
}

async function judgeExpiry(attempt: Attempt, account: string): Promise<void> {
  const before = attempt.clock.nowMillis();
  const token = await tokenFor(attempt, account, { expirationSeconds: lifeSeconds });
  if (token === undefined) return;
  await attempt.letPass((lifeSeconds - 30) * 1000);
  const isYoung = attempt.clock.nowMillis() - before < lifeSeconds * 1000;
  const early = await whoAmI(attempt, { as: { token } });
  // A role or an account may be heard of late; that it is nobody is another matter.
  if (isYoung)
    attempt.expect("authentication.expiry", early.status !== 401, "a token good until its end", shownAnswer(early));
  await attempt.letPass(90_000);
  if (attempt.clock.nowMillis() - before < (lifeSeconds + 30) * 1000) return; // a real clock
  const late = await whoAmI(attempt, { as: { token } });
  attempt.expect(
    "authentication.expiry",
    late.status === 401,
    `401 for a token ${lifeSeconds} s old`,
    shownAnswer(late),
  );
  const reviewed = await review(attempt, token);
  const known = valueAt(reviewed.json, "status", "authenticated");
  attempt.expect(
    "authentication.expiry",
    known !== true,
    "not authenticated once it has expired",
    shownAnswer(reviewed),
  );
}

async function tokenFor(attempt: Attempt, account: string, spec: JsonObject): Promise<string | undefined> {
  const accounts = await attempt.target.collection("serviceaccounts");
  const body: JsonObject = { apiVersion: apiVersionOf(attempt), kind: "TokenRequest", spec };
  const answer = succeeded(
    await attempt.client.request("POST", accounts.pathOf(`${account}/token`), { body }),
    "authentication.audiences",
  );
  const end = Date.parse(String(valueAt(answer.json, "status", "expirationTimestamp")));
  attempt.expect(
    "authentication.expiry",
    !Number.isNaN(end),
    "status.expirationTimestamp: a time",
    shownAnswer(answer),
  );
  const begin = Date.parse(objectOf(await accounts.get(account)).metadata.creationTimestamp ?? "");
  // Nobody is given more than was asked for, counted from when the account was not yet there.
  const isBounded = end > begin && end - begin <= (lifeSeconds + 300) * 1000 + attempt.clockSkewMillis;
  attempt.expect(
    "authentication.expiry",
    isBounded,
    `an end ${lifeSeconds} s after the request`,
    `${(end - begin) / 1000} s after the account was made`,
  ); // prettier-ignore
  const token = valueAt(answer.json, "status", "token");
  return typeof token === "string" ? token : undefined;
}

const apiVersionOf = ({ profile }: Attempt): string => `authentication.${profile.dialect.groupSuffix}/v1`;

function whoAmI(attempt: Attempt, options: RequestOptions): Promise<Answer> {
  const apiVersion = apiVersionOf(attempt);
  const body = { apiVersion, kind: "SelfSubjectReview" };
  return attempt.client.request("POST", `/apis/${apiVersion}/selfsubjectreviews`, { ...options, body });
}

function review(attempt: Attempt, token: string, audiences?: readonly string[]): Promise<Answer> {
  const apiVersion = apiVersionOf(attempt);
  const body: JsonObject = {
    apiVersion,
    kind: "TokenReview",
    spec: { token, ...(audiences === undefined ? {} : { audiences }) },
  };
  return attempt.client.request("POST", `/apis/${apiVersion}/tokenreviews`, { body });
}
