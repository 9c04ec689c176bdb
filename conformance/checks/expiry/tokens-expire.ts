import { configMap } from "../../arbitraries/config-maps.ts";
import { listOf, objectOf } from "../../client/collection.ts";
import { isJsonObject, keyOf, type Json } from "../../client/types.ts";
import { Inconclusive } from "../../client/findings.ts";
import { defineAgedCheck } from "../../runner/define-check.ts";
import { pollUntil } from "../../runner/poll.ts";

/**
 * A continue token is asked for until it has expired: until then it shows its snapshot, then it is answered 410, and
 * the client can begin again, or go on with the token of the 410. Old tokens are captured before all other checks.
 */
export const tokensExpire = defineAgedCheck({
  id: "tokens-expire",
  area: "expiry",
  property: "An old continue token shows its snapshot or is answered 410, and the client can begin again.",
  requirements: ["expiry.continue-gone", "expiry.restart", "expiry.continue-resumes", "expiry.reason"],
  features: ["configmaps"],
  async capture(attempt) {
    const collection = await attempt.target.collection("configmaps");
    for (const name of ["a", "b", "c", "d"]) objectOf(await collection.create(configMap(name)));
    const first = await collection.readList({ limit: 2 });
    objectOf(await collection.create(configMap("e"))); // not in the snapshot
    return { collection, first };
  },
  async settle(attempt, { collection, first }, deadlineMillis) {
    const snapshot = ["a", "b", "c", "d"];
    const expired = await pollUntil(attempt, deadlineMillis, async () => {
      const answer = await collection.list({ limit: 10, continue: first.continueToken });
      if (answer.status !== 200) return answer;
      const names = attempt.target
        .own(collection, [...first.items, ...listOf(answer).items])
        .map((item) => item.metadata.name);
      attempt.expect(
        "pages.snapshot",
        names.join() === snapshot.join(),
        `the snapshot ${snapshot.join(", ")}, or 410`,
        names.join(", "),
      );
      return undefined;
    });
    if (expired === undefined) throw new Inconclusive("the continue token did not expire in the time allowed");
    const actual = `${expired.status} ${expired.text.slice(0, 400)}`;
    attempt.expect("expiry.continue-gone", expired.status === 410, "410 for an expired token", actual);
    attempt.expect("expiry.reason", reasonOf(expired.json) === "Expired", "reason Expired", actual);
    const restarted = (await collection.pages({ limit: 2 })).flatMap((page) => page.items);
    const all = attempt.target.own(collection, restarted).map((item) => item.metadata.name);
    attempt.expect("expiry.restart", all.join() === "a,b,c,d,e", "the present collection, begun again", all.join(", "));

    const token = continueOf(expired.json);
    attempt.expect("expiry.continue-resumes", token !== undefined, "metadata.continue in the 410", actual);
    const rest = listOf(await collection.list({ limit: 10, continue: token }));
    const seen = new Set(attempt.target.own(collection, first.items).map(keyOf));
    const expectedRest = attempt.target
      .own(collection, restarted)
      .filter((item) => !seen.has(keyOf(item)))
      .map(keyOf);
    const names = attempt.target.own(collection, rest.items).map(keyOf);
    attempt.expect(
      "expiry.continue-resumes",
      names.join() === expectedRest.join(),
      `the rest of the keys: ${expectedRest.join(", ")}`,
      names.join(", "),
    );
  },
});

function reasonOf(status: Json | undefined): Json | undefined {
  return isJsonObject(status) ? status["reason"] : undefined;
}

function continueOf(status: Json | undefined): string | undefined {
  const metadata = isJsonObject(status) ? status["metadata"] : undefined;
  const token = isJsonObject(metadata) ? metadata["continue"] : undefined;
  return typeof token === "string" && token !== "" ? token : undefined;
}
