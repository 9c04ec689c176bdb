/** Equal arms are never called different, and a cost of five percent is. On real runs of a small experiment. */
import { describe, expect, it } from "vitest";
import { ExperimentFile } from "../../scenarios/capacity/load.ts";
import { playExperiment } from "./play-experiment.ts";
import type { CapacityRun } from "../../reports/schema/capacity-report.ts";
import { compareArms } from "../../reports/capacity/compare.ts";

const file = new ExperimentFile(
  [
    "apiVersion: capacity/v1",
    "name: x",
    "question: How much?",
    "settle: 3s",
    "until: 6s",
    "cluster: { nodes: 0, configMaps: { count: 20 }, server: { cores: 1 }, latency: 0s..20ms }",
    "workload:",
    "  - { do: list, path: /api/v1/configmaps, clients: 4, every: 700ms }",
    "  - { do: churn, what: configmaps, perSecond: 20 }",
  ].join("\n"),
  "x",
);

const play = (seed: number, repetition: number, changes: readonly (readonly [string, unknown])[] = []): CapacityRun =>
  playExperiment(file.with(changes, "arm"), { arm: "base", repetition, seed });

const verdicts = (before: readonly CapacityRun[], after: readonly CapacityRun[]): readonly string[] =>
  compareArms({ name: "before", runs: before }, { name: "after", runs: after }, 1).figures.map(
    ({ verdict }) => verdict,
  );

const isDifferent = (verdict: string): boolean => verdict === "worse" || verdict === "better" || verdict === "other";

const repetitions = 8;
const pool = Array.from({ length: 60 }, (_, index) => play(1000 + index, 1));

describe("a comparison", () => {
  it("never calls equal arms different: 200 pairs of groups with seeds of their own", () => {
    let draw = 12345;
    const random = (below: number): number => {
      draw = (Math.imul(draw, 1_103_515_245) + 12_345) >>> 0;
      return (draw >>> 8) % below;
    };
    const group = (from: CapacityRun[]): CapacityRun[] =>
      Array.from({ length: repetitions }, () => from.splice(random(from.length), 1)[0] as CapacityRun);
    for (let round = 0; round < 200; round++) {
      const left = [...pool];
      expect(verdicts(group(left), group(left)).filter(isDifferent), `round ${round}`).toEqual([]);
    }
  });

  it("finds equal arms of the same seeds the same in every figure", () => {
    const runs = [1, 2, 3].map((repetition) => play(1, repetition));
    expect(
      new Set(
        verdicts(
          runs,
          [1, 2, 3].map((repetition) => play(1, repetition)),
        ),
      ),
    ).toEqual(new Set(["same"]));
  });

  it("finds a planted cost of five percent, by seeds in common", () => {
    const usual = {
      getMicros: 360,
      writeMicros: 820,
      listBaseMicros: 360,
      consistentReadMicros: 25_000,
      storeWriteMicros: 1600,
    };
    const dearer = Object.entries(usual).map(([name, micros]) => [`costs.${name}`, Math.round(micros * 1.05)] as const);
    const before = [1, 2, 3, 4, 5].map((repetition) => play(7, repetition));
    const after = [1, 2, 3, 4, 5].map((repetition) => play(7, repetition, dearer));
    const { figures } = compareArms({ name: "before", runs: before }, { name: "after", runs: after }, 1);
    const writes = figures.find(({ metric }) => metric.name === "writes, mean");
    expect(writes?.verdict).toBe("worse");
    expect(writes?.difference.relative).toBeGreaterThan(0.04);
    expect(writes?.difference.relative).toBeLessThan(0.06);
    // What is counted is the same.
    expect(figures.find(({ metric }) => metric.name === "requests")?.verdict).toBe("same");
  });

  it("proves nothing by a single repetition", () => {
    const found = verdicts([play(1, 1)], [play(1, 1, [["costs.writeMicros", 2000]])]);
    expect(found).toContain("unproven");
    expect(found.filter(isDifferent)).toEqual([]);
  });
});
