import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parseScenario } from "../../scenarios/load.ts";
import { bugsOf } from "./bugs.ts";
import { playScenario } from "./play.ts";
import { Recorder } from "./recorder.ts";

const explored = readFileSync(new URL("../../scenarios/explore/agents.yaml", import.meta.url), "utf8");

const manifest = `
      - apiVersion: v1
        kind: Pod
        metadata: { name: proxy, namespace: default }
        spec: { containers: [{ name: main, image: "registry.example/proxy:1" }] }`;

const text = (fault: string, more = "", until = "90s"): string => `
apiVersion: scenarios/v1
name: one-node
until: ${until}
cluster: { controllers: false }
clients:
  - name: node-1
    kind: agent
    manifests: ${more === "" ? "[]" : more}
  - { name: binder-1, kind: binder, pods: 3, every: 1s }
faults: [${fault}]
expect:
  - { by: ${until}, requirement: cluster.converges }
`;

const play = (scenario: string, bugs: readonly string[] = []) =>
  playScenario(parseScenario(scenario, "test.yaml"), { bugs: bugsOf(bugs) });

/** The node of `text`, with soft thresholds of two signals. */
const gently = (fault: string): string =>
  text(fault, "[]", "200s").replace(
    "kind: agent\n",
    `kind: agent
    soft: { "memory.available": { below: 30%, for: 40s }, "pid.available": { below: 20%, for: 12s } }
    reclaim: { "memory.available": 10% }\n`,
  );

const reportOf = (scenario: string, bugs: readonly string[] = []) => play(scenario, bugs).report;

const ready = (status: string): string =>
  `  - { by: 60s, request: GET /api/v1/nodes/node-1, status: 200, holds: { status: { conditions: ${status} } } }\n`;
const conditions = (memory: string, disk: string, readiness: string): string =>
  `{ "0": { type: MemoryPressure, status: "${memory}" }, "1": { type: DiskPressure, status: "${disk}" }, "3": { type: Ready, status: "${readiness}" } }`;

test("a trace has a lane for each node and each pod, and a band for what lasts until the end", () => {
  const scenario = parseScenario(
    text("{ at: 40s, press: node-1, resource: memory, rate: 99/100 }", manifest).replace("pods: 3", "pods: 1"),
    "test.yaml",
  );
  const recorder = new Recorder(scenario);
  const { lanes, entries, faults } = recorder.document(playScenario(scenario, { watcher: recorder }).report);
  expect(lanes.filter(({ kind }) => kind === "node").map(({ name }) => name)).toEqual(["node-1"]);
  const pods = lanes.filter(({ kind }) => kind === "pod").map(({ name }) => name);
  expect(pods.toSorted()).toEqual(["default/pod-1", "default/proxy-node-1"]);
  const signs = (pod: string) => entries.filter(({ lane }) => lane === pod).map(({ sign }) => sign);
  expect(signs("default/proxy-node-1")).toEqual(["R"]);
  expect(signs("default/pod-1")).toEqual(["R", "r"]); // evicted
  expect(faults).toMatchObject([{ what: "press", fromMicros: 40_000_000, toMicros: 90_000_000 }]);
});

