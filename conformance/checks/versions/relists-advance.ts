import fc from "fast-check";
import { configMap } from "../../arbitraries/config-maps.ts";
import type { Query } from "../../client/client.ts";
import { type Collection, listOf, objectOf } from "../../client/collection.ts";
import { defineCheck } from "../../runner/define-check.ts";

/**
 * Property: a client that lists NotOlderThan its last version again and again comes to see newer state, with a limit
 * too. No single answer is wrong when it is old; being stuck is. Nobody promises how soon, so the check has patience.
 */
export const relistsAdvance = defineCheck({
  id: "relists-advance",
  area: "versions",
  property: "Lists not older than a version do not stay at that version for ever.",
  requirements: ["versions.not-older-advances"],
  features: ["configmaps"],
  input: fc.record({ limit: fc.integer({ min: 1, max: 5 }), later: fc.integer({ min: 1, max: 3 }) }),
  async run(attempt, { limit, later }) {
    const collection = await attempt.target.collection("configmaps");
    objectOf(await collection.create(configMap("a-first")));
    const { resourceVersion } = await collection.readList();
    for (let index = 0; index < later; index += 1) objectOf(await collection.create(configMap(`b-${index}`)));
    await collection.readList(); // most recent: the server has seen the newer state
    for (const size of [{ limit }, {}]) {
      const query = { ...size, resourceVersion, resourceVersionMatch: "NotOlderThan" };
      const deadlineMillis = attempt.clock.nowMillis() + 10_000;
      let shown = await versionShown(collection, query);
      while (shown === resourceVersion && attempt.clock.nowMillis() < deadlineMillis) {
        await attempt.client.pause(500);
        shown = await versionShown(collection, query);
      }
      attempt.expect(
        "versions.not-older-advances",
        shown !== resourceVersion,
        `a version newer than ${resourceVersion} within 10 s`,
        `still ${resourceVersion} for ${JSON.stringify(query)}`,
      );
    }
  },
});

/** Undefined when the version is too old: then the client begins again, and is not stuck. */
async function versionShown(collection: Collection, query: Query): Promise<string | undefined> {
  const answer = await collection.list(query);
  return answer.status === 410 ? undefined : listOf(answer).resourceVersion;
}
