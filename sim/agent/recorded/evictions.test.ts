/**
 * Evictions as a live 1.33 agent was recorded to do them, from the threshold to the last status: what the API server is told, in which
 * order. Which pod goes first was another one there now and then, since figures lag.
 */
import { describe, expect, it } from "vitest";
import type { EvictionSettings } from "../../../wire/eviction-thresholds.ts";
import { TestBed } from "../../apiserver/test-bed.fixture.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import { kubernetesProfile } from "../../contract/profile.ts";
import { noControllers } from "../../control/controllers.ts";
import { Kernel } from "../../kernel/kernel.ts";
import { SimulatedRuntime } from "../../runtime/runtime.ts";
import type { UsageSetting } from "../../runtime/records.ts";
import { defaultAgentOptions } from "../agent-options.ts";
import { Agent } from "../agent.ts";
import { agentNode } from "../node/agent-node.fixture.ts";

const Mi = 1024 * 1024;
const pods = "/api/v1/namespaces/default/pods";

interface Step {
  readonly at: number;
  readonly pod: string;
  readonly script?: string;
  readonly requests?: object;
  readonly uses?: UsageSetting;
}

/** What readers see: `pod NAME …`, `event …` and `node …`, in order. */
function told(settings: EvictionSettings, steps: readonly Step[], untilSeconds: number): readonly string[] {
  const kernel = new Kernel({ seed: "evictions" });
  const bed = new TestBed({ profile: kubernetesProfile, controllers: noControllers }, kernel);
  const [machine, process] = [kernel.process("machine"), kernel.process("agent-n1")];
  const image = { name: "local/box:1", present: true, shell: true, sizeBytes: 2_000_000 };
  const size = { milliCpu: 2000, memoryBytes: 24_000 * Mi, rootDisk: { bytes: 100_000 * Mi, inodes: 6_000_000 } };
  const runtime = kernel.enter(machine, () => new SimulatedRuntime(machine, { images: [image], machine: size }));
  kernel.enter(process, () =>
    new Agent(
      {
        process,
        dialect: kubernetesProfile.dialect,
        server: bed.server,
        headers: { authorization: "Bearer admin", accept: "application/json" },
        runtime,
        firstRelistMicros: 450_000,
        readFiles: (_path, done) => process.clock.after(0, () => done({ is: "directory", files: [] })),
        nodeSide: agentNode(runtime, settings),
      },
      { ...defaultAgentOptions("n1"), eviction: settings },
    ).start(),
  );
  kernel.run(70_000_000);
  const rows: string[] = [];
  const tell = (row: string): void => {
    if (row !== rows.at(-1)) rows.push(row);
  };
  const watch = (path: string, hear: (type: string, object: JsonObject) => void): void => {
    const headers = { authorization: "Bearer admin", accept: "application/json" };
    kernel.enter(bed.process, () =>
      bed.server.start(
        { method: "GET", path, query: "watch=true", headers },
        {
          respond: () => {},
          open: () => {},
          frame: ({ object }) => {
            hear(object?.["type"] as string, object?.["object"] as JsonObject);
            return 0;
          },
          close: () => {},
        },
      ),
    );
  };
  watch(pods, (_type, object) => tell(`pod ${podText(object)}`));
  watch("/api/v1/events", (type, object) => {
    const about = object["involvedObject"] as JsonObject;
    const message = String(object["message"]).replaceAll(/(available:|using) \d+\w*/g, "$1 N");
    if (type !== "DELETED") tell(`event ${String(object["reason"])} ${String(about["name"])}: ${message}`);
  });
  const start = kernel.nowMicros();
  for (const { at, pod, script, requests, uses } of steps) {
    kernel.run(start + at * 1_000_000);
    if (script !== undefined) {
      const container = { name: "c", image: "local/box:1", command: ["sh", "-c", script], resources: { requests } };
      const spec = { nodeName: "n1", dnsPolicy: "Default", terminationGracePeriodSeconds: 5, containers: [container] };
      const made = bed.ask(`POST ${pods}`, { as: "admin", body: { metadata: { name: pod }, spec } });
      if (made.status !== 201) throw new Error(made.text);
    }
    if (uses !== undefined) kernel.enter(machine, () => runtime.use(`default/${pod}`, uses));
  }
  kernel.run(start + untilSeconds * 1_000_000);
  return rows.filter((row) => !/ (?:Pulled|Created|Started|NodeReady|Starting|NodeAllocatableEnforced) /.test(row));
}

