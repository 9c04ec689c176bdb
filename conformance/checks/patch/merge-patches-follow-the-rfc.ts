import fc from "fast-check";
import { mainPath, podTemplate, specPath } from "../../arbitraries/pod-templates.ts";
import { objectOf } from "../../client/collection.ts";
import type { Json, JsonObject } from "../../client/types.ts";
import { sameJson, valueAt, withoutEmpty } from "../../model/json-values.ts";
import { mergePatch } from "../../model/merge-patch.ts";
import { defineCheck } from "../../runner/define-check.ts";

const key = fc.constantFrom("a", "b", "example.com/c");
const text = fc.constantFrom("x", "y");
const map = fc.dictionary(key, text, { maxKeys: 3 });
const mapPatch = fc.oneof(
  { weight: 5, arbitrary: fc.dictionary(key, fc.option(text), { maxKeys: 3 }) },
  { weight: 1, arbitrary: fc.constant(null) },
);
const toleration = fc.record({ key: text, operator: fc.constant("Exists") });
const lists = { args: fc.array(text, { maxLength: 3 }), tolerations: fc.array(toleration, { maxLength: 2 }) };

/**
 * Property: a merge patch does what RFC 7386 says: maps are merged at any depth, null removes, lists are replaced.
 * Method: random patches of a PodTemplate's maps and lists; the model is the function in the RFC.
 */
export const mergePatchesFollowTheRfc = defineCheck({
  id: "merge-patches-follow-the-rfc",
  area: "patch",
  property: "A merge patch merges maps, removes by null and replaces lists.",
  requirements: ["patch.merge-rfc"],
  features: ["podtemplates"],
  input: fc.record({
    annotations: map,
    nodeSelector: map,
    ...lists,
    patch: fc.record(
      {
        annotations: mapPatch,
        nodeSelector: mapPatch,
        args: lists.args,
        tolerations: fc.option(lists.tolerations),
      },
      { requiredKeys: [] },
    ),
  }),
  async run(attempt, { annotations, nodeSelector, args, tolerations, patch }) {
    const collection = await attempt.target.collection("podtemplates");
    const sent = podTemplate("a", { metadata: { annotations }, main: { args, env: [{ name: "E" }] } });
    const spec = { nodeSelector, tolerations };
    const before = objectOf(
      await collection.create({ ...sent, template: mergePatch(sent["template"], { spec }) as JsonObject }),
    );
    // Whoever changes a list sends all of it: the variables of the container go.
    const containers =
      patch.args === undefined ? undefined : [{ name: "main", image: "example.com/main:2", args: patch.args }];
    const document: JsonObject = defined({
      metadata: defined({ annotations: patch.annotations }),
      template: {
        spec: defined({ nodeSelector: patch.nodeSelector, tolerations: patch.tolerations, containers }),
      },
    });
    const expected = patchable(mergePatch(before, document));
    const answer = await collection.patch("a", "merge", document);
    const done = answer.status === 200 && sameJson(patchable(objectOf(answer)), expected);
    const actual = `${answer.status} ${answer.text.slice(0, 800)}`;
    attempt.expect("patch.merge-rfc", done, `200 with ${JSON.stringify(expected)}`, actual);
  },
});

/** Without the fields that the patch does not have; null is a value. */
function defined(fields: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function patchable(document: Json): Json | undefined {
  const inMain = (field: string) => valueAt(document, ...mainPath, field);
  return withoutEmpty({
    annotations: valueAt(document, "metadata", "annotations"),
    nodeSelector: valueAt(document, ...specPath, "nodeSelector"),
    tolerations: valueAt(document, ...specPath, "tolerations"),
    args: inMain("args"),
    env: inMain("env"),
    image: inMain("image"),
  });
}
