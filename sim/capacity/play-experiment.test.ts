/** Experiments in their tiny forms: what is counted, that it comes out the same twice, and that every ready one can be played. */
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { CapacityRun } from "../../reports/schema/capacity-report.ts";
import { capacityReportSchema } from "../../reports/schema/capacity-report.ts";
import { metrics } from "../../reports/capacity/metrics.ts";
import { ExperimentFile } from "../../scenarios/capacity/load.ts";
import { planOf } from "../../scenarios/capacity/plan.ts";
import { NothingMeasured, playExperiment } from "./play-experiment.ts";

const folder = new URL("../../scenarios/capacity/", import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith(".yaml"));
const read = (name: string): ExperimentFile => new ExperimentFile(readFileSync(new URL(name, folder), "utf8"), name);

function play(text: string, repetition = 1): CapacityRun {
  const head = "apiVersion: capacity/v1\nname: x\nquestion: How much?\n";
  return playExperiment(new ExperimentFile(`${head}${text}`, "x").experiment, { arm: "base", repetition });
}

const counted = (run: CapacityRun, who: string, verb: string, resource: string): number =>
  run.requests
    .filter((row) => row.who === who && row.verb === verb && row.resource === resource)
    .reduce((sum, row) => sum + row.count, 0);

const runSchema = capacityReportSchema.shape.runs.element;

describe("a ready experiment", () => {
  it.each(files)("%s is played in its tiny form", (name) => {
    const [arm] = planOf(read(name), "tiny", []).arms;
    const run = playExperiment((arm as NonNullable<typeof arm>).experiment, { arm: "base", repetition: 1 });
    expect(runSchema.parse(run)).toEqual(run);
    expect(run.requests.length).toBeGreaterThan(0);
    const whole = run.requests.reduce((sum, { count }) => sum + count, 0);
    for (const table of [run.byVerb, run.byWho])
      expect(table.reduce((sum, { seconds }) => sum + seconds.reduce((all, each) => all + each, 0), 0)).toBe(whole);
  });
});

describe("a run", () => {
  const storm = "settle: 20s\nuntil: 15s\ncluster: { nodes: 3, podsPerNode: 2 }\nworkload: [{ do: restart, at: 2s }]\n";

  it("comes out the same twice, and another repetition otherwise", () => {
    expect(play(storm)).toEqual(play(storm));
    expect(play(storm, 2).latencies).not.toEqual(play(storm).latencies);
  });

  it("counts what follows from the workload", () => {
    const run = play(storm);
    // Each agent lists its pods once, watches them, and reads each of them again.
    expect(counted(run, "agents", "list", "pods")).toBe(3);
    expect(counted(run, "agents", "watch", "pods")).toBe(3);
    expect(run.agents.count).toBe(3);
    const burst = play(
      "settle: 10s\nuntil: 40s\ncluster: { nodes: 2 }\nworkload: [{ do: burst, name: shop, replicas: 10 }]\n",
    );
    expect(counted(burst, "replicaset-controller", "create", "pods")).toBe(10);
    expect(counted(burst, "scheduler", "create", "pods/binding")).toBe(10);
    expect(burst.pods).toMatchObject({ created: 10, ready: 10, unscheduled: 0 });
  });

  it("tells how long drains took, which a tight budget draws out", () => {
    const drained = (minAvailable: number): CapacityRun =>
      play(
        `settle: 20s\nuntil: 2m\ncluster: { nodes: 4, deployments: [{ name: shop, replicas: 12, minAvailable: ${minAvailable}, grace: 5 }] }\n` +
          "workload: [{ do: drain, at: 2s, nodes: 2, every: 10s }]\n",
      );
    const [loose, tight] = [drained(1), drained(11)];
    for (const { drains } of [loose, tight]) expect(drains).toMatchObject({ nodes: 2, done: 2 });
    const refused = metrics.find(({ name }) => name === "evictions that a budget refused");
    expect([loose, tight].map((run) => refused?.of(run))).toEqual([0, expect.any(Number)]);
    expect(tight.drains?.micros.max).toBeGreaterThan(5_000_000);
    expect(loose.drains?.micros.max).toBeLessThan(5_000_000);
    expect(drained(12).drains).toMatchObject({ nodes: 2, done: 0 });
  });

  it("turns requests away once all seats are taken, and lets them wait where there is a queue", () => {
    const lists = (queue: number): CapacityRun =>
      play(
        `settle: 5s\nuntil: 5s\ncluster: { nodes: 0, configMaps: { count: 50 }, server: { reads: 2, queue: ${queue} } }\n` +
          "workload: [{ do: list, path: /api/v1/configmaps, clients: 10 }]\n",
      );
    const refused = (run: CapacityRun): number =>
      run.requests.filter(({ code }) => code === 429).reduce((sum, { count }) => sum + count, 0);
    expect(refused(lists(0))).toBe(8);
    expect(refused(lists(100))).toBe(0);
  });

  it("takes no writes beyond the store's quota", () => {
    const run = play(
      "settle: 5s\nuntil: 10s\ncluster: { nodes: 0, server: { storeQuota: 200k } }\nworkload: [{ do: churn, what: configmaps, bytes: 10000, perSecond: 20, keep: 1000 }]\n",
    );
    expect(run.requests.some(({ code }) => code === 500)).toBe(true);
    expect(run.store.bytesMost).toBeLessThan(220_000);
  });

  it("ends when a stop condition is broken", () => {
    const run = play(
      "settle: 5s\nuntil: 5m\ncluster: { nodes: 0 }\nworkload: [{ do: churn, what: configmaps, perSecond: 10 }]\nstop: [{ requests: { verb: create }, max: 50 }]\n",
    );
    expect(run.stoppedBy).toBe("requests create ≤ 50");
    expect(run.virtualMicros).toBe(10_000_000);
  });

  it("ends soon with what it has when it is told to, and has nothing before its measured time began", () => {
    const text = "settle: 20s\nuntil: 2m\ncluster: { nodes: 3 }\nworkload: [{ do: churn, what: configmaps }]\n";
    const { experiment } = new ExperimentFile(`apiVersion: capacity/v1\nname: x\nquestion: How much?\n${text}`, "x");
    const endedAt = (part: number) => {
      let looksAfter = 0;
      const run = (): CapacityRun =>
        playExperiment(experiment, {
          arm: "base",
          repetition: 1,
          onProgress: (done) => done >= part && ++looksAfter > 0,
        });
      return { run, looksAfter: () => looksAfter };
    };
    const half = endedAt(0.5);
    const run = half.run();
    expect(run.stoppedBy).toBe("interrupted");
    // It stops where it was told to, and not at the next ten seconds of the virtual clock.
    expect(run.virtualMicros).toBeGreaterThanOrEqual(50_000_000);
    expect(run.virtualMicros).toBeLessThan(53_000_000);
    expect(half.looksAfter()).toBe(1);
    expect(runSchema.parse(run)).toEqual(run);
    const early = endedAt(0.05);
    expect(early.run).toThrow(NothingMeasured);
    expect(early.looksAfter()).toBe(1);
  });

  it("moves pods from a node that has used up its memory", () => {
    const [arm] = planOf(read("eviction-cascade.yaml"), "tiny", []).arms;
    const run = playExperiment((arm as NonNullable<typeof arm>).experiment, { arm: "base", repetition: 1 });
    expect(run.pods.evicted).toBeGreaterThan(0);
    expect(run.objectives[0]).toMatchObject({ met: false });
  });
});
