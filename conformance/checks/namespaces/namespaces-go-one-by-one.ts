import { isJsonObject, objectsIn } from "../../client/types.ts";
import { Inconclusive } from "../../client/findings.ts";
import { defineCheck } from "../../runner/define-check.ts";

/**
 * Namespaces are not deleted by the collection. Read from discovery and never tried: a server that takes such a request
 * for good, and minds neither dryRun nor selectors, would lose all that it holds. One run says all.
 */
export const namespacesGoOneByOne = defineCheck({
  id: "namespaces-go-one-by-one",
  area: "namespaces",
  property: "Namespaces do not have the verb deletecollection.",
  requirements: ["namespaces.no-collection-delete"],
  features: ["namespaces"],
  async run(attempt) {
    const answer = await attempt.client.request("GET", "/api/v1");
    const namespaces = objectsIn(answer.json, "resources").find(({ name }) => name === "namespaces");
    const verbs = isJsonObject(namespaces) ? namespaces["verbs"] : undefined;
    if (!Array.isArray(verbs)) throw new Inconclusive(`/api/v1 does not say which verbs namespaces have`);
    const without = !verbs.includes("deletecollection");
    const expected = "namespaces without deletecollection among their verbs in /api/v1";
    attempt.expect("namespaces.no-collection-delete", without, expected, JSON.stringify(verbs));
  },
});
