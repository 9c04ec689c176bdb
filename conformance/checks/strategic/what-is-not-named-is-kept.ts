import fc from "fast-check";
import { mainPath, podTemplate, specPath } from "../../arbitraries/pod-templates.ts";
import { objectOf } from "../../client/collection.ts";
import type { ApiObject, JsonObject } from "../../client/types.ts";
import { sameJson, valueAt, withoutEmpty } from "../../model/json-values.ts";
import { mergePatch } from "../../model/merge-patch.ts";
import { type Element, judgeMerged } from "../../model/strategic.ts";
import { defineCheck } from "../../runner/define-check.ts";

const name = fc.constantFrom("E", "F", "G");
const value = fc.constantFrom("1", "2");
const variable: fc.Arbitrary<Element> = fc.record({ name, value });
const change: fc.Arbitrary<Element> = fc.oneof(
  { weight: 3, arbitrary: variable },
  { weight: 1, arbitrary: fc.record({ name, $patch: fc.constant("delete") }) },
);
const key = fc.constantFrom("a", "b", "example.com/c");
const toleration = fc.record({ key: value.map((one) => `k${one}`), operator: fc.constant("Exists") });
const finalizers = fc.subarray(["example.com/a", "example.com/b", "example.com/c"]);

/**
 * Property: a strategic merge patch changes what it names: maps are merged, lists with keys by their keys, sets are
 * joined, other lists replaced. What it does not name stays, also where two elements have one key.
 * Method: random patches of a PodTemplate's annotations, variables, tolerations and finalizers.
 */
export const whatIsNotNamedIsKept = defineCheck({
  id: "what-is-not-named-is-kept",
  area: "strategic",
  property: "A strategic merge patch merges maps, keyed lists and sets, replaces other lists and keeps the rest.",
  requirements: [
    "strategic.maps",
    "strategic.lists-by-key",
    "strategic.atomic-lists",
    "strategic.lists-of-values",
    "strategic.delete-primitives",
  ],
  features: ["podtemplates"],
  input: fc.record({
    annotations: fc.dictionary(key, value, { maxKeys: 3 }),
    annotationsPatch: fc.dictionary(key, fc.option(value), { maxKeys: 2 }),
    env: fc.array(variable, { maxLength: 4 }),
    envPatch: fc.uniqueArray(change, { selector: (one) => one.name, maxLength: 2 }),
    tolerations: fc.tuple(
      fc.array(toleration, { maxLength: 2 }),
      fc.option(fc.array(toleration, { minLength: 1, maxLength: 2 })),
    ),
    finalizers: fc.record({ before: finalizers, added: finalizers, deleted: finalizers }),
  }),
  examples: [
    {
      annotations: { a: "1", b: "1" },
      annotationsPatch: { a: null, "example.com/c": "2" },
      env: [
        { name: "E", value: "1" },
        { name: "E", value: "2" },
        { name: "F", value: "1" },
      ],
      envPatch: [{ name: "E", $patch: "delete" }],
      tolerations: [[{ key: "k1", operator: "Exists" }], [{ key: "k2", operator: "Exists" }]],
      finalizers: { before: ["example.com/a", "example.com/b"], added: ["example.com/c"], deleted: ["example.com/a"] },
    },
    {
      annotations: {},
      annotationsPatch: {},
      env: [],
      envPatch: [],
      tolerations: [[], null],
      finalizers: { before: ["example.com/a"], added: ["example.com/b", "example.com/a"], deleted: [] },
    },
  ],
  async run(
    attempt,
    { annotations, annotationsPatch, env, envPatch, tolerations: [before, replaced], finalizers: held },
  ) {
    const collection = await attempt.target.collection("podtemplates");
    const sent = podTemplate("a", { metadata: { annotations, finalizers: held.before }, main: { env } });
    const template = mergePatch(sent["template"], { spec: { tolerations: before } }) as JsonObject;
    objectOf(await collection.create({ ...sent, template }));
    // A value cannot be added and deleted by one patch.
    const added = held.added.filter((one) => !held.deleted.includes(one));
    const metadata: JsonObject = {
      annotations: annotationsPatch,
      ...(added.length === 0 ? {} : { finalizers: added }),
      ...(held.deleted.length === 0 ? {} : { "$deleteFromPrimitiveList/finalizers": held.deleted }),
    };
    const containers = envPatch.length === 0 ? {} : { containers: [{ name: "main", env: envPatch }] };
    const spec = { ...containers, ...(replaced === null ? {} : { tolerations: replaced }) };
    const answer = await collection.patch("a", "strategic", { metadata, template: { spec } });
    const after = objectOf(answer, "strategic.maps");

    const sameParts = (requirement: string, expected: unknown, actual: unknown) =>
      attempt.expect(
        requirement,
        sameJson(withoutEmpty(expected as never), withoutEmpty(actual as never)),
        JSON.stringify(expected),
        JSON.stringify(actual),
      );
    sameParts("strategic.maps", mergePatch(annotations, annotationsPatch), after.metadata.annotations);
    attempt.holds("strategic.lists-by-key", judgeMerged(env, envPatch, envOf(after)));
    sameParts("strategic.atomic-lists", replaced ?? before, valueAt(after, ...specPath, "tolerations"));
    const joined = new Set([...held.before, ...added]);
    const requirement = held.deleted.length > 0 ? "strategic.delete-primitives" : "strategic.lists-of-values";
    for (const one of held.deleted) joined.delete(one);
    sameParts(requirement, [...joined].sort(), [...(after.metadata.finalizers ?? [])].sort());
  },
});

function envOf(object: ApiObject): readonly Element[] {
  return (valueAt(object, ...mainPath, "env") ?? []) as readonly Element[];
}
