/**
 * What real agents cost: nodes with an agent and a runtime each, the scheduler, controllers and the server with its watch
 * caches in one process. Run alone, with the nodes, the pods of each and the containers of each pod:
 *
 *     node --expose-gc --no-allocation-site-pretenuring --min-semi-space-size=32 --max-semi-space-size=256 \
 *       --heap-growing-percent=40 --max-old-space-size=8192 bench/agent.ts [NODES [PODS [CONTAINERS [IDLE-SECONDS]]]]
 *
 * (a quarter of a gigabyte for what dies young costs 0.4 GB of memory, and makes pods start a seventh faster than 64 MB do)
 *
 * prints one JSON object: pods from creation to Running in a second, and virtual seconds in one at rest, each by the clock and by
 * processor time; heap by node and by pod, and the requests that the server counted at rest. By the clock a machine must be idle
 * to compare; by processor time what the engine does beside the work, on other processors, counts as well.
 */
import { nodeFileSchema } from "../scenarios/node-file.ts";
import type { ApiServer } from "../sim/apiserver/api-server.ts";
import { ApiClient } from "../sim/client/api-client.ts";
import { Cluster } from "../sim/cluster/cluster.ts";
import { addLiving, type LivingNodes } from "../sim/cluster/living.ts";
import { nodesOf } from "../sim/cluster/node-pools.ts";
import type { JsonObject } from "../sim/contract/http-message.ts";
import { kubernetesProfile } from "../sim/contract/profile.ts";
import { Kernel } from "../sim/kernel/kernel.ts";
import type { Process } from "../sim/kernel/types.ts";
import { type Bench, measure } from "./harness.ts";

const { dialect } = kubernetesProfile;
const second = 1_000_000;
/** Pods that are created in a virtual second. */
const creationRate = 1_000;

class Fleet {
  readonly kernel = new Kernel({ seed: "bench" });
  /** What the server had counted when the count was cleared. */
  private before: ReadonlyMap<string, number> = new Map();
  private readonly cluster = new Cluster({ kernel: this.kernel });
  private readonly living: LivingNodes;
  private readonly server: ApiServer;
  private readonly user: { readonly process: Process; readonly made: ApiClient };

  constructor(nodeCount: number) {
    const { cluster } = this;
    const tokens = [{ token: "admin", user: "admin", uid: "1", groups: ["system:masters"] }];
    this.server = cluster.addServer("apiserver", () => ({
      tokens,
      profile: kubernetesProfile,
      // As long as a pod's events are of use to a bench; servers keep them for an hour.
      eventTtlMicros: 120 * second,
      limits: { readsMax: 0, mutationsMax: 0 },
    })).made;
    const { pools } = nodeFileSchema.parse({ pools: [{ name: "node", count: nodeCount }] });
    this.living = addLiving(cluster, { dialect, nodes: nodesOf(pools, dialect), hasRealRates: false });
    this.user = cluster.add("user", (process) => new ApiClient(process, cluster.api(process), "admin"));
  }

  advance(seconds: number): void {
    this.kernel.run(this.kernel.nowMicros() + seconds * second);
  }

  createPods(podCount: number, containerCount: number): void {
    const { process, made: client } = this.user;
    const containers = Array.from({ length: containerCount }, (_, at) => ({
      name: `c${at}`,
      image: "app",
      resources: { requests: { cpu: "50m", memory: "32Mi" } },
    }));
    let made = 0;
    const burst = (): void => {
      for (let count = 0; count < creationRate / 100 && made < podCount; count++) {
        const body = { metadata: { name: `pod-${made++}`, labels: { app: "bench" } }, spec: { containers } };
        const request = { method: "POST", path: "/api/v1/namespaces/default/pods", body: body as JsonObject };
        client.call(request, 60 * second, (answer) => {
          if (!answer.ok || answer.status !== 201) throw new Error("a pod could not be created");
        });
      }
      if (made < podCount) process.clock.after(second / 100, burst);
    };
    this.kernel.enter(process, burst);
    this.advance(Math.ceil(podCount / creationRate) + 30);
    for (let tries = 0; this.runningCount < podCount && tries < 30; tries++) this.advance(10);
  }

  clearCounts(): void {
    this.before = this.counts();
  }

  /** What was asked since the count was cleared, most frequent first. */
  requestsBy(divisor: number): Readonly<Record<string, number>> {
    const since = [...this.counts()].map(([what, count]): [string, number] => [
      what,
      count - (this.before.get(what) ?? 0),
    ]);
    const sorted = since.filter(([, count]) => count > 0).sort(([, one], [, other]) => other - one);
    return Object.fromEntries(sorted.map(([what, count]) => [what, rounded(count / divisor)]));
  }

