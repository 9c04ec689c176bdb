import { shownAnswer } from "../../client/status-document.ts";
import { Inconclusive, Unsupported } from "../../client/findings.ts";
import type { Answer } from "../../client/exchange.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { pollUntil } from "../../runner/poll.ts";
import { whoHolds } from "../../runner/token-desk.ts";

const lifetimeSeconds = 10;
/** A server may remember for so long that it has accepted a token; those of its kind do so for ten seconds. */
const memorySeconds = 20;

/**
 * A token that is good and in use is refused once its lifetime is over: what the target remembers of it ends with it. Its
 * lifetime is reckoned by the target's clock, which may be another than the suite's. One run says all.
 */
export const tokensEndWithTheirLifetime = defineCheck({
  id: "tokens-end-with-their-lifetime",
  area: "authentication",
  property: "A token that has been accepted is refused when its lifetime is over.",
  requirements: ["authentication-config.lifetime"],
  features: ["token-issuer", "self-reviews"],
  cost: "slow",
  async run(attempt) {
    const { tokens: desk } = attempt.access;
    if (desk === undefined) throw new Unsupported("token-issuer");
    const { dialect } = attempt.profile;
    const before = await attempt.client.request("GET", "/version");
    const aheadMillis = Date.parse(String(before.headers["date"])) - attempt.clock.nowMillis();
    const targetMillis = (): number => attempt.clock.nowMillis() + (Number.isNaN(aheadMillis) ? 0 : aheadMillis);
    const exp = Math.ceil(targetMillis() / 1000) + lifetimeSeconds;
    const token = desk.token("claims", { ...desk.goodClaims("claims"), exp, jti: `${attempt.target.name}-short` });
    const ask = (): Promise<Answer> => whoHolds(attempt.client, dialect, token);
    const first = await ask();
    if (first.status >= 300) throw new Inconclusive(`a token with ${lifetimeSeconds} s to live is not accepted`);
    const remaining = exp * 1000 - targetMillis();
    await attempt.client.pause(Math.max(0, remaining));
    let last = first;
    await pollUntil(attempt, attempt.clock.nowMillis() + memorySeconds * 1000, async () => {
      last = await ask();
      return last.status === 401 ? true : undefined;
    });
    attempt.expect(
      "authentication-config.lifetime",
      last.status === 401,
      `401 for a token whose lifetime was over ${memorySeconds} s ago, though it was accepted before`,
      shownAnswer(last),
    );
  },
});
