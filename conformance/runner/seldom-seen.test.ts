import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { drawnForEach, drawnInAll, drawnToChoose, featuresOf, seldomSeen } from "./seldom-seen.ts";

const anyStep = fc.record({
  verb: fc.constantFrom("put", "put", "put", "patch", "apply", "delete"),
  through: fc.constantFrom("object", "object", "object", "status"),
  version: fc.constantFrom("none", "none", "none", "current", "stale"),
});
const anyProgram = fc.record({
  type: fc.constantFrom("pods", "pods", "nodes", "leases"),
  steps: fc.array(anyStep, { minLength: 1, maxLength: 4 }),
});

const draw = (seed: number, numRuns: number) => fc.sample(anyProgram, { seed, numRuns });
const seenIn = (programs: readonly unknown[]): number => new Set(programs.flatMap((one) => [...featuresOf(one)])).size;

describe("which of the programs that were drawn are run", () => {
  it("is one of each few, and more that are drawn change nothing before them", () => {
    const drawn = draw(1, 40);
    const chosen = seldomSeen(drawn, []);
    expect(chosen.map((place) => Math.floor(place / drawnForEach))).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(seldomSeen(drawn.slice(0, 20), [])).toEqual(chosen.slice(0, 5));
  });

  it("has more in it than what comes first, of nearly every seed", () => {
    const wins = Array.from({ length: 50 }, (_, seed) => {
      const drawn = draw(seed, 12 * drawnForEach);
      const chosen = seldomSeen(drawn, []).map((place) => drawn[place]);
      return seenIn(chosen) > seenIn(drawn.slice(0, 12));
    });
    expect(wins.filter(Boolean).length).toBeGreaterThan(45);
  });

  it("is not what an example has shown already", () => {
    const common = { verb: "put" };
    const rare = { verb: "apply" };
    expect(seldomSeen([rare, common, common, common], [])).toEqual([0]);
    expect(seldomSeen([common, rare, common, common], [common])).toEqual([1]);
    expect(seldomSeen([common, rare, common, common], [rare])).toEqual([0]);
  });

  it("is drawn for a few hundred programs, and those after them are run as they come", () => {
    expect([drawnToChoose(3), drawnInAll(3)]).toEqual([12, 12]);
    expect([drawnToChoose(100_000), drawnInAll(100_000)]).toEqual([1000, 100_750]);
  });
});

describe("what a program has in it", () => {
  it("is each value, each two of a step, each with what stands above, and which step follows which", () => {
    const features = featuresOf({ type: "pods", steps: [{ do: "get" }, { do: "put", dry: true }] });
    for (const feature of [
      ".type=pods",
      ".steps[].do=put",
      ".steps[].do=put&.steps[].dry=true",
      ".type=pods&.steps[].do=get",
      ".steps:get>put",
      ".steps#2",
    ])
      expect(features).toContain(feature);
  });

  it("is bounded, whatever the program is", () => {
    let deep: unknown[] = [];
    for (let depth = 0; depth < 5000; depth++) deep = [deep];
    const loop: Record<string, unknown> = { a: 1 };
    loop["loop"] = loop;
    const wide = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`f${index}`, index]));
    const many = Array.from({ length: 300 }, () => Array.from({ length: 8 }, () => wide));
    for (const value of [deep, loop, wide, many, "x".repeat(1e6), null, undefined, 2 ** 60, Number.NaN, () => 1])
      expect(featuresOf(value).size).toBeLessThan(5000);
  });
});
