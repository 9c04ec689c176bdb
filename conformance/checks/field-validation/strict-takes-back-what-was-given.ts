import fc from "fast-check";
import { configMap } from "../../arbitraries/config-maps.ts";
import { objectOf } from "../../client/collection.ts";
import type { JsonObject } from "../../client/types.ts";
import { fieldTexts, warningTexts } from "../../model/field-warnings.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";

const podTemplate: JsonObject = {
  apiVersion: "v1",
  kind: "PodTemplate",
  metadata: { name: "a" },
  template: {
    metadata: { labels: { a: "b" } },
    spec: { containers: [{ name: "c", image: "example.com/c:1", ports: [{ containerPort: 80 }] }] },
  },
};

const metadata = fc.record(
  {
    labels: fc.constant({ a: "b" }),
    annotations: fc.constant({ "example.com/a": '{"b": "c: d # e"}' }),
    finalizers: fc.constant(["example.com/hold"]),
  },
  { requiredKeys: [] },
);

/**
 * Property: what the server gave out has only fields that it knows, each once: managed fields, defaults and all.
 * Method: read, as JSON or YAML, and sent back as it came, under Strict.
 */
export const strictTakesBackWhatWasGiven = defineCheck({
  id: "strict-takes-back-what-was-given",
  area: "field-validation",
  property: "An object read from the server passes strict validation, unchanged.",
  requirements: ["field-validation.round-trip"],
  features: ["configmaps", "podtemplates"],
  input: fc.record({
    resource: fc.constantFrom("configmaps", "podtemplates"),
    metadata,
    mediaType: fc.constantFrom("application/json", "application/yaml"),
    owned: fc.boolean(),
    patched: fc.boolean(),
  }),
  async run(attempt, { resource, metadata, mediaType, owned, patched }) {
    const collection = await attempt.target.collection(resource);
    const sent = resource === "configmaps" ? configMap("a", { data: { "a.b": "1\n2: x\n" } }) : podTemplate;
    const ownerReferences = owned ? [await ownerReference(attempt)] : [];
    const whole: JsonObject = { ...sent, metadata: { ...metadata, name: "a", ownerReferences } };
    objectOf(await collection.create(whole));
    if (patched) objectOf(await collection.patch("a", "merge", { metadata: { labels: { c: "d" } } }));
    const path = collection.pathOf("a");
    const given = await attempt.client.request("GET", path, { accept: mediaType });
    const answer = await attempt.client.request("PUT", path, {
      rawBody: given.text,
      contentType: mediaType,
      query: { fieldValidation: "Strict" },
    });
    const warnings = fieldTexts(warningTexts(answer.headers));
    attempt.expect(
      "field-validation.round-trip",
      answer.status === 200 && warnings.length === 0,
      `200 without warnings for the object as ${mediaType} that GET gave`,
      `${answer.status} ${answer.text.slice(0, 400)} ${warnings.join(" | ")}`,
    );
  },
});

/** To an object that exists: others may be collected at any moment. */
async function ownerReference(attempt: Attempt): Promise<JsonObject> {
  const { uid } = objectOf(await (await attempt.target.collection("configmaps")).create(configMap("owner"))).metadata;
  return { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid, controller: true, blockOwnerDeletion: false };
}
