import fc from "fast-check";
import { configMap } from "../../arbitraries/config-maps.ts";
import { objectOf } from "../../client/collection.ts";
import { type ApiObject, versionOf } from "../../client/types.ts";
import { defineCheck } from "../../runner/define-check.ts";

/**
 * Property: of several PUTs sent at once from one version at most one succeeds, and the others are told 409.
 * Rounds of read-modify-write lose nothing: the counter ends at the number of successes.
 */
export const putsFromOneVersion = defineCheck({
  id: "puts-from-one-version",
  area: "writes",
  property: "Of several PUTs from one version at most one succeeds.",
  requirements: ["writes.no-lost-update", "writes.stale-put", "writes.current-put"],
  features: ["configmaps"],
  input: fc.record({ writers: fc.integer({ min: 2, max: 4 }), rounds: fc.integer({ min: 1, max: 3 }) }),
  async run(attempt, { writers, rounds }) {
    const collection = await attempt.target.collection("configmaps");
    objectOf(await collection.create(configMap("counter", { data: { count: "0" } })));
    let successes = 0;
    for (let round = 0; round < rounds; round += 1) {
      const base = objectOf(await collection.get("counter"));
      const next = { data: { count: String(countOf(base) + 1) }, resourceVersion: versionOf(base) };
      const answers = await Promise.all(
        // Each writer's object differs, so that none of them is the same write twice.
        Array.from({ length: writers }, (_, writer) =>
          collection.put(
            "counter",
            configMap("counter", { ...next, data: { ...next.data, writer: `${round}-${writer}` } }),
          ),
        ),
      );
      const statuses = answers.map((answer) => answer.status).join(", ");
      const succeeded = answers.filter((answer) => answer.status === 200);
      attempt.expect(
        "writes.no-lost-update",
        succeeded.length <= 1,
        `at most one of ${writers} PUTs from version ${versionOf(base)} succeeds`,
        statuses,
      );
      const refused = answers.filter((answer) => answer.status !== 200);
      attempt.expect(
        "writes.stale-put",
        refused.every((answer) => answer.status === 409),
        "409 for the others",
        statuses,
      );
      successes += succeeded.length;
      // Nobody else writes: from the version that is current now a PUT has to succeed.
      const alone = objectOf(await collection.get("counter"));
      const sent = configMap("counter", {
        data: { count: String(countOf(alone) + 1) },
        resourceVersion: versionOf(alone),
      });
      const answer = await collection.put("counter", sent);
      attempt.expect(
        "writes.current-put",
        answer.status === 200,
        `200 for a PUT from the current version ${versionOf(alone)}`,
        `${answer.status} ${answer.text.slice(0, 200)}`,
      );
      successes += 1;
    }
    const end = countOf(objectOf(await collection.get("counter")));
    attempt.expect(
      "writes.no-lost-update",
      end === successes,
      `the counter at ${successes}, one a success`,
      String(end),
    );
  },
});

function countOf(object: ApiObject): number {
  return Number((object["data"] as Record<string, string>)["count"]);
}
