import fc from "fast-check";
import { configMap } from "../../arbitraries/config-maps.ts";
import { type Collection, objectOf } from "../../client/collection.ts";
import { type ApiObject, isApiObject } from "../../client/types.ts";
import { describeEvents, type LogEvent } from "../../model/history.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { ownLog } from "../../runner/story.ts";

const hold = "example.com/hold";
const finalizerOf = { Orphan: "orphan", Foreground: "foregroundDeletion" } as const;
type Policy = keyof typeof finalizerOf | "Background";
const anyPolicy = fc.constantFrom("Orphan", "Foreground", "Background") as fc.Arbitrary<Policy>;

interface Program {
  readonly policy: Policy;
  /** Of the deletions that follow; null names none. */
  readonly later: readonly (Policy | null)[];
}

/**
 * Property: each deletion that names a policy leaves the finalizer of that policy's actor and of no other, whatever
 * was asked before; one that names none leaves them as they are. Where an actor is at work, it takes its finalizer
 * off again each time, so that nothing is held for good.
 * Method: the actor may be there or not, and may be quick; the answer to a deletion shows what it has made of the
 * object, and a watch shows every state in between.
 */
export const policiesHoldForTheirActors = defineCheck<Program>({
  id: "policies-hold-for-their-actors",
  area: "deletion",
  property: "Each deletion leaves the finalizer of the policy that it names, and an actor takes it off each time.",
  requirements: ["deletion.propagation", "deletion.policy-anew", "deletion.policy-done"],
  features: ["configmaps", "watch"],
  cost: "slow",
  input: fc.record({ policy: anyPolicy, later: fc.array(fc.option(anyPolicy), { minLength: 1, maxLength: 3 }) }),
  examples: [
    { policy: "Foreground", later: ["Foreground"] },
    { policy: "Foreground", later: ["Orphan", null] },
    { policy: "Orphan", later: ["Background"] },
  ],
  async run(attempt, { policy, later }) {
    const collection = await attempt.target.collection("configmaps");
    const created = objectOf(await collection.create(configMap("a", { finalizers: [hold] })));
    const watch = await attempt.openWatch(collection, { resourceVersion: created.metadata.resourceVersion });
    await collection.delete("a", { propagationPolicy: policy });
    const log = ownLog(attempt, collection, await attempt.untilFence(watch, await attempt.fence(collection)));
    watch.close();
    const finalizers = firstDeleting(log)?.object.metadata.finalizers ?? [];
    attempt.expect(
      "deletion.propagation",
      sameSet(finalizers, finalizersFor(policy)),
      `finalizers ${finalizersFor(policy).join(", ")}`,
      `${finalizers.join(", ") || "none"} (${describeEvents(log)})`,
    );

    const hasActor = policy === "Background" ? undefined : await isTakenOff(attempt, collection, actorWaitMillis);
    if (hasActor === false) await collection.patch("a", "merge", { metadata: { finalizers: [hold] } });
    let last: Policy = "Background";
    for (const named of later) {
      const answer = await collection.delete("a", named === null ? {} : { propagationPolicy: named });
      const left = isApiObject(answer.json) ? answer.json : objectOf(await collection.get("a"));
      last = named ?? last;
      judgeLeft(attempt, left, last, hasActor);
    }
    if (hasActor === true) {
      const isDone = await isTakenOff(attempt, collection, patienceMillis);
      const actual = `held by ${(await finalizersNow(collection)).join(", ")}`;
      attempt.expect("deletion.policy-done", isDone, `${hold} alone, once the actor is done again`, actual);
    } else attempt.holds("deletion.policy-done", undefined); // nobody to do it
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

const finalizersFor = (policy: Policy): readonly string[] =>
  policy === "Background" ? [hold] : [hold, finalizerOf[policy]];

/** An actor that is at work, or may be, may have been there before the answer was written. */
function judgeLeft(attempt: Attempt, left: ApiObject, policy: Policy, hasActor: boolean | undefined): void {
  const finalizers = left.metadata.finalizers ?? [];
  const expected = finalizersFor(policy);
  const holds = sameSet(finalizers, expected) || (hasActor !== false && sameSet(finalizers, [hold]));
  attempt.expect("deletion.policy-anew", holds, `finalizers ${expected.join(", ")}`, finalizers.join(", ") || "none");
}

function firstDeleting(log: readonly LogEvent[]): LogEvent | undefined {
  return log.find((event) => event.object.metadata.deletionTimestamp != null);
}

function sameSet(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item) => b.includes(item));
}

async function finalizersNow(collection: Collection): Promise<readonly string[]> {
  const { json } = await collection.get("a");
  return isApiObject(json) ? (json.metadata.finalizers ?? []) : [];
}

/** Whether the policies' finalizers are away, now or after an actor has had some time to take them away. */
async function isTakenOff(attempt: Attempt, collection: Collection, withinMillis: number): Promise<boolean> {
  const deadlineMillis = attempt.clock.nowMillis() + withinMillis;
  for (;;) {
    if (sameSet(await finalizersNow(collection), [hold])) return true;
    if (attempt.clock.nowMillis() >= deadlineMillis) return false;
    await attempt.client.pause(withinMillis / 20);
  }
}

const actorWaitMillis = 2_000;
const patienceMillis = 30_000;
