import fc from "fast-check";
import { anyName, configMap } from "../../arbitraries/config-maps.ts";
import { mediaTypeOf } from "../../client/client.ts";
import type { Answer } from "../../client/exchange.ts";
import { type Collection, objectOf, succeeded } from "../../client/collection.ts";
import {
  type ApiObject,
  isApiObject,
  isJsonObject,
  type Json,
  type JsonObject,
  objectsIn,
} from "../../client/types.ts";
import { sameJson } from "../../model/json-values.ts";
import { acceptAs } from "../../runner/features.ts";
import { defineCheck } from "../../runner/define-check.ts";

const verbs = ["post", "apply", "put", "merge", "json", "strategic"] as const;
const writtenName = "written";

/** A write of an object that only these write; PUT and patches need it to be there, and it is made for them first. */
async function send(collection: Collection, verb: (typeof verbs)[number], accept: string): Promise<Answer> {
  const sent = configMap(writtenName, { data: { by: verb } });
  if (verb === "post") return collection.create(sent, { accept });
  if (verb === "apply")
    return collection.patch(writtenName, "apply", sent, { accept, query: { fieldManager: "alpha", force: true } });
  const found = await collection.get(writtenName);
  const live = objectOf(found.status === 404 ? await collection.create(sent) : found);
  if (verb === "put") return collection.put(writtenName, { ...live, data: { by: verb } }, { accept });
  if (verb === "json")
    return collection.patch(writtenName, "json", [{ op: "add", path: "/data", value: { by: verb } }], { accept });
  return collection.patch(writtenName, verb, { data: { by: verb } }, { accept });
}

/**
 * Property: asked for metadata alone, an object, a list, a watch and the answer to a write show the metadata that they have
 * otherwise, and nothing else of the objects.
 * Method: any ConfigMaps, read and written both ways; a list is no object and an object no list.
 */
export const metadataCanBeAskedForAlone = defineCheck({
  id: "metadata-can-be-asked-for-alone",
  area: "negotiation",
  property: "PartialObjectMetadata shows an object's metadata as it is, in get, list, watch and answers to writes.",
  requirements: [
    "negotiation.partial",
    "negotiation.partial-writes",
    "negotiation.partial-arity",
    "negotiation.yaml-watch",
  ],
  features: ["configmaps", "watch", "tables"],
  input: fc.record({
    names: fc.uniqueArray(anyName, { minLength: 1, maxLength: 4 }),
    labels: fc.dictionary(fc.constantFrom("a", "b"), fc.constantFrom("x", ""), { maxKeys: 2 }),
    verbs: fc.subarray([...verbs], { minLength: 1, maxLength: 2 }),
  }),
  examples: [{ names: ["a", "b"], labels: { a: "x" }, verbs: [...verbs] }],
  async run(attempt, { names, labels, verbs: written }) {
    const { dialect } = attempt.profile;
    const collection = await attempt.target.collection("configmaps");
    const { client } = collection;
    const before = await collection.readList();
    for (const name of names) objectOf(await collection.create(configMap(name, { labels, data: { k: "v" } })));
    const asObject = acceptAs(dialect, "PartialObjectMetadata");
    const asList = acceptAs(dialect, "PartialObjectMetadataList");
    const apiVersion = `meta.${dialect.groupSuffix}/v1`;
    const expectMetadata = (
      whole: ApiObject,
      part: Json | undefined,
      where: string,
      requirement = "negotiation.partial",
    ) => {
      const expected: JsonObject = { kind: "PartialObjectMetadata", apiVersion, metadata: whole.metadata };
      const same = sameJson(part, expected);
      attempt.expect(requirement, same, `in ${where}: ${JSON.stringify(expected)}`, JSON.stringify(part));
    };
    const [name] = names as [string];
    const whole = objectOf(await collection.get(name));
    const one = await client.request("GET", collection.pathOf(name), { accept: asObject });
    expectMetadata(whole, one.json, "a get");
    const type = mediaTypeOf(one.headers);
    attempt.expect("negotiation.partial", type === "application/json", "application/json", type);

    const items = attempt.target.own(collection, (await collection.readList()).items);
    const list = await client.request("GET", collection.path, { accept: asList });
    const kind = isJsonObject(list.json)
      ? `${String(list.json["kind"])} ${String(list.json["apiVersion"])}`
      : list.text;
    attempt.expect(
      "negotiation.partial",
      kind === `PartialObjectMetadataList ${apiVersion}`,
      `PartialObjectMetadataList ${apiVersion}`,
      kind,
    );
    const parts = objectsIn(list.json, "items").filter(
      (part) => isApiObject(part) && attempt.target.isOwn(collection, part),
    );
    const counts = [items.length, parts.length];
    attempt.expect("negotiation.partial", counts[0] === counts[1], `${counts[0]} items`, `${counts[1]} items`);
    for (const [index, item] of items.entries())
      expectMetadata(item, { ...parts[index], kind: "PartialObjectMetadata", apiVersion }, "a list");

    for (const [path, accept] of [
      [collection.path, asObject],
      [collection.pathOf(name), asList],
    ] as const) {
      const wrong = await client.request("GET", path, { accept });
      attempt.expect(
        "negotiation.partial-arity",
        wrong.status === 406,
        `406 for GET ${path} as ${accept}`,
        String(wrong.status),
      );
    }

    const watch = await attempt.answeredWatch(() =>
      collection.watch({ resourceVersion: before.resourceVersion }, { accept: asObject }),
    );
    const known: readonly string[] = names;
    const own = () =>
      watch.events.filter(({ object }) =>
        known.includes(String((object["metadata"] as JsonObject | undefined)?.["name"])),
      );
    await watch.until(() => own().length >= names.length);
    watch.close();
    for (const [index, { object }] of own().entries()) {
      const item = items.find((one) => one.metadata.name === names[index]) as ApiObject;
      expectMetadata(item, object, "a watch");
    }
    attempt.expect(
      "negotiation.partial",
      own().length === names.length,
      `${names.length} events`,
      `${own().length} events`,
    );
    for (const verb of written) {
      const answer = await send(collection, verb, asObject);
      const kept = objectOf(await collection.get(writtenName));
      expectMetadata(kept, answer.json, `the answer to a ${verb}`, "negotiation.partial-writes");
      if (verb === "post") succeeded(await collection.delete(writtenName));
    }
    const yaml = await client.request("GET", collection.path, {
      accept: "application/yaml",
      query: { watch: true, timeoutSeconds: 1 },
    });
    attempt.expect("negotiation.yaml-watch", yaml.status === 406, "406 for a watch in YAML", String(yaml.status));
  },
});
