import { stringify } from "yaml";
import { configMap } from "../../arbitraries/config-maps.ts";
import { mediaTypeOf } from "../../client/client.ts";
import { objectOf } from "../../client/collection.ts";
import { readOr, yamlIn } from "../../client/read-bodies.ts";
import { isApiObject, type Json } from "../../client/types.ts";
import { defineCheck } from "../../runner/define-check.ts";

/** What is asked for is what comes, and says so. One run says all. */
export const mediaTypesAreNegotiated = defineCheck({
  id: "media-types-are-negotiated",
  area: "errors",
  property: "Accept and Content-Type choose what is answered and what is read, independently.",
  requirements: ["content.type", "content.json-default", "content.fallback", "content.yaml"],
  features: ["configmaps"],
  async run(attempt) {
    const collection = await attempt.target.collection("configmaps");
    const { client, path } = collection;
    const sent = stringify(configMap("a", { data: { text: 'yes: "quoted"\nand more', number: "0777" } }));
    const created = await client.request("POST", path, { rawBody: sent, contentType: "application/yaml" });
    const object = objectOf(created, "content.yaml");
    const expected = JSON.stringify(
      configMap("a", { data: { text: 'yes: "quoted"\nand more', number: "0777" } })["data"],
    );
    attempt.expect(
      "content.yaml",
      sorted(object["data"]) === sorted(JSON.parse(expected) as Json),
      expected,
      JSON.stringify(object["data"]),
    );

    const one = collection.pathOf("a");
    const yaml = await client.request("GET", one, { accept: "application/yaml" });
    const read: unknown = yaml.status === 200 ? readOr(() => yamlIn(yaml.text)) : undefined;
    const same = isApiObject(read as Json) && sorted((read as { data: Json }).data) === sorted(object["data"]);
    attempt.expect("content.yaml", same, "the object in YAML", `${yaml.status} ${yaml.text.slice(0, 300)}`);
    attempt.expect(
      "content.type",
      mediaTypeOf(yaml.headers) === "application/yaml",
      "application/yaml",
      mediaTypeOf(yaml.headers),
    );

    const plain = await client.request("GET", one, { accept: null });
    attempt.expect(
      "content.json-default",
      isApiObject(plain.json),
      "JSON without an Accept header",
      `${mediaTypeOf(plain.headers)} ${plain.text.slice(0, 100)}`,
    );
    attempt.expect(
      "content.type",
      mediaTypeOf(plain.headers) === "application/json",
      "application/json",
      mediaTypeOf(plain.headers),
    );
    for (const accept of [
      "application/x-unknown, application/json",
      "application/json;as=Nothing;g=example.com;v=v9, application/json",
    ]) {
      const answer = await client.request("GET", one, { accept });
      attempt.expect(
        "content.fallback",
        answer.status === 200 && isApiObject(answer.json),
        `JSON for Accept: ${accept}`,
        `${answer.status} ${answer.text.slice(0, 200)}`,
      );
    }
  },
});

function sorted(value: Json | undefined): string {
  const entries = Object.entries((value ?? {}) as Record<string, Json>);
  return JSON.stringify(entries.sort(([a], [b]) => (a < b ? -1 : 1)));
}
