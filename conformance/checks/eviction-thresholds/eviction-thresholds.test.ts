import { describe, expect, it } from "vitest";
import type { SuiteReport } from "../../../reports/schema/suite-report.ts";
import type { JoinedNode, NodeHost } from "../../../wire/node-host.ts";
import type { SuiteClock } from "../../../wire/ports.ts";
import type { Json, JsonObject } from "../../client/types.ts";
import { runSuite } from "../../run-suite.ts";
import { type EvictorFault, NaiveEvictor, type Runner, runnerOf } from "../../testing/naive-evictor.fixture.ts";
import { jumpingClock, refusal, type Script, scriptedTransport } from "../../testing/scripted-target.fixture.ts";

const verbs = ["get", "list", "create", "delete"];
const named = (name: string, kind: string, namespaced: boolean) => ({ name, kind, namespaced, verbs });
const core = [named("namespaces", "Namespace", false), named("pods", "Pod", true), named("nodes", "Node", false)];
const proxy = named("nodes/proxy", "NodeProxyOptions", false);
const ok = (json: unknown, status = 200) => ({ status, json });
const notFound = refusal(404, "NotFound");
const listOf = (kind: string, items: readonly unknown[]) =>
  ok({ kind: `${kind}List`, apiVersion: "v1", metadata: { resourceVersion: "1" }, items });

function nodeObject(name: string, pressed: readonly string[], tainted: readonly string[]) {
  const types = ["MemoryPressure", "DiskPressure", "PIDPressure"];
  const keys = { MemoryPressure: "memory", DiskPressure: "disk", PIDPressure: "pid" } as Record<string, string>;
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name },
    spec: { taints: tainted.map((type) => ({ key: `node.svc.io/${keys[type]}-pressure`, effect: "NoSchedule" })) },
    status: { conditions: types.map((type) => ({ type, status: pressed.includes(type) ? "True" : "False" })) },
  };
}

const run = (check: string, script: Script, rest: { clock?: SuiteClock; nodes?: NodeHost; runs?: number } = {}) =>
  runSuite({
    transport: scriptedTransport(script),
    clock: jumpingClock(),
    profile: "svc",
    targetKind: "embedded",
    only: [check],
    ...rest,
  });

const outcomeOf = (report: SuiteReport, requirement: string) =>
  report.requirements.find(({ id }) => id === `agent-eviction.${requirement}`)?.outcome;

