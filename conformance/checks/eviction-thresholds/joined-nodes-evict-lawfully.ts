import {
  anyNodeScenario,
  eventfulNode,
  nodeShortOfAll,
  type NodeScenario,
  type ScenarioPod,
} from "../../arbitraries/node-scenarios.ts";
import { type Collection, objectOf, succeeded } from "../../client/collection.ts";
import { LostAnswer } from "../../client/client.ts";
import { type ApiObject, isJsonObject, type JsonObject, objectsIn } from "../../client/types.ts";
import { parseEvictionSettings } from "../../../wire/eviction-thresholds.ts";
import type { JoinedNode, NodeHost } from "../../../wire/node-host.ts";
import { Inconclusive, Unserved, Unsupported } from "../../client/findings.ts";
import {
  type EvictionHistory,
  type EvictionShown,
  isCritical,
  type NodeSighting,
  type PodLife,
  type PodStatus,
} from "../../model/eviction/history.ts";
import { evictionLaws, judgeEvictions } from "../../model/eviction/judge.ts";
import { evictionOf, sightingOf, statusOf, traitsOf } from "../../model/eviction/observed.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { remove } from "../../runner/remove.ts";
import { runLabel } from "../../runner/sandbox.ts";
import { besideOthers, othersOn } from "../../runner/suite-node.ts";

const [first, ...others] = [...new Set(evictionLaws.map(([requirement]) => requirement))] as [string, ...string[]];

/**
 * Property: what an agent does under pressure obeys its thresholds.
 * Method: a node joins whose usage the suite sets, tainted so that nothing else lands there. Pods run on it while its
 * usage rises and falls; node and pods are seen through the target's API, and the history is judged at the end.
 */
export const joinedNodesEvictLawfully = defineCheck({
  id: "joined-nodes-evict-lawfully",
  area: "eviction-thresholds",
  property: "A node under pressure evicts what its thresholds want, when they want it, and says so.",
  requirements: [first, ...others],
  features: ["namespaces", "pods", "nodes"],
  input: anyNodeScenario,
  examples: [eventfulNode, nodeShortOfAll],
  cost: "slow",
  async run(attempt, scenario) {
    if (attempt.nodes === undefined) throw new Unsupported("nodes of the suite: none joins without --join-nodes");
    const { history, hasNodeController } = await play(attempt, attempt.nodes, scenario);
    for (const { requirement, violation } of judgeEvictions(history)) {
      if (hasNodeController || requirement !== taintsRow) attempt.holds(requirement, violation);
    }
    if (!hasNodeController) throw new Unserved("a controller that gives taints to nodes");
  },
});

/** Taints are made by a controller of the cluster's, and a server alone has none. */
const taintsRow = "agent-eviction.taints";

const pollMillis = 1000;
/** What a node has to say arrives so late at most. */
const patience = { reportMillis: 15_000, evictionMillis: 6000, tellMillis: 1500, taintMillis: 15_000 };

/** On a slow way to the server each report takes a few questions' time more: `slowestMillis` is what one look took at worst. */
function patienceAt(slowestMillis: number): typeof patience {
  const { reportMillis, evictionMillis, tellMillis, taintMillis } = patience;
  const more = 2 * slowestMillis;
  return {
    reportMillis: reportMillis + more,
    evictionMillis: evictionMillis + more,
    tellMillis: tellMillis + more,
    taintMillis: taintMillis + more,
  };
}

interface Played {
  readonly history: EvictionHistory;
  /** Somebody changed the taints that the node came with. */
  readonly hasNodeController: boolean;
}

