import { afterEach, expect, it, vi } from "vitest";
import { nodeFileSchema } from "../../scenarios/node-file.ts";
import type { JsonObject } from "../contract/http-message.ts";
import { ApiClient } from "../client/api-client.ts";
import { kubernetesProfile } from "../contract/profile.ts";
import { Kernel } from "../kernel/kernel.ts";
import type { CallFault } from "../runtime/call-faults.ts";
import type { MachineUsage } from "../runtime/machine.ts";
import { SimulatedRuntime } from "../runtime/runtime.ts";
import { Cluster } from "./cluster.ts";
import { addLiving } from "./living.ts";
import { nodesOf } from "./node-pools.ts";

const { dialect } = kubernetesProfile;

afterEach(() => vi.restoreAllMocks());

const pods: Readonly<Record<string, object>> = {
  serves: { containers: [{ name: "c", image: "web" }] },
  crashes: { containers: [{ name: "c", image: "tool", command: ["sh", "-c", "sleep 7; exit 3"] }] },
  ends: { restartPolicy: "Never", containers: [{ name: "c", image: "tool", command: ["sleep", "20"] }] },
  two: {
    initContainers: [{ name: "first", image: "tool", command: ["sleep", "2"] }],
    containers: [
      { name: "a", image: "web", readinessProbe: { httpGet: { port: 80 }, periodSeconds: 3 } },
      { name: "b", image: "tool", command: ["sh", "-c", "while sleep 13; do echo on; done"] },
    ],
  },
};

const faults: readonly CallFault[] = [
  { method: "ListContainers", times: 3, error: { text: "not now" } },
  { method: "Status", times: 8, error: { text: "the runtime is away" } },
  { method: "ListPodSandbox", times: 2, delayMicros: 4_000_000 },
];

/**
 * How the agents look for changes: by lists that are compared each second, by lists that say by their generation that they are
 * the same, or not at all until they are told of a change.
 */
type Looks = "compared" | "generations" | "told";

function restrict(looks: Looks): void {
  if (looks === "told") return;
  vi.spyOn(SimulatedRuntime.prototype, "quiet").mockReturnValue(undefined);
  vi.spyOn(SimulatedRuntime.prototype, "filesVersion").mockReturnValue(undefined);
  vi.spyOn(SimulatedRuntime.prototype, "usageVersion").mockReturnValue(undefined);
  if (looks === "generations") return;
  const { start } = SimulatedRuntime.prototype;
  vi.spyOn(SimulatedRuntime.prototype, "start").mockImplementation(function (this: SimulatedRuntime, request, done) {
    return start.call(this, request, (answer) => {
      if (!answer.ok) return done(answer);
      const { generation: _, ...rest } = answer;
      done(rest);
    });
  });
}

/** Every write of five minutes: when, what, and what it said. */
function writes(seed: string, looks: Looks): readonly string[] {
  restrict(looks);
  const kernel = new Kernel({ seed });
  const cluster = new Cluster({ kernel });
  const tokens = [{ token: "admin", user: "admin", uid: "1", groups: ["system:masters"] }];
  const server = cluster.addServer("apiserver", () => ({ tokens, profile: kubernetesProfile }));
  const shapes = nodesOf(nodeFileSchema.parse({ pools: [{ name: "node", count: 2 }] }).pools, dialect);
  const { nodes } = addLiving(cluster, { dialect, nodes: shapes, hasRealRates: false });
  const user = cluster.add("user", (process) => new ApiClient(process, cluster.api(process), "admin"));
  const told: string[] = [];
  const start = server.made.start.bind(server.made);
  vi.spyOn(server.made, "start").mockImplementation((request, responder) => {
    const { method, path, body } = request;
    if (method !== "GET") told.push(`${kernel.nowMicros()} ${method} ${path} ${JSON.stringify(body)}`);
    return start(request, responder);
  });
  const ask = (method: string, path: string, body?: JsonObject): void =>
    kernel.enter(user.process, () => {
      user.made.call({ method, path, ...(body === undefined ? {} : { body }) }, 5_000_000, () => {});
    });
  const collection = "/api/v1/namespaces/default/pods";
  kernel.run(10_000_000);
  for (const [name, spec] of Object.entries(pods)) ask("POST", collection, { metadata: { name }, spec } as JsonObject);
  kernel.run(60_000_000);
  const [first] = nodes.values();
  for (const fault of faults) first?.machine.made.fail(fault);
  kernel.run(100_000_000);
  first?.machine.made.setConditions({ networkReady: false });
  kernel.run(120_000_000);
  first?.machine.made.setConditions({ networkReady: true });
  ask("DELETE", `${collection}/serves`);
  kernel.run(150_000_000);
  const use = (usage: MachineUsage): void => {
    for (const { machine } of nodes.values()) machine.made.useMachine(usage);
  };
  use({ memory: { is: "ramp", from: 0, to: 1_000_000_000_000, overMicros: 40_000_000 } });
  kernel.run(240_000_000);
  use({ memory: { is: "constant", amount: 1 << 20 } });
  kernel.run(300_000_000);
  use({ pids: { is: "constant", amount: 1 << 30 } });
  kernel.run(320_000_000);
  vi.restoreAllMocks();
  // What two nodes do at one instant has no order.
  return told.sort();
}

it("an agent that is told of changes, or that trusts generations, does what one does that compares every list", () => {
  for (const seed of ["1", "2"]) {
    const compared = writes(seed, "compared");
    expect(writes(seed, "generations")).toEqual(compared);
    expect(writes(seed, "told")).toEqual(compared);
    expect(compared.length).toBeGreaterThan(100);
    expect(compared.filter((write) => write.includes("Evicted")).length).toBeGreaterThan(0);
  }
});
