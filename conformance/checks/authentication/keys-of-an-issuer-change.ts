import { shownAnswer } from "../../client/status-document.ts";
import { Inconclusive, Unsupported } from "../../client/findings.ts";
import type { Answer } from "../../client/exchange.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { pollUntil } from "../../runner/poll.ts";
import { whoHolds } from "../../runner/token-desk.ts";

/** Servers look for an issuer now and then until they have found it, and may ask again no more than once in a while. */
const patienceMillis = 25_000;

/**
 * An issuer changes its keys: tokens that the new one has signed are accepted, and new tokens that the old one has signed are
 * not, once the target has read the set that shows the new one alone. One authenticator is there for this. One run says all.
 */
export const keysOfAnIssuerChange = defineCheck({
  id: "keys-of-an-issuer-change",
  area: "authentication",
  property: "When an issuer shows another key, that one counts, and the one before does no more.",
  requirements: ["authentication-config.new-keys", "authentication-config.old-keys"],
  features: ["token-issuer", "self-reviews"],
  async run(attempt) {
    const { tokens: desk } = attempt.access;
    if (desk === undefined) throw new Unsupported("token-issuer");
    const ask = (by: "current" | "past"): Promise<Answer> =>
      whoHolds(attempt.client, attempt.profile.dialect, desk.rotatingToken(by));
    const taken = async (): Promise<Answer> => {
      let last: Answer | undefined;
      await pollUntil(attempt, attempt.clock.nowMillis() + patienceMillis, async () => {
        last = await ask("current");
        return last.status === 401 ? undefined : true;
      });
      return last as Answer;
    };
    const first = await taken();
    if (first.status >= 300) throw new Inconclusive(`no token of ${desk.issuer("rotating")} is accepted at all`);
    desk.rotate();
    const answer = await taken();
    attempt.expect(
      "authentication-config.new-keys",
      answer.status < 300,
      "a token is accepted that was signed by the key that the issuer shows now",
      `${shownAnswer(answer)} for ${patienceMillis / 1_000} s`,
    );
    const old = await ask("past");
    attempt.expect(
      "authentication-config.old-keys",
      old.status === 401,
      "401 for a new token that was signed by the key that the issuer does not show any more",
      shownAnswer(old),
    );
  },
});
