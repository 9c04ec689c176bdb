import fc from "fast-check";
import { anyName, configMap } from "../../arbitraries/config-maps.ts";
import { objectOf, succeeded } from "../../client/collection.ts";
import { type ApiObject, isApiObject, keyOf } from "../../client/types.ts";
import {
  type FieldTerm,
  fieldSelectorText,
  isSelected,
  type LabelTerm,
  labelSelectorText,
  type Selectable,
} from "../../model/selection.ts";
import { defineCheck } from "../../runner/define-check.ts";

const keys = ["team", "size", "example.com/a.b_c"] as const;
const values = ["red", "blue", "", "5", "10", "07", "red-0"] as const;
const anyKey = fc.constantFrom(...keys);
const anyValue = fc.constantFrom(...values);

const labelTerm: fc.Arbitrary<LabelTerm> = fc.oneof(
  fc.record({ op: fc.constantFrom("=" as const, "==" as const, "!=" as const), key: anyKey, value: anyValue }),
  fc.record({
    op: fc.constantFrom("in" as const, "notin" as const),
    key: anyKey,
    values: fc.uniqueArray(anyValue, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({ op: fc.constantFrom("exists" as const, "absent" as const), key: anyKey }),
  fc.record({
    op: fc.constantFrom(">" as const, "<" as const),
    key: anyKey,
    value: fc.constantFrom("4", "5", "9", "10"),
  }),
);

const fieldOp = fc.constantFrom("=" as const, "==" as const, "!=" as const);
const fieldTerm: fc.Arbitrary<FieldTerm> = fc.oneof(
  fc.record({ field: fc.constant("metadata.name" as const), op: fieldOp, value: anyName }),
  fc.record({
    field: fc.constant("metadata.namespace" as const),
    op: fieldOp,
    value: fc.constantFrom("here", "there"), // names of namespaces are known only when there are some
  }),
);

const someOfEach: { name: "a" | "aa" | "b"; there: boolean; labels: Record<string, (typeof values)[number]> }[] = [
  { name: "a", there: false, labels: { team: "red", size: "10" } },
  { name: "aa", there: false, labels: { team: "", size: "07" } },
  { name: "b", there: false, labels: {} },
  { name: "a", there: true, labels: { team: "blue", size: "5" } },
];

const fieldExamples: FieldTerm[][] = [
  [{ field: "metadata.name", op: "=", value: "a" }],
  [
    { field: "metadata.name", op: "!=", value: "b" },
    { field: "metadata.namespace", op: "==", value: "here" },
  ],
];

/** Each way to select once, with an object that has the value, one that has another, and one that has no such label. */
const labelExamples = (
  [
    { op: "!=", key: "team", value: "red" },
    { op: "notin", key: "team", values: ["red"] },
    { op: "in", key: "team", values: ["red", "5"] },
    { op: "absent", key: "team" },
    { op: "exists", key: "team" },
    { op: "=", key: "team", value: "" },
    { op: ">", key: "size", value: "5" },
  ] satisfies LabelTerm[]
).map((term) => ({ objects: someOfEach, labelTerms: [term], fieldTerms: [] }));

/**
 * Property: list, watch and deletecollection take the same objects for selected, and the right ones.
 * Method: random objects in two namespaces, random terms; the expected objects are chosen by a model that never sees
 * the selector's text.
 */
export const selectorsMeanTheSameEverywhere = defineCheck({
  id: "selectors-mean-the-same-everywhere",
  area: "selectors",
  property: "A selector chooses the same objects in lists, watches and deletecollections: those that match it.",
  requirements: ["selectors.labels", "selectors.fields", "selectors.watch", "selectors.deletion"],
  features: ["configmaps", "namespaces", "watch"],
  input: fc.record({
    objects: fc.uniqueArray(
      fc.record({ name: anyName, there: fc.boolean(), labels: fc.dictionary(anyKey, anyValue, { maxKeys: 3 }) }),
      { minLength: 1, maxLength: 7, selector: ({ name, there }) => `${there} ${name}` },
    ),
    labelTerms: fc.array(labelTerm, { maxLength: 2 }),
    fieldTerms: fc.array(fieldTerm, { maxLength: 2 }),
  }),
  examples: [
    ...labelExamples,
    ...fieldExamples.map((fieldTerms) => ({ objects: someOfEach, labelTerms: [], fieldTerms })),
  ],
  async run(attempt, { objects, labelTerms, fieldTerms }) {
    const { target } = attempt;
    const here = await target.collection("configmaps");
    const there = await target.collection("configmaps", "b");
    const namespaces = { here: await target.namespace(), there: await target.namespace("b") };
    const fields = fieldTerms.map((term) =>
      term.field === "metadata.name" ? term : { ...term, value: namespaces[term.value as keyof typeof namespaces] },
    );
    const made: Selectable[] = [];
    for (const { name, there: isThere, labels } of objects) {
      objectOf(await (isThere ? there : here).create(configMap(name, { labels })));
      made.push({ name, namespace: isThere ? namespaces.there : namespaces.here, labels });
    }
    const query = {
      ...(labelTerms.length === 0 ? {} : { labelSelector: labelSelectorText(labelTerms) }),
      ...(fields.length === 0 ? {} : { fieldSelector: fieldSelectorText(fields) }),
    };
    const chosen = (from: readonly Selectable[]) =>
      keysOf(from.filter((object) => isSelected(object, labelTerms, fields)));
    const known = new Set(keysOf(made));
    const own = (items: readonly ApiObject[]) =>
      items
        .map(keyOf)
        .filter((key) => known.has(key))
        .sort();
    const judge = (requirement: string, what: string, expected: readonly string[], actual: readonly string[]) =>
      attempt.expect(
        requirement,
        expected.join() === actual.join(),
        `${what} ${JSON.stringify(query)}: ${expected.join(", ") || "nothing"}`,
        actual.join(", ") || "nothing",
      );
    const madeHere = made.filter(({ namespace }) => namespace === namespaces.here);
    const language = fields.length === 0 ? ["labels"] : labelTerms.length === 0 ? ["fields"] : ["labels", "fields"];
    for (const word of language) {
      judge(`selectors.${word}`, "a list with", chosen(madeHere), own((await here.readList(query)).items));
      const everywhere = (await target.everywhere("configmaps").readList(query)).items;
      judge(`selectors.${word}`, "a list of all namespaces with", chosen(made), own(everywhere));
    }

    // The fence is an object like others: where it matches, it is expected.
    const watch = await attempt.openWatch(here, query);
    const whole = await attempt.openWatch(here);
    const fence = await attempt.fence(here);
    await attempt.untilFence(whole, fence);
    const fenceHere = { name: fence.metadata.name, namespace: namespaces.here, labels: {} };
    known.add(keyOf(fence));
    const expected = chosen([...madeHere, fenceHere]);
    const seen = () =>
      own(
        watch.events
          .filter(({ type }) => type === "ADDED")
          .map(({ object }) => object)
          .filter(isApiObject),
      );
    await watch.until(() => seen().length >= expected.length);
    judge("selectors.watch", "ADDED events of a watch with", expected, seen());
    watch.close();
    whole.close();

    succeeded(await here.deleteCollection({ query }), "selectors.deletion", [200]);
    const gone = new Set(expected);
    const spared = keysOf([...made, fenceHere]).filter((key) => !gone.has(key));
    const left = own([...(await here.readList()).items, ...(await there.readList()).items]);
    judge("selectors.deletion", "what is left after a deletecollection with", spared, left);
  },
});

function keysOf(objects: readonly Selectable[]): string[] {
  return objects.map(({ namespace, name }) => `${namespace}/${name}`).sort();
}
