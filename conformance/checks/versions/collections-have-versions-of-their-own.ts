import fc from "fast-check";
import { anyStep } from "../../arbitraries/programs.ts";
import { LostAnswer, type Query } from "../../client/client.ts";
import type { Collection } from "../../client/collection.ts";
import { type ApiList, type ApiObject, isApiObject } from "../../client/types.ts";
import { type Happening, judgeGoesOn, judgeListVersions } from "../../model/collection-version.ts";
import { judgeReplay } from "../../model/replay.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { Memory, perform } from "../../runner/perform.ts";
import { ownLog } from "../../runner/story.ts";

/** How the collection is looked at. Only what is read for the most recent state must be newer than what came before. */
const looks = {
  recent: { query: () => ({}), fresh: true, what: "all" },
  any: { query: () => ({ resourceVersion: "0" }), fresh: false, what: "all" },
  "not older": {
    query: (resourceVersion: string) => ({ resourceVersion, resourceVersionMatch: "NotOlderThan" }),
    fresh: false,
    what: "all",
  },
  selected: { query: () => ({ labelSelector: "team=red" }), fresh: true, what: "team=red" },
} as const satisfies Record<string, { query: (version: string) => Query; fresh: boolean; what: string }>;
type Look = keyof typeof looks;

interface Looked {
  readonly list: ApiList;
  readonly what: string;
}

/**
 * Property: a list's version is that of the list: no older than the last change, though the newest object be gone or not
 * selected; the same only while the state is the same; and a watch goes on from there.
 * Method: one writer, who looks after some of its writes, so that the order of all is known without comparing versions.
 */
export const collectionsHaveVersionsOfTheirOwn = defineCheck({
  id: "collections-have-versions-of-their-own",
  area: "versions",
  property: "The version of a list says when it was built, whatever versions its items have.",
  requirements: ["versions.collection"],
  features: ["configmaps", "watch"],
  input: fc.array(fc.record({ step: anyStep(), look: fc.option(fc.constantFrom(...(Object.keys(looks) as Look[]))) }), {
    minLength: 1,
    maxLength: 7,
  }),
  examples: [
    // The newest object goes; then the only one that is selected is not the newest.
    [
      { step: { do: "create", name: "a", team: "red", cut: false }, look: "selected" },
      { step: { do: "create", name: "b", team: "blue", cut: false }, look: "selected" },
      { step: { do: "delete", name: "b", cut: false }, look: "recent" },
      { step: { do: "delete", name: "a", cut: false }, look: "any" },
    ],
    // What is selected goes and comes back, of one uid.
    [
      { step: { do: "create", name: "a", team: "red", cut: false }, look: "selected" },
      { step: { do: "merge-patch", name: "a", team: "blue", base: "current", cut: false }, look: "selected" },
      { step: { do: "put", name: "a", team: "red", base: "none", cut: false }, look: "recent" },
    ],
  ],
  async run(attempt, program) {
    const collection = await attempt.target.collection("configmaps");
    const memory = new Memory();
    const first = await look(attempt, collection, "recent", "");
    const happenings: Happening[] = [first];
    const looked: Looked[] = [first];
    for (const { step, look: way } of program) {
      const answer = await perform(collection, step, memory, { writes: [], reads: [] });
      if (step.do !== "get" && !(answer instanceof LostAnswer) && answer.status < 300) {
        const object = step.do !== "delete" && isApiObject(answer.json) ? answer.json : undefined;
        happenings.push({ did: "write", version: object?.metadata.resourceVersion });
      }
      if (way === null) continue;
      const seen = await look(attempt, collection, way, (looked.at(-1) as Looked).list.resourceVersion);
      happenings.push(seen);
      looked.push(seen);
    }
    attempt.holds("versions.collection", judgeListVersions(happenings));
    await judgeWatches(attempt, collection, looked);
  },
});

async function look(attempt: Attempt, collection: Collection, way: Look, version: string) {
  const { query, fresh, what } = looks[way];
  const list = await collection.readList(query(version));
  const items = attempt.target.own(collection, list.items);
  return { did: "list", list: { ...list, items }, fresh, what } as const;
}

/** A watch from each list, all to one end. The mark wears the label that is selected. */
async function judgeWatches(attempt: Attempt, collection: Collection, looked: readonly Looked[]): Promise<void> {
  const lasts = await Promise.all([collection.readList(), collection.readList({ labelSelector: "team=red" })]);
  const fence = await attempt.fence(collection, { team: "red" });
  const ends = new Map(["all", "team=red"].map((what, index) => [what, ownItems(attempt, collection, lasts, index)]));
  for (const { list, what } of looked) {
    const { resourceVersion } = list;
    const selector = what === "all" ? {} : { labelSelector: what };
    const watch = await attempt.openWatch(collection, { resourceVersion, ...selector });
    const log = ownLog(attempt, collection, await attempt.untilFence(watch, fence));
    watch.close();
    attempt.holds("versions.collection", judgeGoesOn(list, log, what === "all" ? "all" : "selected"));
    attempt.holds("versions.collection", judgeReplay(list.items, log, ends.get(what) as readonly ApiObject[]));
  }
}

function ownItems(attempt: Attempt, collection: Collection, lists: readonly ApiList[], index: number): ApiObject[] {
  return attempt.target.own(collection, (lists[index] as ApiList).items);
}