async function play(attempt: Attempt, host: NodeHost, scenario: NodeScenario): Promise<Played> {
  const namespace = await attempt.target.namespace();
  const node = await joinNode(attempt, host, scenario, `${namespace}-node`);
  const pods = await attempt.target.collection("pods");
  const startMillis = attempt.clock.nowMillis();
  let toldBefore = startMillis; // when events were last asked for
  let slowestMillis = 0;
  const lives = new Map<string, PodRecord>();
  const sightings: NodeSighting[] = [];
  const taints = new Set<string>();
  const due = [...eventsOf(attempt, scenario, node, pods, lives)].sort((left, right) => left.atMillis - right.atMillis);
  for (let passedMillis = 0; passedMillis <= scenario.untilMillis; ) {
    while (due[0] !== undefined && due[0].atMillis <= passedMillis) await due.shift()?.happen();
    const lookMillis = attempt.clock.nowMillis();
    const seen = objectOf(await attempt.client.request("GET", `/api/v1/nodes/${node.name}`));
    sightings.push(sightingOf(seen, attempt.clock.nowMillis(), attempt.profile.dialect));
    taints.add(JSON.stringify(objectsIn(seen["spec"], "taints").map(({ key }) => key)));
    const askedMillis = attempt.clock.nowMillis();
    for (const { name, uid } of await evictedByEvents(attempt, namespace)) {
      const record = lives.get(name);
      if (uid === undefined || uid === record?.uid) record?.tell(toldBefore, attempt.clock.nowMillis());
    }
    toldBefore = askedMillis;
    const { items } = await pods.readList();
    for (const pod of items) lives.get(pod.metadata.name)?.see(pod, attempt.clock.nowMillis());
    slowestMillis = Math.max(slowestMillis, attempt.clock.nowMillis() - lookMillis);
    await attempt.client.pause(pollMillis);
    passedMillis = attempt.clock.nowMillis() - startMillis;
  }
  await requireOnlyOwn(attempt, node.name);
  const rules = parseEvictionSettings(scenario.eviction);
  if ("error" in rules) throw new Error(rules.error);
  const history = {
    rules,
    dedicatedImagefs: scenario.capacity.imagefs !== undefined,
    readings: node.readings(),
    sightings,
    pods: [...lives.values()].map((record) => record.life()),
    patience: patienceAt(slowestMillis),
    negativeGraceIsOpen: attempt.profile.dialect.name !== "svc",
  };
  return { history, hasNodeController: taints.size > 1 };
}

/** A cluster may put a pod on every node, whatever its taints. One that can be evicted takes the turn of ours. */
async function requireOnlyOwn(attempt: Attempt, node: string): Promise<void> {
  const others = (await othersOn(attempt, node))
    .map((pod) => traitsOf(pod, attempt.profile.dialect))
    .filter((traits) => !isCritical(traits));
  if (others.length > 0) throw besideOthers(others);
}

/**
 * Pods that events say were evicted. None where events cannot be read: then the pods' ends must do. A namespace may have had
 * pods of the same names before, whose events are still there.
 */
async function evictedByEvents(
  attempt: Attempt,
  namespace: string,
): Promise<readonly { readonly name: string; readonly uid: string | undefined }[]> {
  const path = `/api/v1/namespaces/${namespace}/events`;
  const answer = await attempt.client.attempt("GET", path, { query: { fieldSelector: "reason=Evicted" } });
  if (answer instanceof LostAnswer || answer.status !== 200) return [];
  return objectsIn(answer.json, "items").flatMap(({ involvedObject }) => {
    const { name, uid } = isJsonObject(involvedObject) ? involvedObject : {};
    return typeof name === "string" ? [{ name, uid: typeof uid === "string" && uid !== "" ? uid : undefined }] : [];
  });
}

async function joinNode(attempt: Attempt, host: NodeHost, scenario: NodeScenario, name: string): Promise<JoinedNode> {
  const { eviction, capacity, figuresMillis, steps } = scenario;
  const joining = host.join({
    name,
    labels: { [runLabel]: attempt.target.label },
    taints: [{ key: runLabel, value: attempt.target.label, effect: "NoSchedule" }],
    capacity,
    eviction,
    monitoringMillis: 10_000,
    figuresMillis,
    usage: steps[0]?.usage ?? { memoryBytes: 0, pids: 0, nodefs: undefined, imagefs: undefined },
  });
  const node = await joining.catch((error: unknown) => {
    throw new Inconclusive(`no node could join: ${(error as Error).message}`);
  });
  attempt.target.onCleanUp(() => node.leave());
  return node;
}

interface Due {
  readonly atMillis: number;
  happen(): Promise<void>;
}