describe("agents-keep-to-their-thresholds", () => {
  interface Living {
    resources?: readonly unknown[];
    config?: JsonObject;
    available?: number;
    pressed?: readonly string[];
    tainted?: readonly string[];
    /** Evicted before, and while it is looked at. */
    pods?: readonly Json[];
    oldPods?: readonly Json[];
    /** The answer to a list of nodes. */
    nodes?: ReturnType<Script>;
  }
  const lowText = "The node was low on resource: memory. Threshold quantity: 100Mi, available: 51200Ki. ";
  const evictedPod = (status: JsonObject = {}, spec: JsonObject = {}, annotations: JsonObject = {}): Json => ({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "a", namespace: "n", annotations },
    spec: { nodeName: "one", ...spec },
    status: {
      phase: "Failed",
      reason: "Evicted",
      message: lowText,
      conditions: [{ type: "DisruptionTarget", status: "True", reason: "TerminationByKubelet" }],
      ...status,
    },
  });

  /** A target with one node, whose agent answers behind the proxy. */
  function judge(living: Living = {}) {
    const config = { evictionHard: { "memory.available": "100Mi" }, ...living.config };
    const node = nodeObject("one", living.pressed ?? [], living.tainted ?? living.pressed ?? []);
    const memory = { availableBytes: living.available ?? 2 ** 30, workingSetBytes: 2 ** 30 };
    const answers: Record<string, ReturnType<Script>> = {
      "/api/v1": ok({ groupVersion: "v1", resources: living.resources ?? [...core, proxy] }),
      "/apis": ok({ groups: [] }),
      "/api/v1/nodes": living.nodes ?? listOf("Node", [node]),
      "/api/v1/nodes/one": ok(node),
      "/api/v1/nodes/one/proxy/configz": ok({ nodeagentconfig: config }),
      "/api/v1/nodes/one/proxy/stats/summary": ok({ node: { memory } }),
    };
    const podLists = [living.oldPods ?? [], [...(living.oldPods ?? []), ...(living.pods ?? [])]];
    return run("agents-keep-to-their-thresholds", ({ path: target }) => {
      const path = target.split("?")[0] as string;
      return path === "/api/v1/pods" ? listOf("Pod", podLists.shift() ?? []) : (answers[path] ?? notFound);
    });
  }

  it("accepts an agent at peace, and one under pressure that says so", async () => {
    expect(outcomeOf(await judge(), "taints")?.status).toBe("passed");
    const pressed = await judge({ available: 50 * 2 ** 20, pressed: ["MemoryPressure"], pods: [evictedPod()] });
    expect(pressed.checks[0]?.verdict).toEqual({ status: "passed", runs: 1 });
  });

  it("is unsupported without a proxy, and where no agent answers behind it", async () => {
    expect((await judge({ resources: core })).checks[0]?.verdict).toEqual({
      status: "unsupported",
      feature: "node-proxy",
    });
    const mute = await run("agents-keep-to-their-thresholds", ({ path }) =>
      path.startsWith("/api/v1/nodes?")
        ? listOf("Node", [nodeObject("one", [], [])])
        : path === "/api/v1"
          ? ok({ groupVersion: "v1", resources: [...core, proxy] })
          : notFound,
    );
    expect(mute.checks[0]?.verdict).toMatchObject({
      status: "unsupported",
      feature: expect.stringMatching(/^agents that tell/),
    });
  });

  it.each<[what: string, requirement: string, living: Living]>([
    ["a soft threshold without grace", "settings", { config: { evictionSoft: { "memory.available": "1Gi" } } }],
    ["pressure that no condition shows", "raised", { available: 50 * 2 ** 20 }],
    ["a condition without its taint", "taints", { pressed: ["DiskPressure"], tainted: [] }],
    ["a taint without its condition", "taints", { tainted: ["PIDPressure"] }],
    ["a critical pod evicted", "spares-critical", { pods: [evictedPod({}, { priority: 2_000_001_000 })] }],
    ["a mirror evicted", "spares-critical", { pods: [evictedPod({}, {}, { "svc.io/config.mirror": "a" })] }],
    ["an evicted pod that runs", "status", { pods: [evictedPod({ phase: "Running" })] }],
    [
      "a threshold that is not configured",
      "message",
      { pods: [evictedPod({ message: lowText.replace("100", "99") })] },
    ],
  ])("finds %s", async (_, requirement, living) => {
    const report = await judge(living);
    expect(report.checks[0]?.failure?.requirement).toMatch(new RegExp(`^agent-eviction\\.${requirement}$`));
    expect(outcomeOf(report, requirement)?.status).toBe("failed");
  });

  it("judges only who was evicted before, and not what the texts of that time say", async () => {
    const old = { oldPods: [evictedPod({ message: lowText.replace("100", "99") })] };
    expect((await judge(old)).conclusion).toBe("conformant");
    const critical = await judge({ oldPods: [evictedPod({}, { priority: 2_000_000_000 })] });
    expect(critical.checks[0]?.failure?.requirement).toBe("agent-eviction.spares-critical");
  });

  it("is unsupported where the credentials do not show nodes", async () => {
    const report = await judge({ nodes: refusal(403, "Forbidden") });
    expect(report.checks[0]?.verdict.status).toBe("unsupported");
  });

  it("leaves alone what is evicted for its own limits", async () => {
    const message = 'Usage of EmptyDir volume "a" exceeds the limit "1Mi". ';
    const report = await judge({ pods: [evictedPod({ message, conditions: [] }, { priority: 2_000_001_000 })] });
    expect(report.conclusion).toBe("conformant");
  });
});

describe("joined-nodes-evict-lawfully", () => {
  it("says that no node joins, and proves nothing", async () => {
    const resources = ok({ groupVersion: "v1", resources: core });
    const report = await run("joined-nodes-evict-lawfully", ({ path }) => (path === "/api/v1" ? resources : notFound));
    expect(outcomeOf(report, "hard")).toEqual({
      status: "unsupported",
      feature: "nodes of the suite: none joins without --join-nodes",
    });
    expect(report.conclusion).toBe("inconclusive");
  });

  it("accepts an agent that obeys its thresholds, and judges every requirement of evictions", async () => {
    const report = await judgeBound(undefined, 12);
    expect(report.checks[0]?.verdict).toMatchObject({ status: "passed" });
    expect(report.requirements.filter(({ outcome }) => outcome.status === "inconclusive").map(({ id }) => id)).toEqual(
      [],
    );
  }, 120_000);

  it.each<[fault: EvictorFault, requirement: string]>([
    ["evicts far above the threshold", "(hard|soft)"], // whichever kind the first program has
    ["ignores grace periods", "soft"],
    ["drops conditions at once", "transition"],
    ["ranks the other way", "ranking"],
    ["calls it a success", "status"],
  ])(
    "finds an agent that %s",
    async (fault, requirement) => {
      const report = await judgeBound(fault, 12);
      expect(report.checks[0]?.failure?.requirement).toMatch(new RegExp(`^agent-eviction\\.${requirement}$`));
    },
    120_000,
  );
});

