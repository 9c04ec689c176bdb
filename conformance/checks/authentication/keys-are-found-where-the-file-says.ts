import { shownAnswer } from "../../client/status-document.ts";
import { Inconclusive, Unsupported } from "../../client/findings.ts";
import type { Answer } from "../../client/exchange.ts";
import type { IssuerName } from "../../model/access-files.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { pollUntil } from "../../runner/poll.ts";
import { type TokenDesk, whoHolds } from "../../runner/token-desk.ts";

/** Servers look for an issuer now and then until they have found it. */
const patienceMillis = 25_000;

/**
 * An issuer's keys are found by the discovery document below its URL, or at the address that takes its place; a document that
 * names another issuer, or a server that shows another certificate than the one that the file trusts, counts for nothing.
 * Tokens are accepted whichever place their authenticator has in the list. One run says all.
 */
export const keysAreFoundWhereTheFileSays = defineCheck({
  id: "keys-are-found-where-the-file-says",
  area: "authentication",
  property: "Keys come from the issuer that the file names, found where the file says and nowhere else.",
  requirements: [
    "authentication-config.discovery",
    "authentication-config.discovery-url",
    "authentication-config.discovery-url-issuer",
    "authentication-config.certificate-authority",
    "authentication-config.jwt-order",
  ],
  features: ["token-issuer", "self-reviews"],
  async run(attempt) {
    const { tokens } = attempt.access;
    if (tokens === undefined) throw new Unsupported("token-issuer");
    for (const name of ["claims", "expressions", "email", "email-claim"] as const) {
      await accepted(attempt, tokens, name, "authentication-config.jwt-order");
    }
    judgeAsked(attempt, tokens, "claims", "authentication-config.discovery");
    await accepted(attempt, tokens, "elsewhere", "authentication-config.discovery-url");
    judgeAsked(attempt, tokens, "elsewhere", "authentication-config.discovery-url");
    const unasked = "/elsewhere/.well-known/openid-configuration";
    attempt.expect(
      "authentication-config.discovery-url",
      tokens.askedCount(unasked) === 0,
      `no request for ${unasked}, since discoveryURL takes its place`,
      `${tokens.askedCount(unasked)} requests`,
    );
    const hasRead = await pollUntil(attempt, attempt.clock.nowMillis() + patienceMillis, async () => {
      await refused(attempt, tokens, "misnamed", "authentication-config.discovery-url-issuer");
      return tokens.askedCount(tokens.discoveryPath("misnamed")) > 0 ? true : undefined;
    });
    if (hasRead !== true) throw new Inconclusive("the target has not read the document of the issuer misnamed");
    await refused(attempt, tokens, "misnamed", "authentication-config.discovery-url-issuer");
    await refused(attempt, tokens, "untrusted", "authentication-config.certificate-authority");
  },
});

async function accepted(attempt: Attempt, desk: TokenDesk, name: IssuerName, requirement: string): Promise<void> {
  let last: Answer | undefined;
  await pollUntil(attempt, attempt.clock.nowMillis() + patienceMillis, async () => {
    last = await whoHolds(attempt.client, attempt.profile.dialect, desk.token(name));
    return last.status === 401 ? undefined : true;
  });
  const answer = last as Answer;
  attempt.expect(requirement, answer.status < 300, `a token of ${desk.issuer(name)} is accepted`, shownAnswer(answer));
}

async function refused(attempt: Attempt, desk: TokenDesk, name: IssuerName, requirement: string): Promise<void> {
  const answer = await whoHolds(attempt.client, attempt.profile.dialect, desk.token(name));
  attempt.expect(requirement, answer.status === 401, `401 for a token of ${desk.issuer(name)}`, shownAnswer(answer));
}

function judgeAsked(attempt: Attempt, desk: TokenDesk, name: IssuerName, requirement: string): void {
  const path = desk.discoveryPath(name);
  attempt.expect(requirement, desk.askedCount(path) > 0, `a request for ${path}`, "none");
}
