import fc from "fast-check";
import { configMap } from "../../arbitraries/config-maps.ts";
import { type Collection, objectOf } from "../../client/collection.ts";
import { shownAnswer } from "../../client/status-document.ts";
import type { ApiObject } from "../../client/types.ts";
import { defineCheck } from "../../runner/define-check.ts";

const all = ["example.com/a", "example.com/b", "example.com/c", "example.com/d"];
const verbs = ["put", "merge", "json", "strategic"] as const;

/**
 * Property: the finalizers of an object are a shared list that whoever may write it may put into another order, while it
 * lives and while it goes; nothing else comes of it.
 * Method: an object with some finalizers, and random orders of them, by every verb that can replace a list.
 */
export const finalizersMayBeReordered = defineCheck({
  id: "finalizers-may-be-reordered",
  area: "deletion",
  property: "Finalizers can be put into any order, also while their object goes.",
  requirements: ["deletion.finalizers-reordered"],
  features: ["configmaps"],
  input: fc.integer({ min: 2, max: all.length }).chain((count) => {
    const own = all.slice(0, count);
    return fc.record({
      orders: fc.array(
        fc.record({
          order: fc.shuffledSubarray(own, { minLength: count, maxLength: count }),
          by: fc.constantFrom(...verbs),
        }),
        { minLength: 1, maxLength: 3 },
      ),
      own: fc.constant(own),
      /** Before which of the orders the object's deletion is asked for; none when it is past them. */
      deletedAt: fc.nat(3),
    });
  }),
  async run(attempt, { orders, own, deletedAt }) {
    const collection = await attempt.target.collection("configmaps");
    let known = objectOf(await collection.create(configMap("a", { data: { kept: "yes" }, finalizers: own })));
    for (const [index, { order, by }] of orders.entries()) {
      if (index === deletedAt) {
        await collection.delete("a");
        known = objectOf(await collection.get("a"), "deletion.finalizers-hold");
      }
      const answer = await reorder(collection, known, order, by);
      const shown = `the finalizers in the order ${order.join(", ")} by ${by}${index >= deletedAt ? ", while it goes" : ""}`;
      const judge = (holds: boolean, actual: string) =>
        attempt.expect("deletion.finalizers-reordered", holds, shown, actual);
      judge(answer.status === 200, shownAnswer(answer));
      const read = objectOf(await collection.get("a"), "deletion.finalizers-hold");
      const { finalizers, deletionTimestamp, uid } = read.metadata;
      judge(finalizers?.join() === order.join(), JSON.stringify(finalizers));
      const isOtherwise = uid !== known.metadata.uid || deletionTimestamp !== known.metadata.deletionTimestamp;
      judge(!isOtherwise, `another object: ${JSON.stringify(read.metadata)}`);
      known = read;
    }
  },
});

function reorder(collection: Collection, known: ApiObject, finalizers: readonly string[], by: (typeof verbs)[number]) {
  if (by === "put") return collection.put("a", { ...known, metadata: { ...known.metadata, finalizers } });
  if (by === "json") {
    return collection.patch("a", "json", [{ op: "replace", path: "/metadata/finalizers", value: finalizers }]);
  }
  // A strategic merge adds to the list unless it is told its order.
  const order = by === "strategic" ? { "$setElementOrder/finalizers": finalizers } : {};
  return collection.patch("a", by, { metadata: { finalizers, ...order } });
}