describe("what goes wrong with a node", () => {
  test.each([
    ["press: node-1, resource: memory, rate: 99/100", conditions("True", "False", "True")],
    ["press: node-1, resource: disk, rate: 99/100", conditions("False", "True", "True")],
    ["press: node-1, resource: inodes, rate: 99/100", conditions("False", "True", "True")],
    ["misbehave: node-1, how: unready", conditions("False", "False", "False")],
  ])("%s: the node says so, and it is over when it is over", (fault, status) => {
    const said = (lasts: string, by: string): (string | undefined)[] =>
      reportOf(
        text(`{ at: 10s, ${fault}, for: ${lasts} }`, "", "200s") + ready(status).replace("60s", by),
      ).expectations.map(({ verdict }) => verdict.status);
    expect(said("65s", "60s")).toEqual(["passed", "passed"]);
    expect(said("5s", "190s")[0]).toBe("failed");
  });

  test("usage that is too high evicts; what is critical stays", () => {
    const report = reportOf(text("{ at: 15s, press: node-1, resource: memory, rate: 99/100, for: 30s }", manifest));
    expect(report.clients["node-1"]?.["evictions"]).toBeGreaterThan(0);
    expect(report.coverage["pod.evicted"]).toBeGreaterThan(0);
    expect(report.failure).toBeUndefined();
  });

  test("figures that are not as things are evict those who use little", () => {
    const fault = "{ at: 15s, misreport: node-1, figures: are 200 times as much, for: 30s }";
    const said = (row: string) => reportOf(text(row, manifest)).coverage["pod.evicted"] ?? 0;
    expect(said("")).toBe(0);
    expect(said(fault)).toBeGreaterThan(0);
  });

  test("a reboot ends all containers, and the node has another boot id", () => {
    const bootOf = (fault: string) => {
      const { report } = play(
        `${text(fault)}  - { by: 80s, request: GET /api/v1/nodes/node-1, status: 200, holds: { status: { nodeInfo: { bootID: "?" } } } }\n`,
      );
      const verdict = report.expectations[0]?.verdict;
      return { boot: verdict?.status === "failed" ? verdict.actual : "", report };
    };
    const [once, never] = [bootOf("{ at: 20s, reboot: node-1, for: 5s }"), bootOf("")];
    expect(once.boot).not.toBe(never.boot);
    expect(once.boot).toMatch(/^"[0-9a-f-]{36}"$/);
    expect(once.report.coverage["node.rebooted"]).toBe(1);
    expect(once.report.expectations[1]?.verdict.status).toBe("passed");
    expect(never.report.coverage["node.rebooted"]).toBeUndefined();
  });

  test.each(["hung", "failing"])("a runtime that is %s starts nothing, and does when it is well again", (how) => {
    const fault = (lasts: string): string =>
      `{ at: 0s, misbehave: node-1, how: ${how}, method: StartContainer, for: ${lasts} }`;
    expect(reportOf(text(fault("200s"))).failure?.requirement).toBe("cluster.converges");
    expect(reportOf(text(fault("20s"), "", "400s")).failure).toBeUndefined();
  });

  test("a runtime that is slow starts pods so much later", () => {
    const slow = "{ at: 0s, delay: node-1, by: 100s, method: RunPodSandbox, for: 50s }";
    expect(reportOf(text(slow)).failure?.requirement).toBe("cluster.converges");
    expect(reportOf(text(slow, "", "400s")).failure).toBeUndefined();
  });

  test("an agent that dies at any of its calls leaves its containers alone, and comes to the same", () => {
    for (let calls = 1; calls <= 60; calls += 6) {
      const report = reportOf(text(`{ at: 1s, crash: node-1, calls: ${calls}, for: 1s }`, manifest));
      expect(report.failure).toBeUndefined();
      expect(report.coverage["client.crashed"]).toBe(1);
    }
  });

  test("a clock that drifts is seen in its lease, and is right again afterwards", () => {
    const lease = "GET /apis/coordination.svc.io/v1/namespaces/svc-node-lease/leases/node-1";
    const renewed = (fault: string): number => {
      const { report } = play(
        `${text(fault)}  - { by: 55s, request: ${lease}, status: 200, holds: { spec: { renewTime: "?" } } }\n`,
      );
      const verdict = report.expectations[0]?.verdict;
      return Date.parse(JSON.parse(verdict?.status === "failed" ? verdict.actual : '""') as string);
    };
    const [right, wrong, mended] = [
      renewed(""),
      renewed("{ at: 10s, drift: node-1, step: 2s, for: 60s }"),
      renewed("{ at: 10s, drift: node-1, step: 2s, for: 10s }"),
    ];
    expect(wrong - right).toBeGreaterThan(60_000);
    expect(Math.abs(mended - right)).toBeLessThan(12_000);
  });
});

describe("scenarios/explore/agents.yaml", () => {
  test("has the same history twice", () => {
    const scenario = parseScenario(explored, "agents.yaml");
    const [one, other] = [3, 3].map((seed) => playScenario(scenario, { seed }).report);
    expect(one?.failure).toBeUndefined();
    expect(other?.traceHash).toBe(one?.traceHash);
    expect(one?.drawn.some((line) => line.startsWith("misbehave any failing StartContainer: "))).toBe(true);
  });

  test.each([
    ["evict-critical-static", "evictions.due"],
    ["evict-pressure-flap", "pressure.told"],
    ["evict-transition-from-first", "pressure.told"],
  ])("a planted %s breaks %s", (bug, requirement) => {
    const scenario = text("{ at: 15s, press: node-1, resource: memory, rate: 99/100, for: 60s }", manifest, "150s");
    expect(reportOf(scenario, [bug]).failure?.requirement).toBe(requirement);
  });
});

