import { isJsonObject, objectsIn } from "../../client/types.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";

/**
 * Every collection that discovery names is one of its own kind, with List appended; none is a bare `List`.
 * One run says all. Nothing is written.
 */
export const collectionsNameTheirKind = defineCheck({
  id: "collections-name-their-kind",
  area: "pagination",
  property: "A collection is of the kind of its items with List appended, in their apiVersion.",
  requirements: ["lists.collection"],
  features: ["configmaps"],
  async run(attempt) {
    const groups = await attempt.client.request("GET", "/apis");
    const versions = objectsIn(groups.json, "groups").flatMap((group) => objectsIn(group, "versions"));
    const groupVersions = versions.map((version) => String(version["groupVersion"]));
    await judgeGroup(attempt, "/api/v1", "v1");
    for (const groupVersion of groupVersions) await judgeGroup(attempt, `/apis/${groupVersion}`, groupVersion);
  },
});

async function judgeGroup(attempt: Attempt, path: string, groupVersion: string): Promise<void> {
  const resources = objectsIn((await attempt.client.request("GET", path)).json, "resources");
  for (const { name, kind, verbs } of resources) {
    if (String(name).includes("/") || !Array.isArray(verbs) || !verbs.includes("list")) continue;
    const answer = await attempt.client.request("GET", `${path}/${String(name)}`, { query: { limit: 1 } });
    if (answer.status !== 200) continue; // not for these credentials, or not for reading: another requirement's question
    const list = isJsonObject(answer.json) ? answer.json : {};
    const lawful = list["kind"] === `${String(kind)}List` && list["apiVersion"] === groupVersion;
    const actual = `${String(list["kind"])} of ${String(list["apiVersion"])}`;
    attempt.expect(
      "lists.collection",
      lawful,
      `${path}/${String(name)}: ${String(kind)}List of ${groupVersion}`,
      actual,
    );
  }
}
