import { type EvictionRules, parseEvictionSettings } from "../../../wire/eviction-thresholds.ts";
import type { UsageReading } from "../../../wire/node-host.ts";
import { LostAnswer, type Query } from "../../client/client.ts";
import { listOf, objectOf } from "../../client/collection.ts";
import type { ApiObject } from "../../client/types.ts";
import { isJsonObject } from "../../client/types.ts";
import { Unsupported } from "../../client/findings.ts";
import { judgeRaised, judgeTaints } from "../../model/eviction/conditions.ts";
import type { EvictionHistory, Judgement, NodeSighting } from "../../model/eviction/history.ts";
import { isCritical } from "../../model/eviction/history.ts";
import { judgeMessage } from "../../model/eviction/messages.ts";
import { evictionOf, readingOf, settingsOf, sightingOf, traitsOf } from "../../model/eviction/observed.ts";
import { judgeStatus } from "../../model/eviction/statuses.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";

/**
 * Property: agents that already live in the target keep to the thresholds that they name.
 * Method: it only looks. Thresholds and usage are read through the proxy of a few nodes, for as long as conditions take
 * to follow; then conditions, taints, and the pods that were evicted there are judged. Usage between two looks is not
 * known, so only pressure at every look, and well below the threshold, must show.
 */
export const agentsKeepToTheirThresholds = defineCheck({
  id: "agents-keep-to-their-thresholds",
  area: "eviction-thresholds",
  property: "Agents have thresholds that mean something; conditions, taints and evicted pods agree with them.",
  // Pressure and evicted pods are judged where there are any; that there are none proves nothing of their rows.
  requirements: ["agent-eviction.settings", "agent-eviction.taints"],
  features: ["nodes", "node-proxy", "pods"],
  cost: "slow",
  async run(attempt) {
    const agents = await agentsOf(attempt);
    if (agents.length === 0) throw new Unsupported("agents that tell their configuration through the nodes' proxy");
    for (let look = 0; look < looks; look += 1) {
      if (look > 0) await attempt.client.pause(lookMillis);
      for (const agent of agents) await lookAt(attempt, agent);
    }
    for (const agent of agents) {
      judgeNode(attempt, agent);
      await judgePods(attempt, agent);
    }
  },
});

/** Nodes to look at, and how often: conditions follow a look of the agent's within 10 s and its next report within 10 s. */
const nodesMax = 3;
const nodesAskedMax = 10;
const looks = 10;
const lookMillis = 5000;
const patience = { reportMillis: 40_000, evictionMillis: 0, tellMillis: 0, taintMillis: 20_000 };
/** Below this part of a threshold no rounding and no other moment of measuring explains that it is not met. */
const wellBelow = 0.95;

interface Agent {
  readonly node: string;
  readonly rules: EvictionRules;
  readonly readings: UsageReading[];
  readonly sightings: NodeSighting[];
  /** Uids of the pods that had been evicted before. */
  readonly known: ReadonlySet<string>;
}

/** None where nodes are not to be seen with these credentials: a target need not show them to everybody. */
async function agentsOf(attempt: Attempt): Promise<Agent[]> {
  const agents: Agent[] = [];
  for (const { metadata } of await itemsOf(attempt, "nodes", { limit: nodesAskedMax })) {
    if (agents.length >= nodesMax) break;
    const settings = settingsOf(await proxied(attempt, metadata.name, "configz"));
    if (settings === undefined) continue;
    const rules = parseEvictionSettings(settings);
    const wrong = "error" in rules ? rules.error : undefined;
    const expected = `${metadata.name} has thresholds that can be read`;
    attempt.expect("agent-eviction.settings", wrong === undefined, expected, wrong ?? "");
    if ("error" in rules) continue;
    const known = new Set((await evictedOn(attempt, metadata.name)).map(({ pod }) => uidOf(pod)));
    agents.push({ node: metadata.name, rules, readings: [], sightings: [], known });
  }
  return agents;
}

async function itemsOf(attempt: Attempt, resource: string, query: Query): Promise<readonly ApiObject[]> {
  const everywhere = attempt.target.everywhere(resource);
  const answer = await everywhere.list(query);
  return answer.status === 401 || answer.status === 403 ? [] : listOf(answer).items;
}

async function evictedOn(attempt: Attempt, node: string) {
  const pods = await itemsOf(attempt, "pods", { fieldSelector: `spec.nodeName=${node}` });
  return pods.flatMap((pod) => {
    const eviction = evictionOf(pod, attempt.clock.nowMillis());
    return eviction === undefined ? [] : [{ pod, eviction }];
  });
}

const uidOf = ({ metadata }: ApiObject): string => metadata.uid ?? `${metadata.namespace}/${metadata.name}`;

async function lookAt(attempt: Attempt, { node, readings, sightings }: Agent): Promise<void> {
  const summary = await proxied(attempt, node, "stats/summary");
  readings.push(readingOf(summary, attempt.clock.nowMillis()));
  const seen = await attempt.client.request("GET", `/api/v1/nodes/${node}`);
  if (seen.status === 404) return; // nodes may leave while we look
  sightings.push(sightingOf(objectOf(seen), attempt.clock.nowMillis(), attempt.profile.dialect));
}

/** A document of the agent's. Undefined: it is not to be had, which is for nobody to blame. */
async function proxied(attempt: Attempt, node: string, path: string) {
  const answer = await attempt.client.attempt("GET", `/api/v1/nodes/${node}/proxy/${path}`);
  return answer instanceof LostAnswer || answer.status !== 200 || !isJsonObject(answer.json) ? undefined : answer.json;
}

function judgeNode(attempt: Attempt, { rules, readings, sightings }: Agent): void {
  const thresholds = rules.thresholds.map((threshold) => ({
    ...threshold,
    value:
      "amount" in threshold.value
        ? { amount: threshold.value.amount * wellBelow }
        : { fraction: threshold.value.fraction * wellBelow },
    minimumReclaim: { amount: 0 },
  }));
  const history: EvictionHistory = {
    rules: { ...rules, thresholds },
    dedicatedImagefs: false,
    readings,
    sightings,
    pods: [],
    patience,
  };
  holds(attempt, "agent-eviction.raised", judgeRaised(history));
  holds(attempt, "agent-eviction.taints", judgeTaints(history));
}

/** Texts are judged of pods that were evicted meanwhile: what is older may tell of other thresholds, or of another agent. */
async function judgePods(attempt: Attempt, { node, rules, readings, known }: Agent): Promise<void> {
  const capacities = (signal: keyof UsageReading["signals"]) =>
    readings.map(({ signals }) => signals[signal]?.capacity).filter((capacity) => capacity !== undefined);
  for (const { pod, eviction } of await evictedOn(attempt, node)) {
    const traits = traitsOf(pod, attempt.profile.dialect);
    const evictable = !isCritical(traits);
    const expected = `${traits.name} is not evicted: it is static or of priority ${traits.priority}`;
    attempt.expect("agent-eviction.spares-critical", evictable, expected, "evicted");
    if (known.has(uidOf(pod))) continue;
    attempt.holds("agent-eviction.status", judgeStatus(traits.name, eviction));
    attempt.holds("agent-eviction.message", judgeMessage(traits.name, eviction.message, rules, capacities));
  }
}

function holds(attempt: Attempt, requirement: string, { judged, violation }: Judgement): void {
  if (judged) attempt.holds(requirement, violation);
}
