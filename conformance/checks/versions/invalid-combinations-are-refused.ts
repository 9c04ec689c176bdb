import { configMap } from "../../arbitraries/config-maps.ts";
import type { Query } from "../../client/client.ts";
import { objectOf } from "../../client/collection.ts";
import { judgeSnapshot } from "../../model/page-law.ts";
import { stateOf } from "../../model/replay.ts";
import { defineCheck } from "../../runner/define-check.ts";

/** The cells of the table that are no valid requests, and the two that tokens have of their own. One run says all. */
export const invalidCombinationsAreRefused = defineCheck({
  id: "invalid-combinations-are-refused",
  area: "versions",
  property: "Combinations that the table calls invalid are refused.",
  requirements: [
    "versions.match-alone",
    "versions.exact-zero",
    "versions.match-values",
    "versions.continue-other",
    "versions.continue-zero",
    "versions.unparsable",
    "watch.match-alone",
  ],
  features: ["configmaps", "watch"],
  async run(attempt) {
    const collection = await attempt.target.collection("configmaps");
    const objects = [];
    for (const name of ["a", "b", "c"]) objects.push(objectOf(await collection.create(configMap(name))));
    const { resourceVersion } = await collection.readList();
    const first = await collection.readList({ limit: 1 });
    const refused = async (requirement: string, query: Query, statuses: readonly number[]) => {
      const answer = await collection.list(query);
      const expected = `${JSON.stringify(query)} answered ${statuses.join(" or ")}`;
      attempt.expect(
        requirement,
        statuses.includes(answer.status),
        expected,
        `${answer.status} ${answer.text.slice(0, 200)}`,
      );
    };
    const invalid = attempt.profile.invalidOptionStatuses;
    for (const size of [{}, { limit: 1 }]) {
      await refused("versions.match-alone", { ...size, resourceVersionMatch: "Exact" }, invalid);
      await refused("versions.match-alone", { ...size, resourceVersionMatch: "NotOlderThan" }, invalid);
      await refused("versions.exact-zero", { ...size, resourceVersion: "0", resourceVersionMatch: "Exact" }, invalid);
      await refused("versions.match-values", { ...size, resourceVersion, resourceVersionMatch: "Sometimes" }, invalid);
      const { unparsableVersionStatuses } = attempt.profile;
      await refused("versions.unparsable", { ...size, resourceVersion: "not-a-version" }, unparsableVersionStatuses);
    }
    for (const resourceVersionMatch of ["NotOlderThan", "Exact"]) {
      const asked = { resourceVersion, resourceVersionMatch };
      const watch = await attempt.answeredWatch(() => collection.watch({ ...asked, timeoutSeconds: 1 }));
      watch.close();
      const expected = `a watch with ${JSON.stringify(asked)} answered ${invalid.join(" or ")}`;
      attempt.expect("watch.match-alone", invalid.includes(watch.status ?? 0), expected, String(watch.status));
    }
    const token = first.continueToken;
    attempt.expect("pages.end", token !== undefined, "a token, for two more items exist", "none");
    await refused("versions.continue-other", { limit: 1, continue: token, resourceVersion }, [400]);

    const second = await collection.readList({ limit: 500, continue: token, resourceVersion: "0" });
    const own = [first, second].map((page) => ({ ...page, items: attempt.target.own(collection, page.items) }));
    attempt.holds("versions.continue-zero", judgeSnapshot(own, stateOf(objects)));
  },
});