/** A target whose nodes are naive evictors, and the host that joins them: both look at the same seconds. */
async function judgeBound(fault: EvictorFault | undefined, runs: number): Promise<SuiteReport> {
  const clock = jumpingClock();
  const nodes = new Map<string, { readonly evictor: NaiveEvictor; catchUp(): void; readonly startMillis: number }>();
  const usages = new Map<string, Runner["pod"]["usage"]>();
  const host: NodeHost = {
    async join({ name, usage, ...rest }) {
      const startMillis = clock.nowMillis();
      const evictor = new NaiveEvictor(rest, fault);
      let secondsPlayed = -1;
      const catchUp = () => {
        const secondsNow = Math.floor((clock.nowMillis() - startMillis) / 1000);
        while (secondsPlayed < secondsNow) evictor.tick(++secondsPlayed * 1000);
      };
      evictor.use(usage);
      nodes.set(name, { evictor, catchUp, startMillis });
      return {
        name,
        use: (more) => {
          catchUp();
          evictor.use(more);
        },
        usePod: (pod, used) => void usages.set(pod, used),
        readings: () =>
          evictor.readings.map((at) => ({
            ...at,
            atMillis: at.atMillis + startMillis,
            takenMillis: at.takenMillis + startMillis,
          })),
        restart: (away) => away(),
        leave: async () => void nodes.delete(name),
      } satisfies JoinedNode;
    },
    async close() {},
  };
  const script: Script = ({ method, path: target, body }) => {
    const path = target.split("?")[0] as string;
    if (path === "/api/v1") return ok({ groupVersion: "v1", resources: core });
    if (method === "DELETE") return notFound;
    const [, namespace, isPod] = /^\/api\/v1\/namespaces(?:\/([^/]+)(\/pods)?)?/.exec(path) ?? [];
    if (method === "POST" && isPod !== undefined)
      return ok(started(JSON.parse(String(body)), namespace as string), 201);
    if (method === "POST") return ok(JSON.parse(String(body)), 201);
    const node = nodes.get(path.split("/").at(-1) as string) ?? nodes.get(`${namespace}-node`);
    if (node === undefined) return listOf("Namespace", []);
    node.catchUp();
    if (path.endsWith("/events")) return listOf("Event", node.evictor.runners.flatMap(eventsOf));
    if (isPod !== undefined) return listOf("Pod", node.evictor.runners.map(podObject));
    const { conditions, taints } = node.evictor.sighting(0);
    const pressed = Object.entries(conditions).filter(([, status]) => status === "True");
    return ok(
      nodeObject(
        path.split("/").at(-1) as string,
        pressed.map(([type]) => type),
        [...taints],
      ),
    );
  };
  const started = (pod: JsonObject, namespace: string): JsonObject => {
    const node = nodes.get(`${namespace}-node`);
    const object = { ...pod, metadata: { ...(pod["metadata"] as JsonObject), namespace } };
    node?.catchUp();
    node?.evictor.runners.push(runnerOf(scenarioPod(object, usages, clock.nowMillis() - node.startMillis)));
    return object;
  };
  return run("joined-nodes-evict-lawfully", script, { clock, nodes: host, runs });
}

function scenarioPod(pod: JsonObject, usages: ReadonlyMap<string, Runner["pod"]["usage"]>, startMillis: number) {
  const { namespace, name } = pod["metadata"] as Record<string, string>;
  const spec = pod["spec"] as JsonObject;
  const [container] = spec["containers"] as [{ resources: { requests: Record<string, string> } }];
  const mebibytes = (resource: string) => Number.parseInt(container.resources.requests[resource] ?? "0", 10);
  return {
    name: `${namespace}/${name}`,
    priority: Number(spec["priority"] ?? 0),
    static: false,
    requests: { memoryMi: mebibytes("memory"), diskMi: mebibytes("ephemeral-storage") },
    graceSeconds: Number(spec["terminationGracePeriodSeconds"]),
    startMillis,
    usage: usages.get(`${namespace}/${name}`),
  };
}

function eventsOf({ pod, state }: Runner): JsonObject[] {
  const [namespace, name] = pod.name.split("/") as [string, string];
  if (state !== "ending" && state !== "over") return [];
  const metadata = { name: `${name}.1`, namespace };
  return [{ apiVersion: "v1", kind: "Event", metadata, reason: "Evicted", involvedObject: { kind: "Pod", name } }];
}

/** As the API would show it: running until its containers have ended. */
function podObject({ pod, statuses, eviction }: Runner): JsonObject {
  const [namespace, name] = pod.name.split("/") as [string, string];
  const { phase, reason } = statuses.at(-1) ?? { phase: "Pending", reason: "" };
  const disrupted = eviction?.disruptionTarget;
  const conditions = disrupted === undefined ? [] : [{ type: "DisruptionTarget", ...disrupted }];
  const priority = pod.priority;
  const container = { name: "main", resources: { requests: {} } };
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace },
    spec: { priority, terminationGracePeriodSeconds: pod.graceSeconds, containers: [container] },
    status: { phase, reason, message: eviction?.message ?? "", conditions },
  };
}
