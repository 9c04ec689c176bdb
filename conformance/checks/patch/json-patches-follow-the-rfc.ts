import fc from "fast-check";
import { mainPath, podTemplate } from "../../arbitraries/pod-templates.ts";
import { objectOf } from "../../client/collection.ts";
import { type ApiObject, isJsonObject, type Json, type JsonObject, versionOf } from "../../client/types.ts";
import { applyJsonPatch, type PatchOperation, pointerTo } from "../../model/json-patch.ts";
import { applyLooseJsonPatch } from "../../model/loose-json-patch.ts";
import { sameJson, valueAt, withoutEmpty } from "../../model/json-values.ts";
import { defineCheck } from "../../runner/define-check.ts";

/** Places that hold a text: entries of a map, some with a `/` in their name, and elements of lists. */
const annotation = fc
  .constantFrom("a", "b", "example.com/a", "example.com/b")
  .map((key) => pointerTo("metadata", "annotations", key));
const element = fc
  .tuple(fc.constantFrom("args", "command"), fc.constantFrom("0", "1", "2", "-", "-1", "-2", "01", "1e0"))
  .map(([list, index]) => pointerTo(...mainPath, list, index));
const textPlace = fc.oneof(annotation, element);
const listPlace = fc.constantFrom("args", "command").map((list) => pointerTo(...mainPath, list));
/** No annotation can be called so; whoever reads the escapes in the wrong order takes these for others that there are. */
const nowhere = fc
  .constantFrom("example.com~1a", "example.com~0a", "example.com~01a", "example.com%2Fa")
  .map((key) => pointerTo("metadata", "annotations", key));
const text = fc.constantFrom("x", "y");
const texts = fc.array(text, { minLength: 1, maxLength: 3 });

const operationsOn = (place: fc.Arbitrary<string>, value: fc.Arbitrary<Json>) =>
  fc.oneof(
    fc.record({ op: fc.constantFrom("add", "replace", "test"), path: place, value }),
    fc.record({ op: fc.constant("remove"), path: place }),
    fc.record({ op: fc.constantFrom("move", "copy"), from: place, path: place }),
  );
const anyOperation = fc.oneof(
  { weight: 4, arbitrary: operationsOn(textPlace, text) },
  { weight: 1, arbitrary: operationsOn(listPlace, texts) },
  {
    weight: 1,
    arbitrary: fc.oneof(
      fc.record({ op: fc.constant("remove"), path: nowhere }),
      fc.record({ op: fc.constant("test"), path: nowhere, value: text }),
      fc.record({ op: fc.constant("move"), from: nowhere, path: annotation }),
    ),
  },
) as fc.Arbitrary<PatchOperation>;

/**
 * Property: a JSON patch does what RFC 6902 says, with the pointers of RFC 6901, and all of it or nothing.
 * Method: random operations on a PodTemplate's annotations, arguments and command; a model written from the RFC says
 * what they come to. Of what a move leaves behind, an empty map or list may be left out.
 */
export const jsonPatchesFollowTheRfc = defineCheck({
  id: "json-patches-follow-the-rfc",
  area: "patch",
  property: "The six operations of a JSON patch do what their RFC says, all of them or none.",
  requirements: ["patch.json-rfc", "patch.test", "patch.failing-operation"],
  features: ["podtemplates"],
  input: fc.record({
    annotations: fc.dictionary(fc.constantFrom("a", "example.com/a"), text, { minKeys: 1, maxKeys: 2 }),
    args: texts,
    operations: fc.array(anyOperation, { minLength: 1, maxLength: 5 }),
  }),
  examples: [
    {
      annotations: { "example.com/a": "x" },
      args: ["x", "y"],
      operations: [{ op: "remove", path: pointerTo("metadata", "annotations", "example.com~1a") }],
    },
    {
      annotations: { a: "x" },
      args: ["x", "y"],
      operations: [{ op: "add", path: pointerTo(...mainPath, "args", "-1"), value: "y" }],
    },
    {
      annotations: { a: "x" },
      args: ["x", "y"],
      operations: [{ op: "test", path: pointerTo("metadata", "annotations", "a"), value: "y" }],
    },
    {
      annotations: { "example.com/a": "x" },
      args: ["x", "y"],
      operations: [
        { op: "move", from: pointerTo(...mainPath, "args", 1), path: pointerTo(...mainPath, "args", 0) },
        {
          op: "copy",
          from: pointerTo("metadata", "annotations", "example.com/a"),
          path: pointerTo("metadata", "annotations", "b"),
        },
      ],
    },
  ],
  async run(attempt, { annotations, args, operations }) {
    const collection = await attempt.target.collection("podtemplates");
    const before = objectOf(await collection.create(podTemplate("a", { metadata: { annotations }, main: { args } })));
    const expected = applyJsonPatch(before, operations);
    const answer = await collection.patch("a", "json", operations as unknown as Json);
    const actual = `${answer.status} ${answer.text.slice(0, 600)}`;
    if (expected !== undefined) {
      const promise = `200 with ${JSON.stringify(patchable(expected))}`;
      const done = answer.status === 200 && sameJson(patchable(objectOf(answer)), patchable(expected));
      attempt.expect("patch.json-rfc", done, promise, actual);
      return;
    }
    const withoutTests = applyJsonPatch(
      before,
      operations.filter(({ op }) => op !== "test"),
    );
    const requirement = withoutTests === undefined ? "patch.json-rfc" : "patch.test";
    const promise = { expected: "a refusal, for one operation cannot be done", actual };
    const loose = applyLooseJsonPatch(before, operations);
    if (loose === undefined) attempt.holds(requirement, answer.status >= 400 ? undefined : promise);
    else {
      // What comes out may be an object that the server then refuses: then both readings say the same.
      const isLoose = answer.status === 200 && sameJson(patchable(objectOf(answer)), patchable(loose, true));
      const kept = answer.status >= 400 ? undefined : promise;
      const deviation = requirement === "patch.test" ? "json-patch-tests-from-the-end" : "json-patch-is-loose";
      attempt.holdsOrDeviates(deviation, requirement, kept, isLoose);
      if (kept !== undefined) return;
    }
    attempt.expect("patch.failing-operation", answer.status === 422, "422", actual);
    const after = objectOf(await collection.get("a"));
    const untouched = versionOf(after) === versionOf(before);
    attempt.expect(
      requirement,
      untouched,
      `the object as it was: ${JSON.stringify(patchable(before))}`,
      JSON.stringify(patchable(after)),
    );
  },
});

/** `nullsAreTexts`: where a text belongs, null is read as the empty one. */
function patchable(document: Json | ApiObject, nullsAreTexts = false): Json | undefined {
  const read = (value: Json): Json => (nullsAreTexts ? withTexts(value) : value);
  const of = (field: string) => read(valueAt(document, ...mainPath, field) as Json);
  const parts: JsonObject = {
    annotations: read(valueAt(document, "metadata", "annotations") as Json),
    args: of("args"),
    command: of("command"),
  };
  return withoutEmpty(parts);
}

function withTexts(value: Json): Json {
  if (Array.isArray(value)) return value.map((each) => each ?? "");
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, each ?? ""]));
}
