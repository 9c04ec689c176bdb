import fc from "fast-check";
import { podTemplate } from "../../arbitraries/pod-templates.ts";
import { objectOf } from "../../client/collection.ts";
import type { ApiObject, JsonObject } from "../../client/types.ts";
import { entriesOf, judgeOwners, ownersOf, pathsIn } from "../../model/managed-fields.ts";
import { defineCheck } from "../../runner/define-check.ts";

const labelsPath = ".metadata.labels.";

/**
 * Property: writes that are no applies own what they change too, and other writes leave the records of owners as they
 * are, also where a list with keys has two elements of one key.
 * Method: one manager creates a PodTemplate whose variables may share names, another changes a label by any verb, a
 * third applies one; then the records are cleared.
 */
export const writesOwnWhatTheyChange = defineCheck({
  id: "writes-own-what-they-change",
  area: "apply",
  property: "Creates, updates and patches are recorded under their manager, and nobody's records get lost.",
  requirements: ["apply.updates-own", "apply.manager-name", "apply.untracked", "apply.reset"],
  features: ["podtemplates"],
  input: fc.record({
    variables: fc.array(fc.constantFrom("E", "F"), { maxLength: 4 }),
    verb: fc.constantFrom("put", "merge", "json", "strategic"),
    agent: fc.boolean(),
  }),
  examples: [{ variables: ["E", "F", "E"], verb: "put", agent: true }],
  async run(attempt, { variables, verb, agent }) {
    const collection = await attempt.target.collection("podtemplates");
    const env = variables.map((name, index) => ({ name, value: String(index) }));
    const sent = podTemplate("a", { metadata: { labels: { left: "a", right: "a" } }, main: { env } });
    const created = objectOf(await collection.create(sent, { query: { fieldManager: "creator" } }));
    const expectOwners = (
      object: ApiObject,
      owned: Record<string, readonly string[]>,
      judged = "apply.updates-own",
    ) => {
      const expected = new Map(
        Object.entries(owned).map(([owner, labels]) => [owner, new Set(labels.map((label) => labelsPath + label))]),
      );
      attempt.holds(judged, judgeOwners(expected, ownersOf(object, [labelsPath])));
      attempt.expect(
        "apply.untracked",
        strays(object).length === 0,
        "no owner of what the server keeps",
        strays(object).join(),
      );
    };
    expectOwners(created, { "creator Update": ["left", "right"] }, "apply.manager-name");

    // Who names no manager is known by the name of the program.
    const options = agent ? { headers: { "user-agent": "editor/1.0 (test)" } } : { query: { fieldManager: "editor" } };
    const change: JsonObject = { metadata: { labels: { left: "b" } } };
    const writes = {
      put: () =>
        collection.put(
          "a",
          { ...created, metadata: { ...created.metadata, labels: { left: "b", right: "a" } } },
          options,
        ),
      merge: () => collection.patch("a", "merge", change, options),
      json: () =>
        collection.patch("a", "json", [{ op: "replace", path: "/metadata/labels/left", value: "b" }], options),
      strategic: () => collection.patch("a", "strategic", change, options),
    };
    const edited = objectOf(await writes[verb as keyof typeof writes]());
    expectOwners(edited, { "creator Update": ["right"], "editor Update": ["left"] });

    const configuration = { apiVersion: "v1", kind: "PodTemplate", metadata: { name: "a", labels: { right: "a" } } };
    const applied = await collection.patch("a", "apply", configuration, { query: { fieldManager: "alpha" } });
    const owned = { "creator Update": ["right"], "editor Update": ["left"], "alpha Apply": ["right"] };
    expectOwners(objectOf(applied, "apply.updates-own"), owned);

    const cleared = objectOf(await collection.patch("a", "merge", { metadata: { managedFields: [{}] } }));
    attempt.expect(
      "apply.reset",
      ownersOf(cleared, [labelsPath]).size === 0,
      "nobody owns the labels any more",
      JSON.stringify(cleared.metadata["managedFields"]),
    );
  },
});

const serverFields = [
  "name",
  "namespace",
  "uid",
  "creationTimestamp",
  "generation",
  "resourceVersion",
  "managedFields",
];
const untracked = new Set([".apiVersion", ".kind", ...serverFields.map((field) => `.metadata.${field}`)]);

function strays(object: ApiObject): string[] {
  const owned = entriesOf(object).flatMap((entry) => [...pathsIn((entry["fieldsV1"] ?? {}) as JsonObject)]);
  return owned.filter((path) => untracked.has(path));
}
