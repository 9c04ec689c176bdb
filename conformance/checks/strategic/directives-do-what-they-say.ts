import { mainPath, podTemplate, specPath } from "../../arbitraries/pod-templates.ts";
import { objectOf } from "../../client/collection.ts";
import { type Json, type JsonObject, versionOf } from "../../client/types.ts";
import { sameJson, valueAt, withoutEmpty } from "../../model/json-values.ts";
import { defineCheck } from "../../runner/define-check.ts";

interface Row {
  readonly requirement: string;
  readonly patch: JsonObject;
  readonly at: readonly (string | number)[];
  /** What is at that place afterwards. */
  readonly leaves: Json;
}

const inMain = (fields: JsonObject): JsonObject => ({
  template: { spec: { containers: [{ name: "main", ...fields }] } },
});
const inSpec = (spec: JsonObject): JsonObject => ({ template: { spec } });
const configured: JsonObject = { configMap: { name: "m", defaultMode: 420 } };

const rows: readonly Row[] = [
  {
    requirement: "strategic.replace",
    patch: { metadata: { annotations: { $patch: "replace", only: "this" } } },
    at: ["metadata", "annotations"],
    leaves: { only: "this" },
  },
  {
    requirement: "strategic.replace",
    patch: inMain({ env: [{ $patch: "replace" }, { name: "G", value: "3" }] }),
    at: [...mainPath, "env"],
    leaves: [{ name: "G", value: "3" }],
  },
  {
    requirement: "strategic.delete-element",
    patch: inMain({ env: [{ name: "E", $patch: "delete" }] }),
    at: [...mainPath, "env"],
    leaves: [{ name: "F", value: "2" }],
  },
  {
    requirement: "strategic.delete-element",
    patch: inMain({ env: [{ name: "absent", $patch: "delete" }] }),
    at: [...mainPath, "env"],
    leaves: [
      { name: "E", value: "1" },
      { name: "F", value: "2" },
    ],
  },
  {
    requirement: "strategic.order",
    patch: inMain({ "$setElementOrder/env": [{ name: "F" }, { name: "E" }] }),
    at: [...mainPath, "env"],
    leaves: [
      { name: "F", value: "2" },
      { name: "E", value: "1" },
    ],
  },
  {
    requirement: "strategic.retain-keys",
    patch: inSpec({ volumes: [{ name: "v", $retainKeys: ["name", "configMap"], configMap: { name: "m" } }] }),
    at: [...specPath, "volumes"],
    leaves: [{ name: "v", ...configured }],
  },
];

/** A table of directives, each against an object of its own. One run says all. */
export const directivesDoWhatTheySay = defineCheck({
  id: "directives-do-what-they-say",
  area: "strategic",
  property: "Directives replace, delete, order and retain what they name.",
  requirements: [
    "strategic.replace",
    "strategic.delete-element",
    "strategic.order",
    "strategic.retain-keys",
    "strategic.missing-key",
  ],
  features: ["podtemplates"],
  async run(attempt) {
    const collection = await attempt.target.collection("podtemplates");
    const sent = (name: string) =>
      podTemplate(name, {
        metadata: { annotations: { a: "1", b: "2" } },
        main: {
          env: [
            { name: "E", value: "1" },
            { name: "F", value: "2" },
          ],
        },
        spec: { volumes: [{ name: "v", emptyDir: { medium: "Memory" } }] },
      });
    for (const [index, { requirement, patch, at, leaves }] of rows.entries()) {
      objectOf(await collection.create(sent(`a${index}`)));
      const answer = await collection.patch(`a${index}`, "strategic", patch);
      const there = valueAt(answer.json, ...at);
      const done = answer.status === 200 && sameJson(withoutEmpty(there), leaves);
      const actual = `${answer.status} ${answer.status === 200 ? JSON.stringify(there) : answer.text.slice(0, 300)}`;
      attempt.expect(
        requirement,
        done,
        `${at.join(".")} ${JSON.stringify(leaves)} after ${JSON.stringify(patch)}`,
        actual,
      );
    }
    const before = objectOf(await collection.create(sent("b")));
    const keyless = await collection.patch("b", "strategic", inMain({ env: [{ value: "nameless" }] }));
    const after = objectOf(await collection.get("b"));
    const refused = keyless.status >= 400 && versionOf(after) === versionOf(before);
    const actual = `${keyless.status} ${keyless.text.slice(0, 300)}`;
    attempt.expect("strategic.missing-key", refused, "a refusal that changes nothing", actual);
  },
});
