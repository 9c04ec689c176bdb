import type { Client } from "../../client/client.ts";
import { isJsonObject, type JsonObject, objectsIn } from "../../client/types.ts";
import { Inconclusive } from "../../client/findings.ts";
import { defineCheck } from "../../runner/define-check.ts";

/** Credentials that do not reach, and servers behind the server that are away. */
const silent: readonly number[] = [401, 403, 503];

/** Every resource that discovery says can be listed is listed in JSON, as the list of its kind. One run says all. */
export const everyListComesInJson = defineCheck({
  id: "every-list-comes-in-json",
  area: "encodings",
  property: "Every type that can be listed is listed in JSON.",
  requirements: ["encodings.json"],
  features: [],
  async run(attempt) {
    const { client } = attempt;
    let seen = 0;
    for (const prefix of await prefixesOf(client)) {
      for (const resource of objectsIn((await client.request("GET", prefix)).json, "resources")) {
        const { name, kind, verbs } = resource;
        if (!Array.isArray(verbs) || !verbs.includes("list") || String(name).includes("/")) continue;
        const answer = await client.request("GET", `${prefix}/${String(name)}`, { query: { limit: 1 } });
        if (silent.includes(answer.status)) continue;
        seen += 1;
        const shown = isJsonObject(answer.json) ? answer.json : {};
        const isList =
          answer.status === 200 && shown["kind"] === `${String(kind)}List` && Array.isArray(shown["items"]);
        const actual = `${answer.status} ${answer.text.slice(0, 200)}`;
        attempt.expect("encodings.json", isList, `GET ${prefix}/${String(name)}: a ${String(kind)}List`, actual);
      }
    }
    if (seen === 0) throw new Inconclusive("discovery names no type that these credentials may list");
  },
});

async function prefixesOf(client: Client): Promise<string[]> {
  const groups = objectsIn((await client.request("GET", "/apis")).json, "groups");
  const versions = groups.flatMap((group): JsonObject[] => objectsIn(group, "versions"));
  return ["/api/v1", ...versions.map(({ groupVersion }) => `/apis/${String(groupVersion)}`)];
}
