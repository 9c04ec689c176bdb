import { configMap } from "../../arbitraries/config-maps.ts";
import type { Answer } from "../../client/exchange.ts";
import { headerOf, LostAnswer, type Query } from "../../client/client.ts";
import { objectOf } from "../../client/collection.ts";
import { isJsonObject } from "../../client/types.ts";
import type { Violation } from "../../client/findings.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { futureVersion } from "../../runner/future-version.ts";

/**
 * A version that does not exist yet: the server may wait a moment, and then says 504 or when to ask again. It never
 * answers with what it has. One run says all; the requests wait side by side.
 */
export const theFutureIsAwaitedOrRefused = defineCheck({
  id: "the-future-is-awaited-or-refused",
  area: "versions",
  property: "Lists and gets at a version still to come are not answered with the present.",
  requirements: ["versions.future", "versions.future-exact", "versions.future-message", "lists.timeout"],
  features: ["configmaps"],
  cost: "waiting",
  async run(attempt) {
    const collection = await attempt.target.collection("configmaps");
    objectOf(await collection.create(configMap("a")));
    const resourceVersion = futureVersion((await collection.readList()).resourceVersion);
    const path = collection.path;
    const ask = (target: string, query: Record<string, string | number>) =>
      attempt.client.request("GET", target, {
        query: { ...query, resourceVersion },
        // The documents let a server answer so when the version is too large; it then says that.
        retryTooMany: ({ status, text }) => status === 429 && !text.includes(words),
      });
    const bounded = waitedFor(attempt, path, { resourceVersion, timeoutSeconds: 1 });
    const [got, listed, notOlder, notOlderLimited, exact, exactLimited, limited] = await Promise.all([
      ask(collection.pathOf("a"), {}),
      ask(path, {}),
      ask(path, { resourceVersionMatch: "NotOlderThan" }),
      ask(path, { resourceVersionMatch: "NotOlderThan", limit: 1 }),
      ask(path, { resourceVersionMatch: "Exact" }),
      ask(path, { resourceVersionMatch: "Exact", limit: 1 }),
      ask(path, { limit: 1 }),
    ]);
    const judgeMessage = (answer: Answer) => {
      const message = isJsonObject(answer.json) ? String(answer.json["message"] ?? "") : answer.text;
      const { path: asked } = answer.exchange.request;
      const expected = `GET ${asked}: a message with "${words}"`;
      attempt.expect("versions.future-message", message.includes(words), expected, message.slice(0, 300));
    };
    for (const answer of [got, listed, notOlder, notOlderLimited]) {
      attempt.holds("versions.future", judgeTooLarge(answer));
      judgeMessage(answer);
    }
    for (const answer of [exact, exactLimited, limited]) {
      const bare = answer.status === 500;
      // Exactly this version cannot be had, which 410 says as well.
      const promise = answer.status === 410 ? undefined : judgeTooLarge(answer);
      attempt.holdsOrDeviates("exact-future-is-500", "versions.future-exact", promise, bare);
      if (answer.status !== 410 && !bare) judgeMessage(answer);
    }
    const waitedMillis = await bounded;
    const expected = `an answer to a list with timeoutSeconds=1 within ${1 + graceMillis / 1000} s`;
    attempt.expect("lists.timeout", waitedMillis <= 1000 + graceMillis, expected, `one after ${waitedMillis} ms`);
  },
});

/** How long a list has waited for its answer, whatever that says, or until nobody waited any more. */
async function waitedFor({ client, clock }: Attempt, path: string, query: Query): Promise<number> {
  const result = await client.attempt("GET", path, { query });
  const { sentAtMillis, endedAtMillis = clock.nowMillis() } = result.exchange;
  const waitedMillis = endedAtMillis - sentAtMillis;
  if (result instanceof LostAnswer && waitedMillis <= 1000 + graceMillis) throw result; // broken, and not late
  return waitedMillis;
}

/** What is there in time may still be long on its way; and known servers look at their own patience first. */
const graceMillis = 15_000;

const words = "Too large resource version";

function judgeTooLarge(answer: Answer): Violation | undefined {
  const retryAfter = headerOf(answer.headers, "retry-after");
  const { path } = answer.exchange.request;
  const actual = `${answer.status} ${answer.text.slice(0, 300)}`;
  if (retryAfter !== undefined && !/^\d+$/.test(retryAfter)) {
    return { expected: `seconds in the Retry-After for GET ${path}`, actual: `${retryAfter}, with ${actual}` };
  }
  if (answer.status === 504 || (answer.status >= 400 && retryAfter !== undefined)) return undefined;
  return { expected: `504 or a Retry-After for GET ${path}`, actual };
}
