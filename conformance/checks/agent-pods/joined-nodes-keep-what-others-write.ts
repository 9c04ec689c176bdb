import fc from "fast-check";
import type { JoinedNode } from "../../../wire/node-host.ts";
import { type Collection, objectOf, succeeded } from "../../client/collection.ts";
import { type ApiObject, type JsonObject, objectsIn } from "../../client/types.ts";
import type { PodSighting } from "../../model/pods/history.ts";
import { judgeCountsKept, judgeFoundAgain, type Kept, lostOf } from "../../model/pods/keeping.ts";
import { podSightingOf } from "../../model/pods/observed.ts";
import { shellImage } from "../../model/pods/specification.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { suiteNode } from "../../runner/suite-node.ts";

interface KeepingProgram {
  /** How often the restless pod fails before it goes on. */
  readonly failures: number;
  /** When its readiness changes, so that there is something to tell of it. */
  readonly turnSeconds: number;
  readonly writeSeconds: number;
  readonly awaySeconds: number;
  /** For how long no agent is there. */
  readonly awayForSeconds: number;
  /** Conditions that are written to pod and node. */
  readonly conditions: number;
}

const anyKeeping: fc.Arbitrary<KeepingProgram> = fc.record({
  failures: fc.constantFrom(0, 1, 2),
  turnSeconds: fc.constantFrom(16, 22),
  writeSeconds: fc.constantFrom(3, 6, 9),
  awaySeconds: fc.constantFrom(36, 41),
  awayForSeconds: fc.constantFrom(0, 1, 4, 15),
  conditions: fc.constantFrom(1, 2, 18),
});

const example: KeepingProgram = {
  failures: 2,
  turnSeconds: 16,
  writeSeconds: 6,
  awaySeconds: 36,
  awayForSeconds: 4,
  conditions: 2,
};

/**
 * Property: an agent's statuses leave alone what others wrote to the same objects, and one that starts again finds its pods as
 * they are: containers go on, restarts stay counted, and a pod that was deleted meanwhile is stopped.
 * Method: conditions, labels and annotations are written to a pod and to its node, of which the agent then has something to
 * tell; later it is killed, and another one begins.
 */
export const joinedNodesKeepWhatOthersWrite = defineCheck({
  id: "joined-nodes-keep-what-others-write",
  area: "agent-pods",
  property: "Agents leave alone what others write to pods and nodes, and find their pods again when they come back.",
  requirements: [
    "agent-keeping.pod-conditions",
    "agent-keeping.pod-metadata",
    "agent-keeping.node-conditions",
    "agent-keeping.node-metadata",
    "agent-keeping.containers",
    "agent-keeping.counts",
    "agent-keeping.deletions",
  ],
  features: ["namespaces", "pods", "nodes"],
  input: anyKeeping,
  examples: [example],
  cost: "slow",
  async run(attempt, program) {
    const node = await suiteNode(attempt, { eviction: pressure });
    const pods = await attempt.target.collection("pods");
    for (const pod of podsOf(program, node.name)) objectOf(await pods.create(pod));
    const looks = new Looks(attempt, pods);
    await looks.until(program.writeSeconds);
    const written = await writeAll(attempt, pods, node.name, program);
    objectOf(await pods.create(simplePod("pulls", node.name, "sleep 3600", { image: "example.com/another:1" })));
    node.use({ memoryBytes: much });
    await looks.until(Math.max(program.turnSeconds + 4, program.writeSeconds + reportSeconds));
    for (const kept of await foundOf(attempt, pods, node.name, written)) attempt.holds(kept.requirement, lostOf(kept));
    node.use({ memoryBytes: 0 });
    await looks.until(program.awaySeconds);
    const away = await goAway(attempt, node, pods, program.awayForSeconds);
    await looks.until(program.awaySeconds + program.awayForSeconds + afterSeconds);
    for (const pod of lasting) {
      const history = { pod, sightings: looks.of(pod), ...away };
      const again = judgeFoundAgain(history);
      if (again.judged) attempt.holds("agent-keeping.containers", again.violation);
      const counts = judgeCountsKept(history);
      if (counts.judged) attempt.holds("agent-keeping.counts", counts.violation);
    }
    await judgeDeletion(attempt, pods, looks.slowestMillis);
    for (const kept of await foundOf(attempt, pods, node.name, written)) attempt.holds(kept.requirement, lostOf(kept));
  },
});

/** Usage is looked at every ten seconds, and the node's status goes out as often when there is anything new in it. */
const reportSeconds = 24;
/** A condition of pressure is something to tell, and evicts nobody before its grace period is over. */
const pressure = {
  evictionSoft: { "memory.available": "50%" },
  evictionSoftGracePeriod: { "memory.available": "1h" },
  evictionPressureTransitionPeriod: "10s",
};
const much = 12 * 2 ** 30;
const afterSeconds = 20;

const [quiet, restless, leaving] = ["quiet", "restless", "leaving"] as const;
const lasting = [quiet, restless] as const;

