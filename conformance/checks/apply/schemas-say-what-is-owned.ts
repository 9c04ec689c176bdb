import fc from "fast-check";
import { anyFields, anyOwnedSchema, wholeOwnedSchema } from "../../arbitraries/owned-schemas.ts";
import { objectOf } from "../../client/collection.ts";
import { shownAnswer } from "../../client/status-document.ts";
import { type ApiObject, type Json, type JsonObject, objectsIn, versionOf } from "../../client/types.ts";
import { judgeOwners, ownerName, ownersOf } from "../../model/managed-fields.ts";
import { ownedFields, type OwnedRecord, ownedSchema } from "../../model/owned-schema.ts";
import { applied, type Fields, judgeConflicts, judgeFields, nothingOwned } from "../../model/ownership.ts";
import { withDefinition } from "../../runner/custom-definition.ts";
import { defineCheck } from "../../runner/define-check.ts";

interface Step {
  readonly manager: string;
  readonly force: boolean;
  readonly dry: boolean;
  readonly spec: JsonObject;
}
interface Program {
  readonly node: OwnedRecord;
  readonly steps: readonly Step[];
}

const whole: JsonObject = {
  a: "x",
  record: { a: "x", b: "x" },
  wholeRecord: { a: "x", b: "x" },
  map: { m: "x", n: "x" },
  wholeMap: { m: "x", n: "x" },
  list: ["x", "y"],
  set: ["x", "y"],
  keyed: [
    { k: "x", l: "x", set: ["x"], wholeMap: { m: "x" } },
    { k: "x", l: "y", set: ["x"] },
  ],
};
/** Each field by itself, as another has it: the same where it can be shared, something else where that is a conflict. */
const single: readonly JsonObject[] = [
  { map: { m: "x" }, set: ["x"], record: { a: "x" } },
  { wholeMap: { m: "x" } },
  { wholeRecord: { a: "x" } },
  { list: ["x"] },
  { keyed: [{ k: "x", l: "x", set: ["z"] }] },
  { keyed: [{ k: "x", l: "x", wholeMap: { n: "x" } }] },
];

/**
 * Property: a schema decides what is one field for those who apply: keys, elements of sets and of lists with keys, or what is
 * atomic as a whole. Owners, conflicts and what goes with its owner follow from that, at any depth.
 * Method: random schemas, and two managers that apply random values of them; the model sees fields, and no types.
 */
export const schemasSayWhatIsOwned = defineCheck<Program>({
  id: "schemas-say-what-is-owned",
  area: "apply",
  property: "A custom resource's schema decides what is one field for those who apply it.",
  requirements: ["apply.by-schema"],
  features: ["namespaces"],
  cost: "slow",
  input: anyOwnedSchema.chain((node) =>
    fc.record({
      node: fc.constant(node),
      steps: fc.array(
        fc.record({
          manager: fc.constantFrom("alpha", "beta"),
          force: fc.boolean(),
          dry: fc.nat(4).map((draw) => draw === 4),
          spec: anyFields(node),
        }),
        { minLength: 2, maxLength: 6 },
      ),
    }),
  ),
  examples: [
    {
      node: wholeOwnedSchema,
      steps: [whole, ...single, ...single, {}].map((spec, index) => ({
        manager: index === 0 || index > 2 * single.length ? "alpha" : "beta",
        force: index > single.length,
        dry: false,
        spec,
      })),
    },
  ],
  async run(attempt, { node, steps }) {
    const schema: JsonObject = {
      type: "object",
      properties: { spec: ownedSchema(node, attempt.profile.dialect.extensionPrefix) },
    };
    await withDefinition(attempt, schema, async ({ widgets, widget }) => {
      const fieldsIn = (spec: Json | undefined): Fields => ownedFields(node, spec, path);
      let stored: ApiObject = objectOf(await widgets.create(widget("a"), { query: { fieldManager: "creator" } }));
      let state = nothingOwned;
      for (const { manager, force, dry, spec } of steps) {
        const expected = applied(state, ownerName(manager, "Apply"), fieldsIn(spec));
        const query = { fieldManager: manager, ...(force ? { force } : {}), ...(dry ? { dryRun: "All" } : {}) };
        const body = widget("a", Object.keys(spec).length === 0 ? {} : { spec });
        const answer = await widgets.patch("a", "apply", body, { query });
        const isRefused = expected.conflicts.length > 0 && !force;
        const status = isRefused ? 409 : 200;
        const what = `an apply of ${JSON.stringify(spec)} by ${manager} with the schema ${JSON.stringify(schema)}`;
        attempt.expect("apply.by-schema", answer.status === status, `${status} for ${what}`, shownAnswer(answer));
        if (isRefused) {
          const causes = objectsIn((answer.json as JsonObject)["details"], "causes");
          attempt.holds("apply.by-schema", judgeConflicts(expected.conflicts, causes));
        } else {
          const object = objectOf(answer);
          attempt.holds("apply.by-schema", judgeFields(expected.next.live, fieldsIn(object["spec"])));
          attempt.holds("apply.by-schema", judgeOwners(expected.next.owners, ownersOf(object, [`${path}.`])));
        }
        const read = objectOf(await widgets.get("a"));
        if (isRefused || dry) {
          const [is, was] = [versionOf(read), versionOf(stored)];
          attempt.expect("apply.by-schema", is === was, `version ${was}, as before ${what}`, is);
          continue;
        }
        state = expected.next;
        stored = read;
        attempt.holds("apply.by-schema", judgeFields(state.live, fieldsIn(read["spec"])));
      }
    });
  },
});

const path = ".spec";
