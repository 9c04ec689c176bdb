import type { Answer } from "../../client/exchange.ts";
import type { RequestOptions } from "../../client/client.ts";
import { succeeded } from "../../client/collection.ts";
import { isJsonObject, type JsonObject } from "../../client/types.ts";
import { callerIn, judgeCaller } from "../../model/callers.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { createSecondUser } from "../../runner/service-account.ts";

/**
 * A caller is told who the server takes it for; of a token that the server itself has given out, this is the service account
 * it was given to, and a review of the token by somebody else says the same. One run says all.
 */
export const callersAreWhoTheirTokenSays = defineCheck({
  id: "callers-are-who-their-token-says",
  area: "authentication",
  property: "A caller is who its token was given to, whoever asks.",
  requirements: ["authentication.self", "authentication.service-account", "authentication.token-review"],
  features: ["self-reviews", "token-reviews", "service-accounts", "namespaces"],
  async run(attempt) {
    const own = callerIn(succeeded(await whoAmI(attempt), "authentication.self").json, "userInfo");
    attempt.expect("authentication.self", own !== undefined, "a username in status.userInfo", "none");

    const second = await createSecondUser(attempt);
    const said = callerIn(succeeded(await whoAmI(attempt, second.as), "authentication.self").json, "userInfo");
    attempt.holds("authentication.service-account", judgeCaller(second, said));

    const known = await reviewToken(attempt, second.token);
    const { authenticated } = statusOf(known);
    attempt.expect(
      "authentication.token-review",
      authenticated === true,
      "authenticated: true",
      known.text.slice(0, 300),
    );
    attempt.holds("authentication.token-review", judgeCaller(second, callerIn(known.json, "user")));
    const unknown = await reviewToken(attempt, `${second.token}x`);
    attempt.expect(
      "authentication.token-review",
      statusOf(unknown)["authenticated"] !== true && callerIn(unknown.json, "user") === undefined,
      "no user for a token that was tampered with",
      unknown.text.slice(0, 300),
    );
    const tampered = await whoAmI(attempt, { token: `${second.token}x` });
    attempt.expect("authentication.token-review", tampered.status === 401, "401 for it", String(tampered.status));
  },
});

function whoAmI(attempt: Attempt, as?: RequestOptions["as"]): Promise<Answer> {
  const apiVersion = `authentication.${attempt.profile.dialect.groupSuffix}/v1`;
  const body = { apiVersion, kind: "SelfSubjectReview" };
  return attempt.client.request("POST", `/apis/${apiVersion}/selfsubjectreviews`, { body, as });
}

async function reviewToken(attempt: Attempt, token: string): Promise<Answer> {
  const apiVersion = `authentication.${attempt.profile.dialect.groupSuffix}/v1`;
  const body = { apiVersion, kind: "TokenReview", spec: { token } };
  const answer = await attempt.client.request("POST", `/apis/${apiVersion}/tokenreviews`, { body });
  return succeeded(answer, "authentication.token-review");
}

function statusOf({ json }: Answer): JsonObject {
  const status = isJsonObject(json) ? json["status"] : undefined;
  return isJsonObject(status) ? status : {};
}
