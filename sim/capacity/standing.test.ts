/** Pods that stand from the beginning: where they were said to be, with their owners, and undisturbed. */
import { describe, expect, it, vi } from "vitest";
import { ScenarioError } from "../../scenarios/load.ts";
import { ExperimentFile } from "../../scenarios/capacity/load.ts";
import { placesText, rangesOf } from "../../scenarios/capacity/standing-rows.ts";
import type { CapacityRun } from "../../reports/schema/capacity-report.ts";
import { playExperiment } from "./play-experiment.ts";

const head = "apiVersion: capacity/v1\nname: x\nquestion: How much?\nsettle: 40s\nuntil: 30s\n";

const cluster = [
  "cluster:",
  "  pools:",
  "    - { name: general, count: 6, cpu: 4, memory: 8Gi }",
  "    - { name: gpu, count: 2, resources: { example.com/gpu: 4 }, taints: [{ key: gpu, effect: NoSchedule }] }",
  "  namespaces: [shop]",
  "  objects:",
  "    - { apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: { name: high }, value: 1000 }",
  "  standing:",
  '    - { name: web, namespace: shop, on: { general: "0..4 5*2" }, waiting: 1, containers: [{ cpu: 100m, memory: 64Mi }], priorityClass: high, size: 6000 }',
  '    - { name: solo, owner: ReplicaSet, on: { general: "0 2" } }',
  '    - { name: db, owner: StatefulSet, on: { general: "1 3" } }',
  '    - { name: logs, owner: DaemonSet, on: { general: "0..5" } }',
  '    - { name: some, owner: DaemonSet, on: { general: "0..2" } }',
  '    - { name: bare, owner: none, on: { gpu: "0*3" }, tolerations: [{ operator: Exists }] }',
  '    - { name: cuda, on: { gpu: "0..1" }, tolerations: [{ operator: Exists }], containers: [{ resources: { example.com/gpu: 2 } }] }',
].join("\n");

function play(workload: string, shape = cluster): CapacityRun {
  const { experiment } = new ExperimentFile(`${head}${shape}\n${workload}\n`, "x");
  return playExperiment(experiment, { arm: "base", repetition: 1 });
}

const counted = (run: CapacityRun, verb: string, resource: string): number =>
  run.requests.reduce((sum, row) => sum + (row.verb === verb && row.resource === resource ? row.count : 0), 0);

// Whole clusters are played; a busy machine takes its time.
vi.setConfig({ testTimeout: 240_000 });

describe("standing pods", () => {
  it("are there when the measurement begins, ready, and nobody makes or moves any", () => {
    const run = play("objectives: [{ figure: podsNotReady, max: 0 }, { figure: unschedulable, max: 0 }]");
    const pods = run.store.objects.find(({ resource }) => resource === "pods");
    expect(pods?.count).toBe(8 + 2 + 2 + 6 + 3 + 3 + 2);
    // Eight of them were to be of 6000 bytes.
    expect(pods?.bytes).toBeGreaterThan(8 * 5_400);
    expect(run.pods).toMatchObject({ created: 0, deleted: 0 });
    expect(run.objectives.map(({ met }) => met)).toEqual([true, true]);
    expect(counted(run, "patch", "pods")).toBe(0);
  });

  it("are made anew by their owners when a node is drained", () => {
    const run = play("workload: [{ do: drain, at: 1s, nodes: 1 }]");
    // Of web and solo one each stood on the first node; those of DaemonSets come back to it.
    expect(run.pods.created).toBeGreaterThanOrEqual(4);
    expect(run.pods.deleted).toBeGreaterThanOrEqual(4);
    expect(run.pods.unscheduled).toBe(0);
  });

  it("need nodes that there are", () => {
    const refused = (on: string): string => {
      try {
        play("", `cluster: { pools: [{ name: a, count: 2 }], standing: [{ name: x, on: ${on} }] }`);
      } catch (error) {
        if (error instanceof ScenarioError) return error.message;
        throw error;
      }
      return "taken";
    };
    expect(refused('{ a: "0..2" }')).toContain("it has no node 2");
    expect(refused('{ b: "0" }')).toContain("no pool is called b");
    expect(refused('{ a: "1..0" }')).toContain("no pod on no node");
    expect(refused('{ a: "0,1" }')).toContain("expected numbers of nodes");
  });
});

describe("numbers of nodes", () => {
  it("are written as ranges, and read as they were", () => {
    const counts = [
      [0, 1],
      [1, 1],
      [2, 1],
      [5, 2],
      [6, 2],
      [9, 1],
    ] as const;
    const text = placesText(counts);
    expect(text).toBe("0..2 5..6*2 9");
    const read = rangesOf(text).flatMap(({ first, last, count }) =>
      Array.from({ length: last - first + 1 }, (_, at) => [first + at, count]),
    );
    expect(read).toEqual(counts);
  });
});
