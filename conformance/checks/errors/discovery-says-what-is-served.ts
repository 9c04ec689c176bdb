import { mediaTypeOf } from "../../client/client.ts";
import type { Answer } from "../../client/exchange.ts";
import { DiscoveryWalk, goesOnNaming } from "../../client/discovery.ts";
import { Inconclusive } from "../../client/findings.ts";
import { isJsonObject, type Json, type JsonObject } from "../../client/types.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";

/**
 * Discovery documents are JSON and say so; what they name is served; and what they name without the verb watch is not
 * answered with a list when somebody watches it. One run says all. Nothing is written.
 */
export const discoverySaysWhatIsServed = defineCheck({
  id: "discovery-says-what-is-served",
  area: "errors",
  property: "Discovery is JSON, names what is served, and verbs that it does not name are refused.",
  requirements: ["discovery.content-type", "discovery.shape", "watch.unwatchable"],
  features: [],
  async run(attempt) {
    const versions = await document(attempt, "/api", "versions");
    const core = (versions["versions"] as readonly Json[]).includes("v1");
    attempt.expect("discovery.shape", core, "version v1 of the core group", JSON.stringify(versions["versions"]));
    const groups = await document(attempt, "/apis", "groups");
    const walk = new DiscoveryWalk(attempt.client);
    const paths = ["/api/v1", ...walk.versions(groups).map((version) => `/apis/${version}`)];
    for (const path of walk.through(paths)) {
      const answer = await attempt.client.request("GET", path);
      if (await isAway(attempt, path, answer)) continue;
      const resources = walk.types(judgeDocument(attempt, path, "resources", answer));
      for (const resource of walk.through(resources)) await judgeResource(attempt, path, resource);
    }
    attempt.holds("watch.unwatchable", undefined);
  },
});

/** Served by another server, which is away; or gone since the groups were read. */
async function isAway({ client }: Attempt, path: string, { status }: Answer): Promise<boolean> {
  if (path === "/api/v1") return false;
  return status === 503 || (status === 404 && !(await goesOnNaming(client, path.replace("/apis/", ""))));
}

async function document(attempt: Attempt, path: string, field: string): Promise<JsonObject> {
  return judgeDocument(attempt, path, field, await attempt.client.request("GET", path));
}

function judgeDocument(attempt: Attempt, path: string, field: string, answer: Answer): JsonObject {
  if (answer.status === 403) throw new Inconclusive(`the credentials do not allow GET ${path}: 403 ${answer.text}`);
  const mediaType = mediaTypeOf(answer.headers);
  attempt.expect(
    "discovery.content-type",
    mediaType === "application/json",
    `${path} as application/json`,
    `${answer.status} ${mediaType}`,
  );
  const { json } = answer;
  const shaped = answer.status === 200 && isJsonObject(json) && Array.isArray(json[field]);
  attempt.expect(
    "discovery.shape",
    shaped,
    `${path} with an array of ${field}`,
    `${answer.status} ${answer.text.slice(0, 200)}`,
  );
  return json as JsonObject;
}

async function judgeResource(attempt: Attempt, path: string, resource: JsonObject): Promise<void> {
  const name = String(resource["name"]);
  const verbs = resource["verbs"];
  const shaped =
    typeof resource["kind"] === "string" && typeof resource["namespaced"] === "boolean" && Array.isArray(verbs);
  attempt.expect(
    "discovery.shape",
    shaped,
    `${path}: ${name} with kind, namespaced and verbs`,
    JSON.stringify(resource),
  );
  if (name.includes("/") || (verbs as readonly Json[]).includes("watch")) return;
  const watch = await attempt.answeredWatch(() => attempt.client.watch(`${path}/${name}`, { timeoutSeconds: 1 }));
  const { status } = watch;
  watch.close();
  if (status === 401 || status === 403) return;
  attempt.expect(
    "watch.unwatchable",
    status !== undefined && status >= 400 && status < 500,
    `a watch of ${name}, which has no such verb, answered 405`,
    String(status),
  );
}