function podText(object: JsonObject): string {
  const status = object["status"] as Readonly<Record<string, unknown>>;
  const states = (
    (status["containerStatuses"] ?? []) as { state: Record<string, { reason?: string; exitCode?: number }> }[]
  )
    .map(({ state }) =>
      Object.entries(state).map(([is, { reason = "", exitCode = "" }]) => `${is} ${reason} ${exitCode}`.trim()),
    )
    .join();
  const conditions = (status["conditions"] ?? []) as { type: string; status: string; reason?: string }[];
  const disrupted = conditions.some(({ type, status: held }) => type === "DisruptionTarget" && held === "True");
  const words = [status["phase"], status["reason"], disrupted ? "disrupted" : undefined, states].filter(Boolean);
  return `${metadataOf(object).name}: ${words.join(" ")}`;
}

const constant = (amount: number) => ({ is: "constant", amount }) as const;
const exits = "trap 'exit 0' TERM; while true; do sleep 1; done";

const pressure = (resource: string, victim: string, message: string): readonly string[] => [
  `event EvictionThresholdMet n1: Attempting to reclaim ${resource}`,
  `event Evicted ${victim}: ${message}`,
  `event Killing ${victim}: Stopping container c`,
];
const late = (condition: string): readonly string[] => [
  "pod late-best-effort: Pending",
  `event Evicted late-best-effort: The node had condition: [${condition}]. `,
  "pod late-best-effort: Failed Evicted",
];
const begun = (name: string): readonly string[] => [
  `pod ${name}: Pending`,
  `pod ${name}: Pending waiting ContainerCreating`,
  `pod ${name}: Running running`,
];

describe("recorded evictions of a live agent", () => {
  it("for memory: what uses most above its request goes, late ones are refused, and the node recovers", () => {
    const settings = {
      evictionHard: { "memory.available": "16945Mi" },
      evictionMinimumReclaim: { "memory.available": "500Mi" },
      evictionPressureTransitionPeriod: "20s",
    };
    const rows = told(
      settings,
      [
        { at: 0, pod: "burstable-big-within-request", script: exits, requests: { memory: "900Mi" } },
        { at: 5, pod: "burstable-big-within-request", uses: { memory: constant(800 * Mi) } },
        { at: 10, pod: "best-effort-big", script: "sleep 1000" },
        { at: 12, pod: "best-effort-big", uses: { memory: constant(6800 * Mi) } },
        { at: 35, pod: "late-best-effort", script: exits },
      ],
      70,
    );
    const message =
      "The node was low on resource: memory. Threshold quantity: 16945Mi, available: N. Container c was using N, request is 0, has larger consumption of memory. ";
    expect(rows).toEqual([
      ...begun("burstable-big-within-request"),
      ...begun("best-effort-big"),
      ...pressure("memory", "best-effort-big", message),
      "pod best-effort-big: Failed Evicted disrupted terminated Error 137",
      "event NodeHasInsufficientMemory n1: Node n1 status is now: NodeHasInsufficientMemory",
      ...late("MemoryPressure"),
      "event NodeHasSufficientMemory n1: Node n1 status is now: NodeHasSufficientMemory",
    ]);
  });

  it("for a disk: a shell that ends well on TERM ends its pod well, though it was evicted", () => {
    const settings = { evictionHard: { "nodefs.available": "67662Mi" }, evictionPressureTransitionPeriod: "20s" };
    const rows = told(
      settings,
      [
        { at: 0, pod: "best-effort-big", script: exits },
        { at: 5, pod: "best-effort-big", uses: { layerBytes: constant(40_000 * Mi) } },
        { at: 20, pod: "late-best-effort", script: exits },
      ],
      70,
    );
    const message =
      "The node was low on resource: ephemeral-storage. Threshold quantity: 67662Mi, available: N. Container c was using N, request is 0, has larger consumption of ephemeral-storage. ";
    expect(rows).toEqual([
      ...begun("best-effort-big"),
      ...pressure("ephemeral-storage", "best-effort-big", message),
      "pod best-effort-big: Succeeded disrupted terminated Completed 0",
      "event NodeHasDiskPressure n1: Node n1 status is now: NodeHasDiskPressure",
      ...late("DiskPressure"),
      "event NodeHasNoDiskPressure n1: Node n1 status is now: NodeHasNoDiskPressure",
    ]);
  });
});
