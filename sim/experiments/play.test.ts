import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { renderTraceText } from "../../reports/render/trace-text.ts";
import { parseScenario } from "../../scenarios/load.ts";
import { countsOverLives } from "./actors/actor.ts";
import { bugsOf } from "./bugs.ts";
import { playScenario } from "./play.ts";
import { Recorder } from "./recorder.ts";

const text = readFileSync(new URL("../../scenarios/one-broken-link.yaml", import.meta.url), "utf8");
const scenario = parseScenario(text, "one-broken-link.yaml");
const changed = (from: string, to: string) => {
  expect(text).toContain(from);
  return parseScenario(text.replace(from, to), "changed.yaml");
};
const statuses = ({ report }: ReturnType<typeof playScenario>): string[] =>
  report.expectations.map(({ requirement, verdict }) => `${requirement} ${verdict.status}`);

describe("the scenario of one broken link", () => {
  it("keeps its promises", () => {
    expect(statuses(playScenario(scenario))).toEqual([
      "watch.expired-is-gone passed",
      "informer.converges passed",
      "watch.ordered passed",
      "watch.reliable passed",
    ]);
  });

  it("has one history for one seed, whatever is kept of the trace and whoever looks on, and another for another", () => {
    const hash = (seed: number, keep: "all" | "tail", watched = false): string =>
      playScenario(scenario, { seed, trace: { keep }, ...(watched ? { watcher: new Recorder(scenario) } : {}) }).report
        .traceHash;
    expect(hash(42, "all")).toBe(hash(42, "tail"));
    expect(hash(42, "all", true)).toBe(hash(42, "tail"));
    expect(hash(43, "tail")).not.toBe(hash(42, "tail"));
  });

  it("can be played without the controllers that live in the server, and is then another history", () => {
    const alone = changed("cluster: { historyWindow: 5m }", "cluster: { historyWindow: 5m, controllers: false }");
    expect(statuses(playScenario(alone))).toEqual(statuses(playScenario(scenario)));
    expect(playScenario(alone).report.traceHash).not.toBe(playScenario(scenario).report.traceHash);
  });

  it("keeps its promises for other seeds too", () => {
    for (let seed = 1; seed <= 20; seed++) {
      const { report } = playScenario(scenario, { seed });
      expect(report.failure, `seed ${seed}`).toBeUndefined();
    }
  });

  it("fails when the link never heals, with the time and what was wrong then", () => {
    const { report } = playScenario(
      changed("- { at: 10s, heal: [informer-1, apiserver] }", "- { at: 10s, partition: [informer-1, apiserver] }"),
    );
    expect(report.expectations.map(({ verdict }) => verdict.status)).toContain("failed");
    expect(report.failure).toMatchObject({ requirement: "informer.converges", atMicros: 20_000_000 });
    expect(report.failure?.evidence).toContain("partition informer-1 apiserver since 2 s");
    expect(report.failure?.signature).toMatch(/^informer\.converges \[informer-#/);
  });

  it("tells what is there as what is there: of an informer that still holds what is deleted, and of one that lags", () => {
    const explored = readFileSync(new URL("../../scenarios/explore/informers.yaml", import.meta.url), "utf8");
    const { report } = playScenario(parseScenario(explored, "informers.yaml"), {
      seed: 6,
      bugs: bugsOf(["client-relist-keeps-deleted"]),
    });
    expect(report.failure).toMatchObject({
      requirement: "cluster.converges",
      expected: "nobody waits for anything",
      actual: "informer-1 still holds default/writer-2-2 at version 64, which is deleted",
    });
    const cut = playScenario(
      changed("- { at: 10s, heal: [informer-1, apiserver] }", "- { at: 10s, partition: [informer-1, apiserver] }"),
    ).report.failure;
    const [, key, version] = /^informer-1 holds (\S+) at version (\d+)$/.exec(cut?.expected ?? "") ?? [];
    expect([
      `informer-1 does not hold ${key}, which is there at version ${version}`,
      expect.stringMatching(new RegExp(`^informer-1 holds ${key} at version \\d+, and not ${version}$`)),
    ]).toContainEqual(cut?.actual);
  });

  it("survives a crash of the server and of an informer: the store and the API bring them back", () => {
    const crashes = "- { at: 8s, crash: apiserver }\n  - { at: 12s, crash: informer-1 }";
    const staged = changed("- { at: 8s, compact: apiserver }", crashes);
    const recorder = new Recorder(staged);
    const played = playScenario(staged, { watcher: recorder });
    expect(statuses(played)).toContain("informer.converges passed");
    const counts = played.report.clients["informer-1"];
    expect(counts?.["objects"]).toBeGreaterThan(0);
    // Of both lives, as the trace has them.
    const told = renderTraceText(recorder.document(played.report)).match(/ informer-1 +e /g) ?? [];
    expect(counts?.["events"]).toBe(told.length);
    expect(played.report.coverage).toMatchObject({ "server.crashed": 1, "client.crashed": 1 });
  });

  it("counts what a client did in all its lives, and what it has in the last", () => {
    expect(countsOverLives({ updates: 3, objects: 2, "PUT 409": 1 }, { updates: 1, objects: 4, "GET 200": 1 })).toEqual(
      {
        updates: 4,
        objects: 4,
        "PUT 409": 1,
        "GET 200": 1,
      },
    );
  });

  it("plays a plan again without drawing it", () => {
    const swarm = changed("{ at: 8s, compact: apiserver }", "{ every: 2s..4s, compact: apiserver }");
    const drawn = playScenario(swarm, { mode: "swarm", seed: 5 });
    const again = playScenario(swarm, { plan: drawn.plan, seed: 5 });
    expect(again.report.traceHash).toBe(drawn.report.traceHash);
    expect(drawn.plan.drawn.join()).toMatch(/compact apiserver: (off|every)/);
    expect(playScenario(swarm, { mode: "performance" }).report.faultCount).toBe(0);
  });

  it("stops where a planted bug breaks a promise, at the same record as if it had gone on", () => {
    const bugs = bugsOf(["client-double-done-duplicate-watch"]);
    const whole = playScenario(scenario, { bugs }).report.failure;
    const { failure, traceRecords } = playScenario(scenario, { bugs, stopsAtFailure: true }).report;
    expect(failure).toEqual(whole);
    expect(failure?.requirement).toBe("watch.one-live");
    expect(traceRecords).toBe(failure?.atRecord);
  });

  it("is written down a line a change, each sign in the legend", () => {
    const recorder = new Recorder(scenario);
    const trace = recorder.document(playScenario(scenario, { watcher: recorder }).report);
    const lines = renderTraceText(trace).split("\n");
    const legend = lines.flatMap((line) => /^# (\S) {2}/.exec(line)?.[1] ?? []);
    const signs = lines.flatMap((line) => /^ *[\d.]+ \S+ +\S+ +(\S) /.exec(line)?.[1] ?? []);
    expect(signs.length).toBeGreaterThan(200);
    expect(signs.filter((sign) => !legend.includes(sign))).toEqual([]);
    expect(lines.join("\n")).toContain("everybody  X partition informer-1 apiserver");
    expect(trace.messages.some(({ arrivesMicros }) => arrivesMicros === undefined)).toBe(true);
    expect(trace.faults.find(({ what }) => what === "partition")).toMatchObject({
      fromMicros: 2_000_000,
      toMicros: 10_000_000,
    });
  });

  it("refuses bugs that do not exist, with the near name", () => {
    expect(() => bugsOf(["client-relist-keep-deleted"])).toThrow("did you mean client-relist-keeps-deleted?");
  });
});
