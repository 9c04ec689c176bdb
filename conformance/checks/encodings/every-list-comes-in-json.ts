import { DiscoveryWalk, goesOnNaming, servedTypes } from "../../client/discovery.ts";
import { isJsonObject } from "../../client/types.ts";
import { Inconclusive } from "../../client/findings.ts";
import { defineCheck } from "../../runner/define-check.ts";

/** Credentials that do not reach, and servers behind the server that are away. */
const silent: readonly number[] = [401, 403, 503];

/** Every resource that discovery says can be listed is listed in JSON, as the list of its kind; what goes while it is looked at is passed over. One run says all. */
export const everyListComesInJson = defineCheck({
  id: "every-list-comes-in-json",
  area: "encodings",
  property: "Every type that can be listed is listed in JSON.",
  requirements: ["encodings.json"],
  features: [],
  async run(attempt) {
    const { client } = attempt;
    let seen = 0;
    const walk = new DiscoveryWalk(client);
    for (const { prefix, groupVersion, name, kind, verbs } of walk.through(await servedTypes(client, walk))) {
      if (!verbs.has("list") || name.includes("/")) continue;
      const answer = await client.request("GET", `${prefix}/${name}`, { query: { limit: 1 } });
      if (silent.includes(answer.status)) continue;
      const shown = isJsonObject(answer.json) ? answer.json : {};
      const isList = answer.status === 200 && shown["kind"] === `${kind}List` && Array.isArray(shown["items"]);
      if (!isList && !(await goesOnNaming(client, groupVersion, name))) continue;
      seen += 1;
      const actual = `${answer.status} ${answer.text.slice(0, 200)}`;
      attempt.expect("encodings.json", isList, `GET ${prefix}/${name}: a ${kind}List`, actual);
    }
    if (seen === 0) throw new Inconclusive("discovery names no type that these credentials may list");
  },
});
