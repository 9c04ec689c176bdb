import { describe, expect, it } from "vitest";
import { parseScenario } from "../../scenarios/load.ts";
import { drawPlan, type PlannedFault } from "./plan.ts";

const scenario = (more: string) =>
  parseScenario(
    `apiVersion: scenarios/v1
name: planned
until: 100s
safety: 60s
cluster: { apiservers: 2 }
clients:
  - { name: writer-1, kind: writer, every: 1s }
  - { name: informer-1, kind: informer }
expect: [{ by: 100s, requirement: informer.converges }]
${more}`,
    "planned.yaml",
  );
const rule = "faults: [{ every: 2s..4s, partition: [any, any], for: 1s..9s }, { at: 5s, crash: apiserver-2 }]";
const plain = scenario(rule);
const seeds = Array.from({ length: 200 }, (_, index) => String(index));

describe("a plan", () => {
  it("is the same for the same seed, and another one for another", () => {
    expect(drawPlan(scenario(rule), "7")).toEqual(drawPlan(scenario(rule), "7"));
    expect(drawPlan(scenario(rule), "8").faults).not.toEqual(drawPlan(scenario(rule), "7").faults);
  });

  it("names somebody for any, a client and a server for a pair, goes by time, and ends with the safety phase", () => {
    for (const seed of seeds.slice(0, 60)) {
      const { faults } = drawPlan(plain, seed);
      expect(
        faults.every(({ atMicros }, index) => atMicros < 60_000_000 && atMicros >= (faults[index - 1]?.atMicros ?? 0)),
      ).toBe(true);
      for (const { places } of faults.filter(({ verb }) => verb === "partition")) {
        expect(["writer-1", "informer-1"]).toContain(places[0]);
        expect(["apiserver-1", "apiserver-2"]).toContain(places[1]);
      }
    }
  });

  it("plays rates as they are written in mode lite, and leaves nothing in mode performance", () => {
    const { faults } = drawPlan(scenario(rule), "1", "lite");
    const times = faults.filter(({ verb }) => verb === "partition").map(({ atMicros }) => atMicros);
    const gaps = times.map((at, index) => at - (times[index - 1] ?? 0));
    expect(gaps.every((gap) => gap >= 2_000_000 && gap <= 4_000_000)).toBe(true);
    expect(drawPlan(scenario(rule), "1", "performance").faults).toEqual([]);
  });

  it("draws each rate in mode swarm, leaves out about a quarter, says so, and keeps what has a time", () => {
    const plans = seeds.map((seed) => drawPlan(plain, seed, "swarm"));
    const off = plans.filter(({ drawn }) => drawn.includes("partition any any: off"));
    expect(off.length).toBeGreaterThan(30);
    expect(off.length).toBeLessThan(70);
    expect(off.every(({ faults }) => faults.every(({ verb }) => verb === "crash"))).toBe(true);
    expect(plans.every(({ faults }) => faults.filter(({ verb }) => verb === "crash").length === 1)).toBe(true);
    expect(new Set(plans.map(({ drawn }) => drawn[0])).size).toBe(6);
  });

  it("keeps to its budget, at once and in all", () => {
    const lasting = (faults: readonly PlannedFault[]): number =>
      Math.max(
        ...faults.map(
          ({ atMicros }) =>
            faults.filter((other) => other.atMicros <= atMicros && other.atMicros + (other.forMicros ?? 0) > atMicros)
              .length,
        ),
      );
    expect(Math.max(...seeds.map((seed) => lasting(drawPlan(plain, seed).faults)))).toBeGreaterThan(2);
    const tight = scenario(`${rule}\nbudget: { atOnce: 2, total: 9 }`);
    for (const seed of seeds.slice(0, 60)) {
      const { faults, drawn } = drawPlan(tight, seed);
      expect(lasting(faults)).toBeLessThanOrEqual(2);
      expect(faults.length).toBeLessThanOrEqual(9);
      expect(drawn.at(-1)).toMatch(/left out: the budget$/);
    }
  });
});
