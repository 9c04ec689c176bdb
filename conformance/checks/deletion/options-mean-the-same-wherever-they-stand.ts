import fc from "fast-check";
import { configMap } from "../../arbitraries/config-maps.ts";
import { objectOf } from "../../client/collection.ts";
import { describeEvents } from "../../model/history.ts";
import { shownAnswer } from "../../client/status-document.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { ownLog } from "../../runner/story.ts";

const hold = "example.com/hold";
const ways = {
  Orphan: { finalizers: ["orphan"], option: { propagationPolicy: "Orphan" } },
  Foreground: { finalizers: ["foregroundDeletion"], option: { propagationPolicy: "Foreground" } },
  Background: { finalizers: [], option: { propagationPolicy: "Background" } },
  orphanDependents: { finalizers: ["orphan"], option: { orphanDependents: true } },
} as const satisfies Record<string, { finalizers: readonly string[]; option: object }>;
type Way = keyof typeof ways;

interface Program {
  readonly way: Way;
  readonly place: "query" | "body";
  readonly ofCollection: boolean;
  readonly names: readonly string[];
}

const programs = (["Orphan", "Foreground", "Background", "orphanDependents"] as const).flatMap((way) =>
  (["query", "body"] as const).flatMap((place) =>
    [true, false].map((ofCollection): Program => ({ way, place, ofCollection, names: ["a", "b"] })),
  ),
);

/**
 * Property: the policy of a deletion means the same in the query and in the body, for one object and for each of a
 * collection, in its present spelling and in the older one.
 * Method: objects that are held by a finalizer; a watch shows what the deletion made of each, whatever an actor does next.
 */
export const optionsMeanTheSameWhereverTheyStand = defineCheck<Program>({
  id: "options-mean-the-same-wherever-they-stand",
  area: "deletion",
  property: "A deletion's policy means the same in query and body, for one object and for a collection.",
  requirements: ["deletion.options-in-query"],
  features: ["configmaps", "watch"],
  input: fc.record({
    way: fc.constantFrom(...(Object.keys(ways) as Way[])),
    place: fc.constantFrom("query", "body"),
    ofCollection: fc.boolean(),
    names: fc.uniqueArray(fc.constantFrom("a", "b", "c", "d"), { minLength: 1, maxLength: 4 }),
  }),
  examples: programs,
  async run(attempt, { way, place, ofCollection, names }) {
    const collection = await attempt.target.collection("configmaps");
    const made = [];
    for (const name of names) {
      made.push(objectOf(await collection.create(configMap(name, { finalizers: [hold] }))));
    }
    const { finalizers, option } = ways[way];
    const watch = await attempt.openWatch(collection, { resourceVersion: made.at(-1)?.metadata.resourceVersion });
    const query = place === "query" ? option : {};
    const body = place === "body" ? option : undefined;
    const whole = body === undefined ? undefined : { kind: "DeleteOptions", apiVersion: "v1", ...body };
    const answers = ofCollection
      ? [await collection.deleteCollection({ query, ...(whole === undefined ? {} : { body: whole }) })]
      : await Promise.all(names.map((name) => collection.delete(name, body, { query })));
    const log = ownLog(attempt, collection, await attempt.untilFence(watch, await attempt.fence(collection)));
    watch.close();
    const asked = `${ofCollection ? "a deletecollection" : "a deletion"} with ${JSON.stringify(option)} in its ${place}`;
    for (const answer of answers) {
      attempt.expect("deletion.options-in-query", answer.status < 300, `${asked} is done`, shownAnswer(answer));
    }
    const expected = [hold, ...finalizers].sort();
    for (const name of names) {
      const marked = log.find(
        ({ object }) => object.metadata.name === name && object.metadata.deletionTimestamp != null,
      );
      const found = [...(marked?.object.metadata.finalizers ?? [])].sort();
      attempt.expect(
        "deletion.options-in-query",
        found.join() === expected.join(),
        `${asked} leaves ${name} the finalizers ${expected.join(", ")}`,
        `${found.join(", ") || "none"} (${describeEvents(log)})`,
      );
    }
    for (const name of names) await collection.patch(name, "merge", { metadata: { finalizers: null } });
  },
});
