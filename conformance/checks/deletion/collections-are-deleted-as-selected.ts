import fc from "fast-check";
import { anyName, anyTeam, configMap } from "../../arbitraries/config-maps.ts";
import { objectOf } from "../../client/collection.ts";
import { isApiObject, versionOf } from "../../client/types.ts";
import { defineCheck } from "../../runner/define-check.ts";

const bodies = {
  none: undefined,
  empty: "{}",
  core: '{"kind":"DeleteOptions","apiVersion":"v1"}',
  background: '{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Background"}',
} as const;

type BodyForm = keyof typeof bodies | "group";

/**
 * Property: DELETE on a collection deletes what its selector matches, each object as its own deletion would, and
 * leaves everything else, in this namespace and in the others.
 */
export const collectionsAreDeletedAsSelected = defineCheck({
  id: "collections-are-deleted-as-selected",
  area: "deletion",
  property: "A deletecollection deletes what is selected, and nothing else.",
  requirements: ["deletion.collection", "deletion.collection-finalizers", "deletion.collection-body"],
  features: ["configmaps", "namespaces"],
  input: fc.record({
    objects: fc.uniqueArray(fc.record({ name: anyName, team: anyTeam, held: fc.boolean() }), {
      minLength: 1,
      maxLength: 6,
      selector: ({ name }) => name,
    }),
    selected: fc.boolean(),
    body: fc.constantFrom<BodyForm>("none", "empty", "core", "background", "group"),
  }),
  examples: [
    {
      objects: [
        { name: "a", team: "red" as const, held: true },
        { name: "b", team: "red" as const, held: false },
        { name: "aa", team: "blue" as const, held: false },
      ],
      selected: true,
      body: "core" as const,
    },
  ],
  async run(attempt, { objects, selected, body }) {
    const collection = await attempt.target.collection("configmaps");
    const neighbour = await attempt.target.collection("configmaps", "b");
    const elsewhere = objectOf(await neighbour.create(configMap("a", { team: "red" })));
    const made = new Map<string, string>();
    for (const { name, team, held } of objects) {
      const finalizers = held ? ["example.com/hold"] : [];
      made.set(name, versionOf(objectOf(await collection.create(configMap(name, { team, finalizers })))));
    }
    const groupBody = JSON.stringify({
      kind: "DeleteOptions",
      apiVersion: `meta.${attempt.profile.dialect.groupSuffix}/v1`,
    });
    const answer = await collection.deleteCollection({
      query: selected ? { labelSelector: "team=red" } : {},
      rawBody: body === "group" ? groupBody : bodies[body],
    });
    const actual = `${answer.status} ${answer.text.slice(0, 300)}`;
    attempt.expect("deletion.collection-body", answer.status === 200, `200 with a body of the form "${body}"`, actual);
    for (const { name, team, held } of objects) {
      const read = await collection.get(name);
      const matched = !selected || team === "red";
      const deleting = isApiObject(read.json) && read.json.metadata.deletionTimestamp != null;
      const state = read.status === 404 ? "gone" : deleting ? "being deleted" : "untouched";
      const expected = !matched ? "untouched" : held ? "being deleted" : "gone";
      const requirement = matched && held ? "deletion.collection-finalizers" : "deletion.collection";
      attempt.expect(
        requirement,
        state === expected,
        `${name} (team ${team}${held ? ", held by a finalizer" : ""}) ${expected}`,
        state,
      );
      if (state === "untouched") {
        const version = versionOf(objectOf(read));
        attempt.expect(
          "deletion.collection",
          version === made.get(name),
          `${name} at version ${made.get(name)}`,
          version,
        );
      }
    }
    const spared = await neighbour.get("a");
    const same = spared.status === 200 && versionOf(objectOf(spared)) === versionOf(elsewhere);
    attempt.expect("deletion.collection", same, "the object of the other namespace untouched", `${spared.status}`);
  },
});
