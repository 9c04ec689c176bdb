import { expect, it } from "vitest";
import { nodeFileSchema } from "../../scenarios/node-file.ts";
import type { CriMethod } from "../../wire/cri.ts";
import { ApiClient } from "../client/api-client.ts";
import type { JsonObject } from "../contract/http-message.ts";
import { kubernetesProfile } from "../contract/profile.ts";
import { Kernel } from "../kernel/kernel.ts";
import { Cluster } from "./cluster.ts";
import { addLiving } from "./living.ts";
import { nodesOf } from "./node-pools.ts";

const { dialect } = kubernetesProfile;
const second = 1_000_000;
const nodeCount = 6;
const restSeconds = 300;

/** What a node at rest does in ten seconds, on average over five minutes. */
interface AtRest {
  readonly requests: number;
  readonly runtimeCalls: number;
  readonly events: number;
}

/** Nodes with agents and so many pods each, of two containers that serve; counted once all that is told of their start has expired. */
function atRest(podsPerNode: number): AtRest {
  const kernel = new Kernel({ seed: "rest" });
  const cluster = new Cluster({ kernel });
  const tokens = [{ token: "admin", user: "admin", uid: "1", groups: ["system:masters"] }];
  const { made: server } = cluster.addServer("apiserver", () => ({
    tokens,
    profile: kubernetesProfile,
    eventTtlMicros: 60 * second,
    limits: { readsMax: 0, mutationsMax: 0 },
  }));
  const { pools } = nodeFileSchema.parse({ pools: [{ name: "node", count: nodeCount }] });
  const { nodes } = addLiving(cluster, { dialect, nodes: nodesOf(pools, dialect), hasRealRates: false });
  const user = cluster.add("user", (process) => new ApiClient(process, cluster.api(process), "admin"));
  const containers = ["a", "b"].map((name) => ({ name, image: "app", resources: { requests: { cpu: "10m" } } }));
  kernel.run(30 * second);
  for (let at = 0; at < nodeCount * podsPerNode; at++) {
    const body = { metadata: { name: `pod-${at}` }, spec: { containers } } as JsonObject;
    kernel.enter(user.process, () => {
      user.made.call({ method: "POST", path: "/api/v1/namespaces/default/pods", body }, 60 * second, () => {});
    });
  }
  kernel.run(300 * second);
  const counts = { requests: 0, runtimeCalls: 0, running: 0 };
  for (const { agent, machine } of nodes.values()) {
    for (const { status } of agent.made.pods.held.values()) if (status?.phase === "Running") counts.running++;
    const start = machine.made.start.bind(machine.made);
    machine.made.start = (request: { readonly method: CriMethod; readonly message: never }, done) => {
      counts.runtimeCalls++;
      return start(request, done);
    };
  }
  expect(counts.running).toBe(nodeCount * podsPerNode);
  const start = server.start.bind(server);
  server.start = (request, responder) => {
    counts.requests++;
    return start(request, responder);
  };
  let events = 0;
  const until = kernel.nowMicros() + restSeconds * second;
  for (let next = kernel.nextEventMicros; next !== undefined && next <= until; next = kernel.nextEventMicros) {
    kernel.step();
    events++;
  }
  const share = (nodeCount * restSeconds) / 10;
  return { requests: counts.requests / share, runtimeCalls: counts.runtimeCalls / share, events: events / share };
}

it("pods at rest cost their node nothing at any tick: what it does depends on the node alone", () => {
  const few = atRest(1);
  const many = atRest(12);
  // Its lease, the read before its status, now and then the status; the rest is the controllers', and there are few nodes.
  expect(many.requests).toBeLessThan(few.requests + 0.05);
  expect(many.requests).toBeLessThan(2.2);
  // Images are listed every half minute, and looked at by their collector.
  expect(many.runtimeCalls).toBeLessThan(few.runtimeCalls + 0.05);
  expect(many.runtimeCalls).toBeLessThan(0.6);
  expect(many.events).toBeLessThan(few.events + 0.2);
});
