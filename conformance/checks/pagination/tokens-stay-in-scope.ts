import fc from "fast-check";
import { configMap } from "../../arbitraries/config-maps.ts";
import { type Collection, listOf, objectOf } from "../../client/collection.ts";
import type { JsonObject } from "../../client/types.ts";
import { alteredTokens } from "../../model/continue-tokens.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";

/**
 * Property: whatever a token says, a list shows only objects of the collection in its path.
 * Method: tokens of one collection are sent to others, and tokens that turn out to be readable are altered in each of
 * their texts, the way somebody would who wants to read a neighbour's objects. A refusal is as good as an empty page.
 */
export const tokensStayInScope = defineCheck({
  id: "tokens-stay-in-scope",
  area: "pagination",
  property: "No token, used elsewhere or altered, shows objects outside the collection.",
  requirements: ["pages.token-scope", "pages.bad-token"],
  features: ["configmaps", "namespaces"],
  input: fc.record({
    limit: fc.integer({ min: 1, max: 2 }),
    /** A neighbour whose name sorts before or after ours. */
    neighbour: fc.constantFrom("-0", "0", "b"),
    climb: fc.constantFrom("../", "../../", "/", "", "/../"),
    garbage: fc.base64String({ minLength: 4, maxLength: 24 }),
  }),
  async run(attempt, { limit, neighbour, climb, garbage }) {
    const ours = await attempt.target.collection("configmaps");
    const theirs = await attempt.target.collection("configmaps", neighbour);
    const ourNamespace = await attempt.target.namespace();
    const theirNamespace = await attempt.target.namespace(neighbour);
    for (const collection of [ours, theirs]) {
      for (const name of ["a", "b", "c"]) objectOf(await collection.create(configMap(name)));
    }
    const first = await ours.readList({ limit });
    const token = first.continueToken;
    if (token === undefined) return; // the only page: there is nothing to send elsewhere

    await judgeScope(attempt, theirs, token, theirNamespace);
    for (const [resource, kind] of otherTypes) await judgeType(attempt, resource, kind, token);
    const targets = [
      `${climb}${theirNamespace}/`,
      `${climb}${theirNamespace}/a`,
      climb,
      `configmaps/${theirNamespace}/`,
      `secrets/${theirNamespace}/`,
      `/registry/secrets/${theirNamespace}/`,
    ];
    for (const altered of targets.flatMap((target) => alteredTokens(token, target))) {
      await judgeScope(attempt, ours, altered, ourNamespace);
    }
    const answer = await ours.list({ limit, continue: `${garbage}!` });
    attempt.expect(
      "pages.bad-token",
      answer.status === 400,
      "400 for a continue value that is no token",
      String(answer.status),
    );
  },
});

/** Types with objects of their own names, before and after those of the token's. */
const otherTypes = [
  ["secrets", "Secret"],
  ["podtemplates", "PodTemplate"],
] as const;

/** A token of ConfigMaps, sent to a list of another type: what is shown is of that type, and none of the names that only others have. */
async function judgeType(attempt: Attempt, resource: string, kind: string, token: string): Promise<void> {
  const namespace = await attempt.target.namespace();
  const collection = await attempt.target.collection(resource);
  const answer = await collection.list({ limit: 10, continue: token });
  if (answer.status !== 200) return;
  const list = answer.json as JsonObject;
  const items = listOf(answer).items;
  const stray = items.find(
    ({ metadata, kind: shown }) =>
      metadata.namespace !== namespace ||
      ["a", "b", "c"].includes(metadata.name) ||
      (shown !== undefined && shown !== kind),
  );
  const isOfType = list["kind"] === `${kind}List` && stray === undefined;
  const expected = `only objects of ${resource} in ${namespace}, or a refusal`;
  attempt.expect("pages.token-scope", isOfType, expected, `${String(list["kind"])} with ${JSON.stringify(stray)}`);
}

async function judgeScope(attempt: Attempt, collection: Collection, token: string, namespace: string): Promise<void> {
  const answer = await collection.list({ limit: 10, continue: token });
  const stray =
    answer.status === 200 ? listOf(answer).items.find((item) => item.metadata.namespace !== namespace) : undefined;
  attempt.expect(
    "pages.token-scope",
    stray === undefined,
    `only objects of ${namespace}, or a refusal`,
    `${stray?.metadata.namespace}/${stray?.metadata.name}`,
  );
}