function podsOf({ failures, turnSeconds }: KeepingProgram, nodeName: string): readonly JsonObject[] {
  const turns = `sleep ${turnSeconds}; echo > /tmp/is-ready; sleep 3600`;
  const fails = Array.from({ length: failures }, (_, at) => `[ -f /kept/${at} ] || { echo > /kept/${at}; exit 1; }`);
  return [
    simplePod(quiet, nodeName, turns, {
      readinessProbe: { exec: { command: ["cat", "/tmp/is-ready"] }, periodSeconds: 2 },
    }),
    simplePod(restless, nodeName, [...fails, "sleep 3600"].join("; ")),
    simplePod(leaving, nodeName, "sleep 3600"),
  ];
}

function simplePod(name: string, nodeName: string, script: string, more: JsonObject = {}): JsonObject {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name },
    spec: {
      nodeName,
      terminationGracePeriodSeconds: 1,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      tolerations: [{ operator: "Exists" }],
      volumes: [{ name: "kept", emptyDir: {} }],
      containers: [
        {
          name: "main",
          image: shellImage,
          command: ["sh", "-c", script],
          volumeMounts: [{ name: "kept", mountPath: "/kept" }],
          ...more,
        },
      ],
    },
  } as unknown as JsonObject;
}

/** Looks at all pods, every second. */
class Looks {
  slowestMillis = 0;
  private readonly attempt: Attempt;
  private readonly pods: Collection;
  private readonly beganMillis: number;
  private readonly seen = new Map<string, PodSighting[]>();

  constructor(attempt: Attempt, pods: Collection) {
    this.attempt = attempt;
    this.pods = pods;
    this.beganMillis = attempt.clock.nowMillis();
  }

  of(pod: string): readonly PodSighting[] {
    return this.seen.get(pod) ?? [];
  }

  /** Seconds after the first. */
  async until(seconds: number): Promise<void> {
    const { clock, client } = this.attempt;
    while (clock.nowMillis() - this.beganMillis < seconds * 1000) {
      const fromMillis = clock.nowMillis();
      const { items } = await this.pods.readList();
      const atMillis = clock.nowMillis();
      this.slowestMillis = Math.max(this.slowestMillis, atMillis - fromMillis);
      for (const pod of items) {
        const { name } = pod.metadata;
        this.seen.set(name, [...this.of(name), podSightingOf(pod, fromMillis, atMillis)]);
      }
      await client.pause(1000);
    }
  }
}

const strategic = "application/strategic-merge-patch+json";
const nodePathOf = (name: string): string => `/api/v1/nodes/${name}`;
const meta = { "example.com/of-others": "stays" };

interface Written {
  readonly conditions: Readonly<Record<string, string>>;
}

async function writeAll(
  attempt: Attempt,
  pods: Collection,
  node: string,
  { conditions: count }: KeepingProgram,
): Promise<Written> {
  const conditions = Array.from({ length: count }, (_, at) => ({
    type: `example.com/condition-${at}`,
    status: "True",
  }));
  const metadata = { metadata: { labels: meta, annotations: meta } };
  for (const path of [pods.pathOf(quiet), nodePathOf(node)]) {
    const write = async (to: string, body: JsonObject): Promise<void> =>
      void objectOf(await attempt.client.request("PATCH", to, { body, contentType: strategic }));
    await write(path, metadata);
    await write(`${path}/status`, { status: { conditions } });
  }
  return { conditions: Object.fromEntries(conditions.map(({ type, status }) => [type, status])) };
}

async function foundOf(
  attempt: Attempt,
  pods: Collection,
  node: string,
  { conditions }: Written,
): Promise<readonly Kept[]> {
  const pod = objectOf(await pods.get(quiet));
  const object = objectOf(await attempt.client.request("GET", nodePathOf(node)));
  return [...keptBy("pod", quiet, pod, conditions), ...keptBy("node", "the node", object, conditions)];
}

function keptBy(
  kind: "pod" | "node",
  object: string,
  found: ApiObject,
  conditions: Written["conditions"],
): readonly Kept[] {
  const told = Object.fromEntries(
    objectsIn(found["status"], "conditions").map(({ type, status }) => [String(type), String(status)]),
  );
  const { labels = {}, annotations = {} } = found.metadata;
  return [
    { object, requirement: `agent-keeping.${kind}-conditions`, written: conditions, found: told },
    { object, requirement: `agent-keeping.${kind}-metadata`, written: meta, found: labels },
    { object, requirement: `agent-keeping.${kind}-metadata`, written: meta, found: annotations },
  ];
}

async function goAway(attempt: Attempt, node: JoinedNode, pods: Collection, seconds: number) {
  const awayFromMillis = attempt.clock.nowMillis();
  await node.restart(async () => {
    succeeded(await pods.delete(leaving));
    await attempt.client.pause(1000 * seconds);
  });
  return { awayFromMillis };
}

/** On a slow way to the server it takes a few answers more. */
const ways = 8;

/** Whoever was deleted while no agent was there goes when there is one. */
async function judgeDeletion(attempt: Attempt, pods: Collection, slowestMillis: number): Promise<void> {
  const deadlineMillis = attempt.clock.nowMillis() + ways * slowestMillis;
  for (;;) {
    const answer = await pods.get(leaving);
    if (answer.status === 404 || attempt.clock.nowMillis() >= deadlineMillis) {
      const expected = `${leaving}, deleted while no agent was there, is gone ${afterSeconds} s after one came back`;
      attempt.expect("agent-keeping.deletions", answer.status === 404, expected, `answered ${answer.status}`);
      return;
    }
    await attempt.client.pause(1000);
  }
}
