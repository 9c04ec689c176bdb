import { configMap } from "../../arbitraries/config-maps.ts";
import type { Query } from "../../client/client.ts";
import { type Collection, listOf, objectOf } from "../../client/collection.ts";
import { type ApiList, type ApiObject, isJsonObject } from "../../client/types.ts";
import { isFailureStatus, shownStatus } from "../../client/status-document.ts";
import { Inconclusive } from "../../client/findings.ts";
import { judgeSnapshot } from "../../model/page-law.ts";
import { stateOf } from "../../model/replay.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineAgedCheck } from "../../runner/define-check.ts";
import { pollUntil } from "../../runner/poll.ts";

/** A list at exactly an old version is the whole of it, for as long as it can be had, and then 410. Never a part. */
export const exactListsExpire = defineAgedCheck({
  id: "exact-lists-expire",
  area: "expiry",
  property: "An Exact list at an old version is whole or answered 410.",
  requirements: ["expiry.exact-gone", "expiry.exact-whole", "expiry.reason", "expiry.limited-not-older"],
  features: ["configmaps"],
  async capture(attempt) {
    const collection = await attempt.target.collection("configmaps");
    const created = [];
    for (const name of ["a", "b", "c"]) created.push(objectOf(await collection.create(configMap(name))));
    const { resourceVersion } = await collection.readList();
    await collection.delete("a");
    objectOf(await collection.patch("b", "merge", { data: { value: "newer" } }));
    objectOf(await collection.create(configMap("d")));
    judgeWhole(attempt, collection, created, await collection.readList(exactly(resourceVersion)), resourceVersion);
    return { collection, created, resourceVersion };
  },
  async settle(attempt, { collection, created, resourceVersion }, deadlineMillis) {
    const query = exactly(resourceVersion);
    let partsServed = 0; // after the whole was gone: another front-end may know the version a little longer
    const expired = await pollUntil(attempt, deadlineMillis, async () => {
      const answer = await collection.list(query);
      if (answer.status === 200) judgeWhole(attempt, collection, created, listOf(answer), resourceVersion);
      if (answer.status !== 410) return answer.status === 200 ? undefined : answer;
      const limited = await collection.list({ ...query, limit: 1 });
      if (limited.status === 410) return answer;
      partsServed += 1;
      attempt.expect("expiry.exact-gone", partsServed < 5, "410 with a limit, too", `${limited.status}`);
      return undefined;
    });
    if (expired === undefined)
      throw new Inconclusive(`version ${resourceVersion} was still there when the time allowed was over`);
    const actual = `${expired.status} ${expired.text.slice(0, 400)}`;
    attempt.expect("expiry.exact-gone", expired.status === 410, "410 for a version that is gone", actual);
    const reason = isJsonObject(expired.json) ? expired.json["reason"] : undefined;
    attempt.expect("expiry.reason", reason === "Expired", "reason Expired", actual);
    await judgeNotOlder(attempt, collection, resourceVersion);
  },
});

/** Not older than a version that is gone: refused as such, or the state of some moment since, whole or its first page. */
async function judgeNotOlder(attempt: Attempt, collection: Collection, resourceVersion: string): Promise<void> {
  for (const limit of [1, 500]) {
    const answer = await collection.list({ resourceVersion, resourceVersionMatch: "NotOlderThan", limit });
    const isGone = shownStatus(answer).startsWith("410") && isFailureStatus(answer);
    const names = answer.status === 200 ? namesIn(attempt, collection, listOf(answer)) : undefined;
    const holds = isGone || (names !== undefined && states.some((state) => state.slice(0, limit).join() === names));
    const expected = `410, or ${states.map((state) => state.slice(0, limit).join()).join(" or ")}, with a limit of ${limit}`;
    attempt.expect(
      "expiry.limited-not-older",
      holds,
      expected,
      `${answer.status} ${names ?? answer.text.slice(0, 200)}`,
    );
  }
}

/** Since the version, in order. */
const states = [
  ["a", "b", "c"],
  ["b", "c"],
  ["b", "c", "d"],
];

function namesIn(attempt: Attempt, collection: Collection, { items }: ApiList): string {
  const own = attempt.target.own(collection, items);
  return own
    .map(({ metadata }) => metadata.name)
    .sort()
    .join();
}

function exactly(resourceVersion: string): Query {
  return { resourceVersion, resourceVersionMatch: "Exact" };
}

function judgeWhole(
  attempt: Attempt,
  collection: Collection,
  created: readonly ApiObject[],
  list: ApiList,
  version: string,
): void {
  const own = { ...list, items: attempt.target.own(collection, list.items) };
  attempt.expect("expiry.exact-whole", list.resourceVersion === version, `version ${version}`, list.resourceVersion);
  attempt.holds("expiry.exact-whole", judgeSnapshot([own], stateOf(created)));
}
