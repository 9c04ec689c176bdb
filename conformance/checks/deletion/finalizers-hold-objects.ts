import fc from "fast-check";
import { headerOf } from "../../client/client.ts";
import { configMap } from "../../arbitraries/config-maps.ts";
import { objectOf } from "../../client/collection.ts";
import type { Collection } from "../../client/collection.ts";
import { type ApiObject, isApiObject } from "../../client/types.ts";
import { describeEvents } from "../../model/history.ts";
import { judgeFates, judgeLifeCycle } from "../../model/stream-law.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { ownLog } from "../../runner/story.ts";

const finalizers = ["example.com/a", "example.com/b", "example.com/c"] as const;
const ways = ["merge", "json", "put"] as const;

/**
 * Property: deletion has two phases. Requested, it sets deletionTimestamp to the current time and the object stays;
 * finalizers go in any order, by any kind of write; with the last of them the object goes, and its name is free.
 */
export const finalizersHoldObjects = defineCheck({
  id: "finalizers-hold-objects",
  area: "deletion",
  property: "An object with finalizers stays, being deleted, until the last of them is gone.",
  requirements: [
    "deletion.finalizers-hold",
    "deletion.answered",
    "deletion.timestamp",
    "deletion.any-order",
    "deletion.last-finalizer",
    "deletion.timestamp-stays",
    "deletion.no-new-finalizers",
    "objects.name-reuse",
  ],
  features: ["configmaps", "watch"],
  input: fc.record({
    removals: fc
      .shuffledSubarray([...finalizers], { minLength: 1 })
      .chain((order) =>
        fc.tuple(
          ...order.map((finalizer) => fc.record({ finalizer: fc.constant(finalizer), way: fc.constantFrom(...ways) })),
        ),
      ),
    again: fc.boolean(),
    grace: fc.constantFrom(undefined, 0, 30),
  }),
  async run(attempt, { removals, again, grace }) {
    const collection = await attempt.target.collection("configmaps");
    const { resourceVersion } = await collection.readList();
    const watch = await attempt.openWatch(collection, { resourceVersion });
    let left: string[] = removals.map(({ finalizer }) => finalizer).sort();
    const created = objectOf(await collection.create(configMap("a", { finalizers: left })));
    const before = await attempt.fence(collection);
    const options = grace === undefined ? undefined : { gracePeriodSeconds: grace };
    const answer = await collection.delete("a", options);
    attempt.expect(
      "deletion.finalizers-hold",
      answer.status < 300,
      "the deletion accepted",
      `${answer.status} ${answer.text.slice(0, 200)}`,
    );
    const after = await attempt.fence(collection);
    const isShown = isApiObject(answer.json) && answer.json["kind"] !== "Status";
    const isGoing = isShown && (answer.json as ApiObject).metadata.deletionTimestamp != null;
    attempt.expect(
      "deletion.answered",
      isGoing === isShown,
      "an object that is being deleted",
      answer.text.slice(0, 400),
    );

    const held = await readHeld(collection);
    attempt.expect(
      "deletion.finalizers-hold",
      held !== undefined && held.metadata.uid === created.metadata.uid,
      `the object, held by ${left.join(", ")}`,
      "404",
    );
    const stamp = held?.metadata.deletionTimestamp ?? undefined;
    const current =
      isBetween(
        stamp,
        before.metadata.creationTimestamp,
        after.metadata.creationTimestamp,
        attempt.clockLeewayMillis,
      ) || isNow(stamp, headerOf(answer.headers, "date"));
    attempt.expect(
      "deletion.timestamp",
      current,
      `a time from ${before.metadata.creationTimestamp} to ${after.metadata.creationTimestamp}`,
      String(stamp),
    );
    if (again) await collection.delete("a", options);

    const grown = await collection.patch("a", "merge", { metadata: { finalizers: [...left, "example.com/new"] } });
    attempt.expect(
      "deletion.no-new-finalizers",
      grown.status >= 400 && grown.status < 500,
      "a refusal of a new finalizer",
      `${grown.status} ${grown.text.slice(0, 300)}`,
    );

    for (const { finalizer, way } of removals) {
      const object = await readHeld(collection);
      attempt.expect("deletion.any-order", object !== undefined, `the object, held by ${left.join(", ")}`, "404");
      attempt.expect(
        "deletion.timestamp-stays",
        object?.metadata.deletionTimestamp === stamp || isSetBack(attempt, object, stamp),
        `deletionTimestamp ${stamp}`,
        String(object?.metadata.deletionTimestamp),
      );
      left = left.filter((other) => other !== finalizer);
      const removed = await withFinalizers(collection, object as ApiObject, left, way);
      attempt.expect(
        "deletion.any-order",
        removed.status === 200,
        `200 for the removal of ${finalizer} by ${way}`,
        `${removed.status} ${removed.text.slice(0, 300)}`,
      );
    }
    const gone = await collection.get("a");
    attempt.expect(
      "deletion.last-finalizer",
      gone.status === 404,
      "404 once the last finalizer is gone",
      `${gone.status} ${gone.text.slice(0, 300)}`,
    );
    const reborn = objectOf(await collection.create(configMap("a")), "objects.name-reuse");
    attempt.expect(
      "objects.name-reuse",
      reborn.metadata.uid !== created.metadata.uid,
      "a new uid",
      String(reborn.metadata.uid),
    );

    const log = ownLog(attempt, collection, await attempt.untilFence(watch, await attempt.fence(collection)));
    const life = log.filter((event) => event.uid === created.metadata.uid);
    if (attempt.clockSkewMillis === 0) attempt.holds("deletion.timestamp-stays", judgeFates(life));
    attempt.holds("deletion.finalizers-hold", judgeLifeCycle(life));
    attempt.expect(
      "deletion.last-finalizer",
      life.at(-1)?.type === "DELETED",
      "DELETED as the last event of the object",
      describeEvents(life),
    );
  },
});

async function readHeld(collection: Collection): Promise<ApiObject | undefined> {
  const answer = await collection.get("a");
  return answer.status === 200 && isApiObject(answer.json) ? answer.json : undefined;
}

function withFinalizers(
  collection: Collection,
  object: ApiObject,
  left: readonly string[],
  way: (typeof ways)[number],
) {
  if (way === "merge")
    return collection.patch("a", "merge", { metadata: { finalizers: left.length === 0 ? null : left } });
  if (way === "json")
    return collection.patch("a", "json", [{ op: "replace", path: "/metadata/finalizers", value: left }]);
  return collection.put("a", { ...object, metadata: { ...object.metadata, finalizers: left } });
}

/** By the clock of the server that answered the deletion: another one's may be ahead of it, or behind. */
function isNow(time: string | undefined, date: string | undefined): boolean {
  return Math.abs(Date.parse(time ?? "") - Date.parse(date ?? "")) <= 2000;
}

/** Where clocks differ, a server to which the deletion lies in the future may take its own time for it. */
function isSetBack(attempt: Attempt, object: ApiObject | undefined, stamp: string | undefined): boolean {
  const backMillis = Date.parse(stamp ?? "") - Date.parse(object?.metadata.deletionTimestamp ?? "");
  return backMillis > 0 && backMillis <= Math.max(1000, attempt.clockLeewayMillis);
}

/** In whole seconds. */
function isBetween(
  time: string | undefined,
  from: string | null | undefined,
  to: string | null | undefined,
  leewayMillis: number,
): boolean {
  if (time === undefined || from == null || to == null) return false;
  const [at, first, last] = [time, from, to].map((text) => Date.parse(text)) as [number, number, number];
  return at >= first - leewayMillis && at <= last + leewayMillis;
}
