import fc from "fast-check";
import { anyStep } from "../../arbitraries/programs.ts";
import type { Query } from "../../client/client.ts";
import type { Collection } from "../../client/collection.ts";
import type { ApiList } from "../../client/types.ts";
import type { Violation } from "../../client/findings.ts";
import { judgeConstantVersion, judgeSnapshot } from "../../model/page-law.ts";
import { judgeSameState, type State, stateOf } from "../../model/replay.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { Memory, perform } from "../../runner/perform.ts";

/** The cells of the table that answer with a collection: which states a list may show. */
const ways = {
  "most recent": { query: () => ({}), requirement: "versions.list-most-recent", shows: "last" },
  "most recent, limited": {
    query: (_v: string, limit: number) => ({ limit }),
    requirement: "versions.list-most-recent",
    shows: "last",
  },
  any: { query: () => ({ resourceVersion: "0" }), requirement: "versions.list-any", shows: "some" },
  "any, limited": {
    query: (_v: string, limit: number) => ({ resourceVersion: "0", limit }),
    requirement: "versions.list-any",
    shows: "some",
  },
  "any, not older": {
    query: () => ({ resourceVersion: "0", resourceVersionMatch: "NotOlderThan" }),
    requirement: "versions.list-any",
    shows: "some",
  },
  "at a version": {
    query: (v: string) => ({ resourceVersion: v }),
    requirement: "versions.list-not-older",
    shows: "from",
  },
  "not older": {
    query: (v: string) => ({ resourceVersion: v, resourceVersionMatch: "NotOlderThan" }),
    requirement: "versions.list-not-older",
    shows: "from",
  },
  "not older, limited": {
    query: (v: string, limit: number) => ({ resourceVersion: v, resourceVersionMatch: "NotOlderThan", limit }),
    requirement: "versions.list-not-older",
    shows: "from",
  },
  "at a version, limited": {
    query: (v: string, limit: number) => ({ resourceVersion: v, limit }),
    requirement: "versions.list-limit-exact",
    shows: "exact",
  },
  exact: {
    query: (v: string) => ({ resourceVersion: v, resourceVersionMatch: "Exact" }),
    requirement: "versions.list-exact",
    shows: "exact",
  },
  "exact, limited": {
    query: (v: string, limit: number) => ({ resourceVersion: v, resourceVersionMatch: "Exact", limit }),
    requirement: "versions.list-exact",
    shows: "exact",
  },
} as const satisfies Record<
  string,
  { query: (version: string, limit: number) => Query; requirement: string; shows: string }
>;

interface Moment {
  readonly version: string;
  readonly state: State;
}

/**
 * Property: each way of listing shows a state that the table allows it to show.
 * Method: one writer, so that after each write a most recent list gives the state and a version for it. The states
 * before and after a version are known by their place, never by comparing versions.
 */
export const listsAtAVersion = defineCheck({
  id: "lists-at-a-version",
  area: "versions",
  property: "Lists show the state that their version, match and limit promise.",
  requirements: [
    "versions.list-exact",
    "versions.list-limit-exact",
    "versions.list-not-older",
    "versions.list-any",
    "versions.list-most-recent",
    "expiry.exact-whole",
  ],
  features: ["configmaps"],
  input: fc.record({
    steps: fc.array(anyStep(), { minLength: 1, maxLength: 8 }),
    pick: fc.nat(),
    limit: fc.integer({ min: 1, max: 3 }),
  }),
  async run(attempt, { steps, pick, limit }) {
    const collection = await attempt.target.collection("configmaps");
    const memory = new Memory();
    const moments: Moment[] = [await momentOf(attempt, collection)];
    for (const step of steps) {
      await perform(collection, step, memory, { writes: [], reads: [] });
      moments.push(await momentOf(attempt, collection));
    }
    const place = pick % moments.length;
    const { version } = moments[place] as Moment;
    for (const way of Object.values(ways)) {
      const pages = await collection.pages(way.query(version, limit));
      const own = pages.map((page): ApiList => ({ ...page, items: attempt.target.own(collection, page.items) }));
      attempt.holds(way.requirement, judgeShown(way.shows, moments, place, own));
      if (way.shows === "exact") attempt.holds("expiry.exact-whole", judgeShown("exact", moments, place, own));
    }
  },
});

async function momentOf(attempt: Attempt, collection: Collection): Promise<Moment> {
  const list = await collection.readList();
  return { version: list.resourceVersion, state: stateOf(attempt.target.own(collection, list.items)) };
}

function judgeShown(
  shows: string,
  moments: readonly Moment[],
  place: number,
  pages: readonly ApiList[],
): Violation | undefined {
  const exact = moments[place] as Moment;
  const inconstant = judgeConstantVersion(pages);
  if (inconstant !== undefined) return inconstant;
  if (shows === "exact") {
    const version = pages[0]?.resourceVersion;
    if (version === exact.version) return judgeSnapshot(pages, exact.state);
    return { expected: `a list of exactly version ${exact.version}`, actual: `version ${version}` };
  }
  const first = shows === "last" ? moments.length - 1 : shows === "from" ? place : 0;
  const allowed = moments.slice(first);
  if (shows === "some") allowed.unshift({ version: "", state: new Map() }); // from before the first write, too
  if (allowed.some((moment) => judgeSnapshot(pages, moment.state) === undefined)) return undefined;
  return judgeSameState((allowed.at(-1) as Moment).state, stateOf(pages.flatMap((page) => page.items)), {
    expected: `the newest of ${allowed.length} states that will do`,
    actual: "the list",
  });
}