describe("soft thresholds of a node", () => {
  const pressed = (lasts: string): string =>
    gently(`{ at: 15s, press: node-1, resource: memory, rate: 80/100, for: ${lasts} }`);

  test("evict after their grace period, and tell of pressure at once", () => {
    const { coverage, failure } = reportOf(pressed("80s"));
    expect(failure).toBeUndefined();
    expect(coverage["pod.evicted-softly"]).toBeGreaterThan(0);
    expect(reportOf(pressed("30s")).coverage["pod.evicted"]).toBeUndefined();
  });

  test.each([
    ["evict-soft-without-grace", "evictions.due"],
    ["evict-grace-of-the-shortest", "evictions.due"],
    ["evict-condition-after-grace", "pressure.told"],
    ["evict-condition-of-hard-alone", "pressure.told"],
    ["evict-stops-after-first", "evictions.made"],
  ])("a planted %s breaks %s", (bug, requirement) => {
    expect(reportOf(pressed("120s"), [bug]).failure?.requirement).toBe(requirement);
  });

  const spell = (at: number, lasts: number, rate: string): string =>
    `{ at: ${at}s, press: node-1, resource: memory, rate: ${rate}, for: ${lasts}s }`;
  test.each([
    [
      "a period that goes on",
      "evict-grace-goes-on",
      "evictions.due",
      [spell(15, 15, "80/100"), spell(55, 30, "80/100")],
    ],
    [
      "minimum reclaim from the start",
      "evict-minimum-reclaim-from-the-start",
      "pressure.told",
      [spell(15, 60, "65/100")],
    ],
    [
      "minimum reclaim of hard ones alone",
      "evict-minimum-reclaim-of-hard-alone",
      "evictions.made",
      [spell(15, 50, "80/100"), spell(60, 100, "65/100")],
    ],
  ])("%s is found", (_what, bug, requirement, spells) => {
    expect(reportOf(gently(spells.join(", "))).failure).toBeUndefined();
    expect(reportOf(gently(spells.join(", ")), [bug]).failure?.requirement).toBe(requirement);
  });

  test("what no agent takes is told with its place", () => {
    const wrong = (from: string, to: string) => () => parseScenario(pressed("9s").replace(from, to), "x.yaml");
    expect(wrong("below: 30%", "below: 101%")).toThrow(/clients\[0\].soft: .*memory.available/);
    expect(wrong('"pid.available"', '"pid.free"')).toThrow(/clients\[0\].soft: .*pid.free/);
    expect(wrong("10%", "-3%")).toThrow(/clients\[0\].reclaim: .*memory.available/);
  });
});

describe("who is evicted first", () => {
  const asking = (memory: string): string =>
    `{ containers: [{ name: main, image: "registry.example/main:1", resources: { requests: { memory: ${memory} } } }] }`;
  const unlike = text("{ at: 15s, press: node-1, resource: memory, rate: 99/100, for: 30s }").replace(
    "every: 1s }",
    `every: 1s, specs: [${["1Mi", "8Mi", "64Mi"].map(asking).join(", ")}] }`,
  );
  const ranked = (seed: number, bugs: readonly string[]) =>
    playScenario(parseScenario(unlike, "test.yaml"), { bugs: bugsOf(bugs), seed }).report;

  test("is the first in the order, and with planted bugs of the order is not", () => {
    const seeds = [1, 2, 3, 4, 5, 6];
    for (const seed of seeds) {
      const { failure, coverage } = ranked(seed, []);
      expect(failure).toBeUndefined();
      expect(coverage["pod.evicted"]).toBeGreaterThan(0);
    }
    for (const bug of ["evict-wrong-rank", "evict-rank-by-limits"]) {
      const broken = new Set(seeds.map((seed) => ranked(seed, [bug]).failure?.requirement));
      expect([bug, broken.has("evictions.ranked")]).toEqual([bug, true]);
    }
  });
});

describe("what cannot be is told with its place", () => {
  const plain = text("");
  test.each([
    [
      "{ at: 1s, reboot: binder-1 }",
      /faults\[0\].reboot: nobody that this can happen to is called binder-1; there are node-1/,
    ],
    ["{ at: 1s, press: node-1, rate: 1/2 }", /faults\[0\]: press needs `resource`/],
    [
      "{ at: 1s, misbehave: node-1, how: garbled }",
      /faults\[0\].how: no runtime does that; there are hung, failing, unready/,
    ],
    ["{ at: 1s, misbehave: any, how: garbled }", /faults\[0\].misbehave: there is nobody to whom this can happen/],
    ["{ at: 1s, misbehave: node-1, how: hung, method: Fly }", /faults\[0\].method/],
    ["{ at: 1s, crash: apiserver, calls: 3 }", /faults\[0\].calls: a server makes no calls/],
    ["{ at: 1s, drift: node-1, step: 1us }", /faults\[0\].step: expected whole milliseconds/],
  ])("%s", (fault, message) => {
    expect(() => parseScenario(plain.replace("faults: []", `faults: [${fault}]`), "x.yaml")).toThrow(message);
  });

  test("thresholds that no agent takes", () => {
    const wrong = plain.replace("kind: agent", 'kind: agent\n    thresholds: { "memory.free": 1Gi }');
    expect(() => parseScenario(wrong, "x.yaml")).toThrow(/clients\[0\].thresholds: .*memory.free/);
  });
});
