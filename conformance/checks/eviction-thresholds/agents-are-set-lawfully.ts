import { LostAnswer } from "../../client/client.ts";
import { isJsonObject, type Json, type JsonObject, objectsIn } from "../../client/types.ts";
import { Unsupported } from "../../client/findings.ts";
import { agentRules, judgeAgentSettings } from "../../model/agent-settings.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";

/**
 * Property: what agents that live in the target say of their settings is within the ranges of document 3, and what their
 * Nodes say of themselves fits it.
 * Method: it only looks, at a few nodes: the configuration is read through their proxy, and the Node after it.
 */
export const agentsAreSetLawfully = defineCheck({
  id: "agents-are-set-lawfully",
  area: "eviction-thresholds",
  property: "The settings of agents are within their ranges, and their nodes fit them.",
  requirements: requirementsOf(agentRules),
  features: ["nodes", "node-proxy"],
  async run(attempt) {
    let seen = 0;
    for (const name of await nodesOf(attempt)) {
      if (seen >= nodesMax) break;
      const config = configIn(await documentAt(attempt, `/api/v1/nodes/${name}/proxy/configz`));
      const node = await documentAt(attempt, `/api/v1/nodes/${name}`);
      const status = node?.["status"];
      if (config === undefined || !isJsonObject(status)) continue; // it says nothing of itself, or has left
      seen += 1;
      for (const { requirement, violation } of judgeAgentSettings({ config, status })) {
        attempt.holds(requirement, violation);
      }
    }
    if (seen === 0) throw new Unsupported("agents that tell their configuration through the nodes' proxy");
  },
});

const nodesMax = 3;
const nodesAskedMax = 10;

function requirementsOf(rules: typeof agentRules): readonly [string, ...string[]] {
  return [...new Set(rules.map(({ requirement }) => requirement))] as [string, ...string[]];
}

/** None where nodes are not to be seen with these credentials. */
async function nodesOf(attempt: Attempt): Promise<readonly string[]> {
  const { json } = await attempt.client.request("GET", "/api/v1/nodes", { query: { limit: nodesAskedMax } });
  return objectsIn(json, "items").flatMap(({ metadata }) =>
    isJsonObject(metadata) && typeof metadata["name"] === "string" ? [metadata["name"]] : [],
  );
}

async function documentAt(attempt: Attempt, path: string): Promise<JsonObject | undefined> {
  const answer = await attempt.client.attempt("GET", path);
  return answer instanceof LostAnswer || answer.status !== 200 || !isJsonObject(answer.json) ? undefined : answer.json;
}

/** Configz holds it under one name. */
function configIn(configz: Json | undefined): JsonObject | undefined {
  return isJsonObject(configz) ? Object.values(configz).find(isJsonObject) : undefined;
}
