import fc from "fast-check";
import { configMap } from "../../arbitraries/config-maps.ts";
import type { Answer } from "../../client/exchange.ts";
import { type Collection, objectOf, patchTypes } from "../../client/collection.ts";
import { sameJson } from "../../model/json-values.ts";
import { defineCheck } from "../../runner/define-check.ts";

/** Requests that would be about several objects, if there were such. */
const forms = {
  "a create of a ConfigMapList": ({ client, path }) => client.request("POST", path, { body: listIn("ConfigMapList") }),
  "a create of a List": ({ client, path }) => client.request("POST", path, { body: listIn("List") }),
  "a create of an array": ({ client, path }) => client.request("POST", path, { rawBody: JSON.stringify(bodies) }),
  "a create of documents in a row": ({ client, path }) =>
    client.request("POST", path, { rawBody: bodies.map((body) => JSON.stringify(body)).join("\n") }),
  "a create of documents in YAML": ({ client, path }) => {
    const rawBody = bodies.map((body) => JSON.stringify(body)).join("\n---\n");
    return client.request("POST", path, { rawBody, contentType: "application/yaml" });
  },
  "a PUT of the collection": ({ client, path }) => client.request("PUT", path, { body: listIn("ConfigMapList") }),
  "a patch of the collection": ({ client, path }) =>
    client.request("PATCH", path, { body: { data: { value: "new" } }, contentType: patchTypes.merge }),
  "a PUT of two names": ({ client, path }) => client.request("PUT", `${path}/a,b`, { body: listIn("ConfigMapList") }),
  "a deletion of two names": ({ client, path }) => client.request("DELETE", `${path}/a,b`),
  "an apply of a List": ({ client, path }) =>
    client.request("PATCH", `${path}/a`, {
      body: listIn("List"),
      contentType: patchTypes.apply,
      query: { fieldManager: "alpha", force: true },
    }),
} satisfies Record<string, (collection: Collection) => Promise<Answer>>;
const names = Object.keys(forms) as (keyof typeof forms)[];

const named = ["a", "b", "new-1", "new-2"];
const bodies = named.map((name) => configMap(name, { data: { value: "new" } }));
const listIn = (kind: string) => ({ apiVersion: "v1", kind, metadata: {}, items: bodies });

/**
 * Property: a request changes one object at most: there are no transactions over several that are named.
 * Method: bodies and paths that name some that exist and some that do not; the collection is compared with what it was.
 */
export const oneRequestIsOneObject = defineCheck({
  id: "one-request-is-one-object",
  area: "objects",
  property: "No request changes several named objects.",
  requirements: ["objects.single-resource"],
  features: ["configmaps"],
  input: fc.constantFrom(...names),
  examples: [...names],
  async run(attempt, form) {
    const collection = await attempt.target.collection("configmaps");
    for (const name of ["a", "b"]) objectOf(await collection.create(configMap(name, { data: { value: "old" } })));
    for (const name of named) attempt.target.created(collection.pathOf(name), false);
    const shown = async () => new Map((await collection.readList()).items.map((item) => [item.metadata.name, item]));
    const before = await shown();
    const answer = await forms[form](collection);
    const after = await shown();
    const changed = named.filter((name) => !sameJson(before.get(name), after.get(name)));
    const actual = `${changed.join(", ")} are other than before, after ${answer.status} ${answer.text.slice(0, 200)}`;
    attempt.expect("objects.single-resource", changed.length <= 1, `one object changed by ${form}, or none`, actual);
  },
});
