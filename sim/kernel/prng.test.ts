import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { InvariantError } from "./invariant.ts";
import { prngStream } from "./prng.ts";

describe("a stream of draws", () => {
  it("gives the same numbers for ever", () => {
    const first = (...name: string[]): number[] => {
      const prng = prngStream(...name);
      return [prng.uint32(), prng.uint32(), prng.uint32()];
    };
    expect(first("42", "apiserver")).toEqual([831388600, 981570780, 433254775]);
    expect(first("42", "apiserver", "uid")).toEqual([3282405126, 1874250736, 3177372759]);
    expect(first("", "")).toEqual([1778411327, 752686113, 1990831646]);
    const dice = prngStream("42", "dice");
    expect(Array.from({ length: 12 }, () => dice.intInclusive(1, 6))).toEqual([3, 6, 4, 2, 3, 4, 1, 3, 3, 2, 2, 1]);
  });

  it("is named by the list of its parts, whatever they contain", () => {
    const draws = (...parts: string[]): number => prngStream(...parts).uint32();
    const lists = [["a/b", "c"], ["a", "b/c"], ["a", "b", "c"], ["a%2Fb", "c"], ["a/b/c"]];
    expect(new Set(lists.map((parts) => draws(...parts))).size).toBe(lists.length);
    expect(prngStream("s", "p").stream("x").uint32()).toBe(draws("s", "p", "x"));
  });

  it("gives substreams that draws on the parent do not shift", () => {
    const parent = prngStream("s", "p");
    const before = parent.stream("x").uint32();
    parent.uint32();
    expect(parent.stream("x").uint32()).toBe(before);
  });

  it("stays within closed ranges and reaches both ends", () => {
    const range = fc.record({ min: fc.integer(), span: fc.nat(0xffff_ffff) });
    fc.assert(
      fc.property(fc.string(), range, (seed, { min, span }) => {
        const value = prngStream(seed).intInclusive(min, min + span);
        return Number.isSafeInteger(value) && value >= min && value <= min + span;
      }),
      { seed: 12, numRuns: 2000 },
    );
    const prng = prngStream("ends");
    expect(new Set(Array.from({ length: 200 }, () => prng.intInclusive(-1, 1)))).toEqual(new Set([-1, 0, 1]));
    expect(prng.intInclusive(7, 7)).toBe(7);
    expect(prngStream("same").intInclusive(0, 0xffff_ffff)).toBe(prngStream("same").uint32());
  });

  it("favours no value of a range", () => {
    const prng = prngStream("fair");
    const counts = new Array<number>(5).fill(0);
    for (let draw = 0; draw < 50_000; draw++) {
      const value = prng.intInclusive(0, 4);
      counts[value] = (counts[value] as number) + 1;
    }
    // Five standard deviations of a fair draw are 447.
    for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(447);
  });

  it("starts streams of similar names at unrelated values", () => {
    let sum = 0;
    for (let node = 0; node < 10_000; node++) sum += prngStream("7", `node-${node}`).uint32() / 0x1_0000_0000;
    expect(sum / 10_000).toBeCloseTo(0.5, 1);
  });

  it("takes a chance as often as its ratio says, and draws even when it is certain", () => {
    const prng = prngStream("chance");
    let hits = 0;
    for (let draw = 0; draw < 30_000; draw++) if (prng.chance(1, 3)) hits++;
    expect(Math.abs(hits - 10_000)).toBeLessThan(409);
    const [certain, never, plain] = [prngStream("x"), prngStream("x"), prngStream("x")];
    expect([certain.chance(3, 3), never.chance(0, 3)]).toEqual([true, false]);
    plain.intInclusive(1, 3);
    const next = plain.uint32();
    expect([certain.uint32(), never.uint32()]).toEqual([next, next]);
  });

  it("refuses ranges and ratios that are none", () => {
    const prng = prngStream("bad");
    for (const [min, max] of [
      [1, 0],
      [0, 2 ** 32],
      [0.5, 2],
      [Number.NaN, 1],
      [0, Infinity],
    ] as const) {
      expect(() => prng.intInclusive(min, max)).toThrow(InvariantError);
    }
    for (const [numerator, denominator] of [
      [2, 1],
      [-1, 2],
      [1, 0],
      [0.5, 1],
    ] as const) {
      expect(() => prng.chance(numerator, denominator)).toThrow(InvariantError);
    }
  });
});
