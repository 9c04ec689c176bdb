import fc from "fast-check";
import { anyName, configMap } from "../../arbitraries/config-maps.ts";
import { objectOf } from "../../client/collection.ts";
import type { ApiObject } from "../../client/types.ts";
import { judgeSameState, stateOf } from "../../model/replay.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { runLabel } from "../../runner/sandbox.ts";

const namespaces = ["", "b", "-b", "b-c"] as const; // each a prefix of others, with characters on both sides of `/`

/** Property: a namespaced list holds its own namespace's objects, all of them and no other; the list of all holds all. */
export const listsStayInTheirNamespace = defineCheck({
  id: "lists-stay-in-their-namespace",
  area: "pagination",
  property: "A list in a namespace holds its objects alone, also when another namespace's name begins with its name.",
  requirements: ["lists.scope", "lists.complete", "objects.scoped-name", "objects.all-namespaces"],
  features: ["configmaps", "namespaces"],
  input: fc.record({
    objects: fc.uniqueArray(fc.record({ suffix: fc.constantFrom(...namespaces), name: anyName }), {
      minLength: 1,
      maxLength: 8,
      selector: ({ suffix, name }) => `${suffix}/${name}`,
    }),
    limit: fc.integer({ min: 1, max: 3 }),
  }),
  async run(attempt, { objects, limit }) {
    const labels = { [runLabel]: attempt.target.label, attempt: attempt.target.name };
    const made: ApiObject[] = [];
    for (const { suffix, name } of objects) {
      const collection = await attempt.target.collection("configmaps", suffix);
      made.push(
        objectOf(await collection.create(configMap(name, { labels, data: { suffix } })), "objects.scoped-name"),
      );
    }
    attempt.holds("objects.scoped-name", undefined);
    for (const suffix of new Set(["", ...objects.map((object) => object.suffix)])) {
      const collection = await attempt.target.collection("configmaps", suffix);
      const namespace = await attempt.target.namespace(suffix);
      const expected = stateOf(made.filter((object) => object.metadata.namespace === namespace));
      for (const query of [{}, { resourceVersion: "0" }, { limit }]) {
        const items = (await collection.pages(query)).flatMap((page) => page.items);
        const stray = items.find((item) => item.metadata.namespace !== namespace);
        attempt.expect(
          "lists.scope",
          stray === undefined,
          `only objects of ${namespace}`,
          `${stray?.metadata.namespace}/${stray?.metadata.name}`,
        );
        if ("resourceVersion" in query) continue; // version 0 may show an older state
        const named = { expected: "the acknowledged creates", actual: `the list of ${namespace}` };
        attempt.holds(
          "lists.complete",
          judgeSameState(expected, stateOf(attempt.target.own(collection, items)), named),
        );
      }
    }
    const everywhere = attempt.target.everywhere("configmaps");
    const all = await everywhere.pages({ limit, labelSelector: `attempt=${labels.attempt}` });
    const named = { expected: "the acknowledged creates", actual: "the list of all namespaces" };
    const found = stateOf(all.flatMap((page) => page.items));
    attempt.holds("objects.all-namespaces", judgeSameState(stateOf(made), found, named));
  },
});
