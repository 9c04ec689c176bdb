import fc from "fast-check";
import { mainPath, podTemplate } from "../../arbitraries/pod-templates.ts";
import { objectOf } from "../../client/collection.ts";
import type { ApiObject, Json, JsonObject } from "../../client/types.ts";
import { sameJson, valueAt } from "../../model/json-values.ts";
import { type Element, listDifference } from "../../model/strategic.ts";
import { defineCheck } from "../../runner/define-check.ts";

const element = (name: fc.Arbitrary<string>): fc.Arbitrary<Element> =>
  fc.record({ name, value: fc.constantFrom("1", "2") }, { requiredKeys: ["name"] });
const variables = fc.uniqueArray(element(fc.constantFrom("E", "F", "G", "H")), {
  selector: ({ name }) => name,
  maxLength: 4,
});

/**
 * Property: the patch that a client makes of two states, with deletions and with the order of elements, leads from the
 * one to the other.
 * Method: any two lists of variables; the patch is computed as clients do, with `$patch: delete` and `$setElementOrder`.
 */
export const differencesLeadFromListToList = defineCheck({
  id: "differences-lead-from-list-to-list",
  area: "strategic",
  property: "A strategic patch made of two lists with keys leads from one to the other, in its order.",
  requirements: ["strategic.order", "strategic.delete-element", "strategic.lists-by-key"],
  features: ["podtemplates"],
  input: fc.record({ from: variables, to: variables }),
  examples: [
    { from: [{ name: "F" }, { name: "E" }], to: [{ name: "G" }, { name: "F" }, { name: "E" }] },
    { from: [{ name: "E" }, { name: "F" }], to: [{ name: "F" }] },
  ],
  async run(attempt, { from, to }) {
    const collection = await attempt.target.collection("podtemplates");
    objectOf(await collection.create(podTemplate("a", { main: { env: from } })));
    const patch: JsonObject = {
      template: { spec: { containers: [{ name: "main", ...listDifference(from, to, "env") }] } },
    };
    const answer = await collection.patch("a", "strategic", patch);
    const env = answer.status === 200 ? envOf(objectOf(answer)) : undefined;
    const actual = `${answer.status} ${env === undefined ? answer.text.slice(0, 400) : JSON.stringify(env)}`;
    const names = (list: readonly Json[]) =>
      list
        .map((one) => (one as Element).name)
        .sort()
        .join();
    const gone = from.some(({ name }) => to.every((other) => other.name !== name));
    const membership = gone ? "strategic.delete-element" : "strategic.lists-by-key";
    attempt.expect(membership, env !== undefined && names(env) === names(to), `200 with ${JSON.stringify(to)}`, actual);
    const inOrder = (list: readonly Json[]) =>
      [...list].sort((a, b) => ((a as Element).name < (b as Element).name ? -1 : 1));
    const same = sameJson(inOrder(env ?? []), inOrder(to));
    attempt.expect("strategic.lists-by-key", same, `elements ${JSON.stringify(to)}`, actual);
    attempt.expect("strategic.order", sameJson(env, to), `in the order ${JSON.stringify(to)}`, actual);
  },
});

function envOf(object: ApiObject): readonly Json[] {
  return (valueAt(object, ...mainPath, "env") ?? []) as readonly Json[];
}
