import { DiscoveryWalk, servedTypes } from "../../client/discovery.ts";
import { isJsonObject, objectsIn } from "../../client/types.ts";
import { defineCheck } from "../../runner/define-check.ts";

/**
 * Every collection that discovery names is one of its own kind, with List appended; none is a bare `List`.
 * One run says all. Nothing is written.
 */
export const collectionsNameTheirKind = defineCheck({
  id: "collections-name-their-kind",
  area: "pagination",
  property: "A collection is of the kind of its items with List appended, in their apiVersion.",
  requirements: ["lists.collection", "lists.no-kind-list"],
  features: ["configmaps"],
  async run(attempt) {
    const walk = new DiscoveryWalk(attempt.client);
    for (const { prefix, groupVersion, name, kind, verbs } of walk.through(await servedTypes(attempt.client, walk))) {
      if (name.includes("/") || !verbs.has("list")) continue;
      const answer = await attempt.client.request("GET", `${prefix}/${name}`, { query: { limit: 1 } });
      if (answer.status !== 200) continue; // not for these credentials, or not for reading: another requirement's question
      const list = isJsonObject(answer.json) ? answer.json : {};
      const lawful = list["kind"] === `${kind}List` && list["apiVersion"] === groupVersion;
      const actual = `${String(list["kind"])} of ${String(list["apiVersion"])}`;
      attempt.expect("lists.no-kind-list", list["kind"] !== "List", `${prefix}/${name}: ${kind}List`, actual);
      attempt.expect("lists.collection", lawful, `${prefix}/${name}: ${kind}List of ${groupVersion}`, actual);
      // An item need not repeat its kind; one that does is of that kind.
      for (const item of objectsIn(list, "items")) {
        const isOfKind = [kind, undefined].includes(item["kind"] as string | undefined);
        const isInVersion = [groupVersion, undefined].includes(item["apiVersion"] as string | undefined);
        const shown = `${String(item["kind"])} of ${String(item["apiVersion"])}`;
        const wanted = `${prefix}/${name}: items of the kind ${kind} of ${groupVersion}`;
        attempt.expect("lists.collection", isOfKind && isInVersion, wanted, shown);
      }
    }
  },
});