  /** `PUT leases`, `PATCH nodes/status`: by verb and resource, as the server's metrics have them. */
  private counts(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    const text = this.server.metricsText();
    for (const [, labels = "", count] of text.matchAll(/^apiserver_request_total\{(.*)\} (\S+)$/gm)) {
      const label = (name: string): string => new RegExp(`\\b${name}="([^"]*)"`).exec(labels)?.[1] ?? "";
      const subresource = label("subresource");
      const what = `${label("verb")} ${label("resource")}${subresource === "" ? "" : `/${subresource}`}`;
      counts.set(what, (counts.get(what) ?? 0) + Number(count));
    }
    return counts;
  }

  get runningCount(): number {
    let count = 0;
    for (const { agent } of this.living.nodes.values()) {
      for (const { pushed } of agent.made.pods.held.values()) {
        if ((pushed?.["status"] as JsonObject | undefined)?.["phase"] === "Running") count++;
      }
    }
    return count;
  }
}

/** Of all threads of this process: garbage is collected beside the work. */
function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000_000;
}

interface Spent {
  readonly seconds: number;
  readonly cpuSeconds: number;
}

function timed(work: () => void): Spent {
  const [began, cpuBegan] = [performance.now(), cpuSeconds()];
  work();
  return { seconds: (performance.now() - began) / 1_000, cpuSeconds: cpuSeconds() - cpuBegan };
}

function heapBytes(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

interface Figures {
  readonly nodes: number;
  readonly pods: number;
  readonly containers: number;
  readonly readySeconds: number;
  readonly podsPerSecond: number;
  readonly podsPerCpuSecond: number;
  /** Virtual seconds in a second, at rest. */
  readonly idleRatio: number;
  readonly idleCpuRatio: number;
  readonly bytesPerNode: number;
  readonly bytesPerPod: number;
  readonly heapBytes: number;
  readonly residentBytes: number;
  /** From the pods' creation until thirty seconds after the last one. */
  readonly requestsPerPod: Readonly<Record<string, number>>;
  /** In a virtual second at rest. */
  readonly requestsPerSecond: Readonly<Record<string, number>>;
}

function measureFleet(nodes: number, podsPerNode: number, containersPerPod: number, idleSeconds: number): Figures {
  const empty = heapBytes();
  let fleet!: Fleet;
  const ready = timed(() => {
    fleet = new Fleet(nodes);
    fleet.advance(60);
  });
  const withNodes = heapBytes();
  const pods = nodes * podsPerNode;
  fleet.clearCounts();
  const creation = timed(() => fleet.createPods(pods, containersPerPod));
  const requestsPerPod = fleet.requestsBy(pods);
  if (fleet.runningCount !== pods) throw new Error(`${fleet.runningCount} of ${pods} pods run`);
  // Until what was told of their start has expired, and the history of it is compacted.
  fleet.advance(600);
  const withPods = heapBytes();
  fleet.clearCounts();
  const idle = timed(() => fleet.advance(idleSeconds));
  return {
    nodes,
    pods,
    containers: pods * containersPerPod,
    readySeconds: rounded(ready.seconds),
    podsPerSecond: Math.round(pods / creation.seconds),
    podsPerCpuSecond: Math.round(pods / creation.cpuSeconds),
    idleRatio: rounded(idleSeconds / idle.seconds),
    idleCpuRatio: rounded(idleSeconds / idle.cpuSeconds),
    bytesPerNode: Math.round((withNodes - empty) / nodes),
    bytesPerPod: Math.round((withPods - withNodes) / Math.max(1, pods)),
    heapBytes: withPods,
    residentBytes: process.memoryUsage().rss,
    requestsPerPod,
    requestsPerSecond: fleet.requestsBy(idleSeconds),
  };
}

const rounded = (figure: number): number => Number(figure.toPrecision(4));

let small: Figures | undefined;
const ofSmall = (figure: (figures: Figures) => number) => (): number =>
  figure((small ??= measureFleet(100, 30, 1, 600)));

export const benches: readonly Bench[] = [
  { name: "agent.idle-100-nodes", unit: "virtual seconds/s", run: ofSmall(({ idleRatio }) => idleRatio) },
  { name: "agent.pods-to-running", unit: "pods/s", run: ofSmall(({ podsPerSecond }) => podsPerSecond), target: 1_000 },
  { name: "agent.node", unit: "bytes/node", run: ofSmall(({ bytesPerNode }) => bytesPerNode) },
  { name: "agent.pod", unit: "bytes/pod", run: ofSmall(({ bytesPerPod }) => bytesPerPod) },
];

if (import.meta.main) {
  const [nodes = 100, pods = 30, containers = 1, idleSeconds = 600] = process.argv.slice(2).map(Number);
  if (process.argv.length > 2) console.log(JSON.stringify(measureFleet(nodes, pods, containers, idleSeconds), null, 1));
  else for (const bench of benches) console.log(JSON.stringify(await measure(bench, 1, 0)));
}