function eventsOf(
  attempt: Attempt,
  { steps, pods: planned }: NodeScenario,
  node: JoinedNode,
  pods: Collection,
  lives: Map<string, PodRecord>,
): Due[] {
  const changes = steps.map(({ atMillis, usage }) => ({ atMillis, happen: async () => node.use(usage) }));
  // A static pod is a file on the node: no client can make one.
  const starts = planned
    .filter((pod) => !pod.static)
    .map((pod) => ({
      atMillis: pod.startMillis,
      happen: async () => {
        const name = pod.name.split("/")[1] as string;
        node.usePod(`${await attempt.target.namespace()}/${name}`, pod.usage);
        const made = objectOf(await pods.create(await podOf(attempt, pod, name, node.name)));
        lives.set(name, new PodRecord(made, attempt));
      },
    }));
  return [...starts, ...changes];
}

async function podOf(attempt: Attempt, pod: ScenarioPod, name: string, nodeName: string): Promise<JsonObject> {
  const { memoryMi, diskMi } = pod.requests;
  const requests = {
    ...(memoryMi === 0 ? {} : { memory: `${memoryMi}Mi` }),
    ...(diskMi === 0 ? {} : { "ephemeral-storage": `${diskMi}Mi` }),
  };
  // A limit without a request would be the request, too.
  const limits = {
    ...(memoryMi === 0 || pod.limits === undefined ? {} : { memory: `${memoryMi + pod.limits.memoryAboveMi}Mi` }),
    ...(diskMi === 0 || pod.limits === undefined
      ? {}
      : { "ephemeral-storage": `${diskMi + pod.limits.diskAboveMi}Mi` }),
  };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: {
      nodeName,
      ...(await priorityOf(attempt, pod.priority)),
      tolerations: [{ operator: "Exists" }],
      terminationGracePeriodSeconds: pod.graceSeconds,
      automountServiceAccountToken: false,
      containers: [{ name: "main", image: "example.com/none:1", resources: { requests, limits } }],
    },
  };
}

/** Two classes are every server's own; any other is made, and goes with the attempt. */
async function priorityOf(attempt: Attempt, priority: number): Promise<JsonObject> {
  if (priority === 0) return {};
  const own = { 2_000_000_000: "system-cluster-critical", 2_000_001_000: "system-node-critical" }[priority];
  if (own !== undefined) return { priorityClassName: own, priority };
  const name = `${attempt.target.name}-priority-${priority < 0 ? "minus-" : ""}${Math.abs(priority)}`;
  const apiVersion = `scheduling.${attempt.profile.dialect.groupSuffix}/v1`;
  const path = `/apis/${apiVersion}/priorityclasses`;
  const body = { apiVersion, kind: "PriorityClass", metadata: { name }, value: priority };
  const answer = await attempt.client.request("POST", path, { body });
  if (answer.status !== 409) {
    succeeded(answer);
    attempt.target.onCleanUp((cleaner) => remove(cleaner, `${path}/${name}`));
  }
  return { priorityClassName: name, priority };
}

/** A pod as the list shows it from time to time. */
class PodRecord {
  readonly uid: string | undefined;
  private readonly traits: ReturnType<typeof traitsOf>;
  private readonly statuses: PodStatus[] = [];
  private startedMillis = Number.POSITIVE_INFINITY;
  private lastAliveMillis: number;
  private eviction: PodLife["eviction"];
  private told: EvictionShown["told"];

  constructor(made: ApiObject, attempt: Attempt) {
    this.uid = made.metadata.uid;
    this.traits = traitsOf(made, attempt.profile.dialect);
    this.lastAliveMillis = attempt.clock.nowMillis();
  }

  /** An event says that it was evicted, and none did before. */
  tell(afterMillis: number, byMillis: number): void {
    this.told ??= { afterMillis, byMillis };
  }

  see(pod: ApiObject, nowMillis: number): void {
    const status = statusOf(pod);
    const last = this.statuses.at(-1);
    if (last?.phase !== status.phase || last.reason !== status.reason) this.statuses.push(status);
    this.eviction ??= evictionOf(pod, nowMillis);
    if (this.eviction !== undefined) return;
    if (status.phase === "Running") this.startedMillis = Math.min(this.startedMillis, nowMillis);
    if (status.phase === "Running" || status.phase === "Pending") this.lastAliveMillis = nowMillis;
  }

  life(): PodLife {
    const { traits, statuses, startedMillis, lastAliveMillis, eviction, told } = this;
    const shown = eviction === undefined || told === undefined ? eviction : { ...eviction, told };
    return { ...traits, statuses, startedMillis, lastAliveMillis, eviction: shown };
  }
}
