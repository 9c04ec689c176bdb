import { mediaTypeOf } from "../../client/client.ts";
import { Inconclusive, Unsupported, type Violation } from "../../client/findings.ts";
import type { Json } from "../../client/types.ts";
import { currentVersions, judgeSameServed, servedByAggregate, servedByList } from "../../model/discovery-law.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { acceptAs } from "../../runner/features.ts";

/**
 * Discovery of everything at once names the same types, verbs and subresources as the lists of the single versions do. One run
 * says all. In a cluster of others something may be defined in between: what differs is looked at again, and again.
 */
export const discoveriesSayTheSame = defineCheck({
  id: "discoveries-say-the-same",
  area: "errors",
  property: "Discovery of everything at once says the same as the lists of single versions.",
  requirements: ["discovery.aggregated"],
  features: [],
  async run(attempt) {
    let violation: Violation | undefined;
    for (let look = 1; look <= looksMax; look += 1) {
      if (look > 1) await attempt.client.pause(pauseMillis);
      violation = await difference(attempt);
      if (violation === undefined) break;
    }
    attempt.holds("discovery.aggregated", violation);
  },
});

const looksMax = 3;
const pauseMillis = 2000;

async function difference(attempt: Attempt): Promise<Violation | undefined> {
  const { client } = attempt;
  const core = currentVersions(await everything(attempt, "/api"));
  const groups = currentVersions(await everything(attempt, "/apis"));
  for (const [groupVersion, version] of [...core, ...groups]) {
    const answer = await client.request("GET", `${core.has(groupVersion) ? "/api" : "/apis"}/${groupVersion}`);
    if (answer.status !== 200) continue; // another check's affair
    const found = judgeSameServed(groupVersion, servedByList(answer.json), servedByAggregate(version));
    if (found !== undefined) return found;
  }
  return undefined;
}

async function everything({ client, profile }: Attempt, path: string): Promise<Json | undefined> {
  const kind = "APIGroupDiscoveryList";
  const accept = acceptAs(profile.dialect, kind).replace("g=meta.", "g=apidiscovery.").replace("v=v1", "v=v2");
  const answer = await client.request("GET", path, { accept: `${accept},application/json` });
  if (answer.status === 403) throw new Inconclusive(`the credentials do not allow GET ${path}: 403 ${answer.text}`);
  const { json } = answer;
  const isServed =
    answer.status === 200 && mediaTypeOf(answer.headers) === "application/json" && answer.text.includes(kind);
  if (!isServed) throw new Unsupported("discovery of everything at once");
  return json;
}
