import fc from "fast-check";
import { objectOf } from "../../client/collection.ts";
import { isJsonObject, type JsonObject } from "../../client/types.ts";
import { judgeNamed, fieldTexts, judgeWarnings, warningTexts } from "../../model/field-warnings.ts";
import { withDefinition } from "../../runner/custom-definition.ts";
import { defineCheck } from "../../runner/define-check.ts";

/**
 * Property: of a defined object its schema keeps what it names, and metadata is known whatever the schema says of it.
 * Method: schemas that name much or little of metadata, and objects with known, unknown and kept fields.
 */
export const schemasDecideWhatIsKept = defineCheck({
  id: "schemas-decide-what-is-kept",
  area: "custom-resources",
  property: "A definition's schema says which fields are kept, dropped and refused, and metadata is not its affair.",
  requirements: [
    "custom-resources.pruned",
    "custom-resources.strict",
    "custom-resources.round-trip",
    "custom-resources.types",
  ],
  features: ["namespaces"],
  cost: "slow",
  input: fc.record({
    metadata: fc.constantFrom<"silent" | "open" | "name">("silent", "open", "name"),
    labels: fc.dictionary(fc.constantFrom("a", "b"), fc.constantFrom("x", "y")),
    free: fc.boolean(),
  }),
  examples: [{ metadata: "name", labels: { a: "x" }, free: true }],
  async run(attempt, { metadata, labels, free }) {
    const { extensionPrefix } = attempt.profile.dialect;
    const ofMetadata = {
      silent: {},
      open: { metadata: { type: "object" } },
      name: { metadata: { type: "object", properties: { name: { type: "string", maxLength: 60 } } } },
    }[metadata];
    const specFields = {
      size: { type: "integer" },
      free: { type: "object", [`${extensionPrefix}preserve-unknown-fields`]: true },
    };
    const spec = { type: "object", required: ["size"], properties: specFields };
    const schema: JsonObject = { type: "object", required: ["spec"], properties: { ...ofMetadata, spec } };
    await withDefinition(attempt, schema, async ({ widgets, widget }) => {
      const kept = { size: 1, ...(free ? { free: { any: [1, { thing: null }] } } : {}) };
      const strays = { spec: { ...kept, zzSpec: 1 }, zzTop: { a: 1 } };
      const fields = ["zzSpec", "zzTop"];
      const sent = widget("a", { ...strays, metadata: { name: "a", labels } });

      const strict = await widgets.create(sent, { query: { fieldValidation: "Strict" } });
      const isRefused = strict.status === 400 && (await widgets.get("a")).status === 404;
      attempt.expect(
        "custom-resources.strict",
        isRefused,
        "400, and nothing created",
        `${strict.status} ${strict.text}`,
      );
      const message = isJsonObject(strict.json) ? String(strict.json["message"]) : strict.text;
      attempt.holds("custom-resources.strict", judgeNamed(fields, message));

      const created = await widgets.create(sent);
      attempt.holds("custom-resources.pruned", judgeWarnings(fields, warningTexts(created.headers)));
      objectOf(created, "custom-resources.pruned");
      const stored = objectOf(await widgets.get("a"));
      const isPruned = !("zzTop" in stored) && sameJson(stored["spec"], kept);
      attempt.expect("custom-resources.pruned", isPruned, JSON.stringify(kept), JSON.stringify(stored));

      const back = await widgets.put("a", stored, { query: { fieldValidation: "Strict" } });
      const isTaken = back.status === 200 && fieldTexts(warningTexts(back.headers)).length === 0;
      attempt.expect(
        "custom-resources.round-trip",
        isTaken,
        "200 without warnings for what GET gave",
        `${back.status} ${back.text.slice(0, 400)}`,
      );
      for (const wrong of [{ size: "1" }, { free: {} }, { size: 1, free: "no object" }]) {
        const answer = await widgets.create(widget("b", { spec: wrong }), { query: { fieldValidation: "Ignore" } });
        attempt.expect(
          "custom-resources.types",
          answer.status === 400 || answer.status === 422,
          `a spec ${JSON.stringify(wrong)} refused`,
          `${answer.status} ${answer.text.slice(0, 300)}`,
        );
      }
    });
  },
});

/** Members in any order. */
function sameJson(left: unknown, right: unknown): boolean {
  return fc.stringify(sorted(left)) === fc.stringify(sorted(right));
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.entries(value)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .map(([key, member]) => [key, sorted(member)]);
}
