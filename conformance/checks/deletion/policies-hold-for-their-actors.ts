import fc from "fast-check";
import { configMap } from "../../arbitraries/config-maps.ts";
import { objectOf } from "../../client/collection.ts";
import type { Collection } from "../../client/collection.ts";
import { isApiObject } from "../../client/types.ts";
import { describeEvents, type LogEvent } from "../../model/history.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { ownLog } from "../../runner/story.ts";

const hold = "example.com/hold";
const finalizerOf = { Orphan: "orphan", Foreground: "foregroundDeletion" } as const;

/**
 * Property: a policy that leaves work to an actor holds the object with that actor's finalizer, once: when the actor
 * is done, asking again does not hold the object for good.
 * Method: the actor may be there or not, so what it would do is done here; the watch shows every state in between.
 */
export const policiesHoldForTheirActors = defineCheck({
  id: "policies-hold-for-their-actors",
  area: "deletion",
  property: "Propagation policies add their actor's finalizer, and only once.",
  requirements: ["deletion.propagation", "deletion.foreground-once"],
  features: ["configmaps", "watch"],
  input: fc.record({
    policy: fc.constantFrom("Orphan", "Foreground", "Background"),
    repeats: fc.integer({ min: 1, max: 2 }),
  }),
  examples: [{ policy: "Foreground", repeats: 1 }],
  async run(attempt, { policy, repeats }) {
    const collection = await attempt.target.collection("configmaps");
    const created = objectOf(await collection.create(configMap("a", { finalizers: [hold] })));
    const watch = await attempt.openWatch(collection, { resourceVersion: created.metadata.resourceVersion });
    await collection.delete("a", { propagationPolicy: policy });
    const log = ownLog(attempt, collection, await attempt.untilFence(watch, await attempt.fence(collection)));
    watch.close();
    const finalizers = firstDeleting(log)?.object.metadata.finalizers ?? [];
    const added = policy === "Background" ? undefined : finalizerOf[policy as keyof typeof finalizerOf];
    const expected = added === undefined ? [hold] : [hold, added];
    attempt.expect(
      "deletion.propagation",
      sameSet(finalizers, expected),
      `finalizers ${expected.join(", ")}`,
      `${finalizers.join(", ") || "none"} (${describeEvents(log)})`,
    );

    // The actor is done: its finalizer goes, by its hand or by ours.
    if (added !== undefined) await finalizersSettled(attempt, collection, added, 1_000);
    await collection.patch("a", "merge", { metadata: { finalizers: [hold] } });
    for (let repeat = 0; repeat < repeats; repeat += 1) await collection.delete("a", { propagationPolicy: policy });
    if (policy === "Foreground") {
      const kept = await finalizersSettled(attempt, collection, "foregroundDeletion", 10_000);
      attempt.expect(
        "deletion.foreground-once",
        kept === undefined,
        "no foregroundDeletion once its actor was done",
        `held again by ${kept?.join(", ")}`,
      );
    }
    await collection.patch("a", "merge", { metadata: { finalizers: null } });
    const gone = await collection.get("a");
    attempt.expect(
      "deletion.propagation",
      gone.status === 404,
      "404 once all finalizers are gone",
      `${gone.status} ${gone.text.slice(0, 300)}`,
    );
  },
});

function firstDeleting(log: readonly LogEvent[]): LogEvent | undefined {
  return log.find((event) => event.object.metadata.deletionTimestamp != null);
}

function sameSet(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item) => b.includes(item));
}

/** Undefined when the finalizer is away, now or after its actor has had some time to take it away. */
async function finalizersSettled(
  attempt: Attempt,
  collection: Collection,
  finalizer: string,
  withinMillis: number,
): Promise<readonly string[] | undefined> {
  const deadlineMillis = attempt.clock.nowMillis() + withinMillis;
  for (;;) {
    const { json } = await collection.get("a");
    const finalizers = isApiObject(json) ? (json.metadata.finalizers ?? []) : [];
    if (!finalizers.includes(finalizer)) return undefined;
    if (attempt.clock.nowMillis() >= deadlineMillis) return finalizers;
    await attempt.client.pause(withinMillis / 20);
  }
}
