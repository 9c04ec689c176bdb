import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { programSeed } from "./program-seed.ts";

describe("programSeed", () => {
  it("is a 32-bit integer, and another one for another check or seed", () => {
    const property = fc.property(fc.integer(), fc.string(), fc.integer(), (seed, check, other) => {
      const mine = programSeed(seed, check);
      expect(mine).toBe(mine | 0);
      expect(programSeed(seed, check)).toBe(mine);
      if (other !== seed) expect(programSeed(other, check)).not.toBe(mine);
      expect(programSeed(seed, `${check}-again`)).not.toBe(mine);
    });
    fc.assert(property, { seed: 1 });
  });

  it("is another one for each of the seeds that people take", () => {
    const seeds = Array.from({ length: 10_000 }, (_, seed) => programSeed(seed, "watch-is-ordered"));
    expect(new Set(seeds).size).toBe(seeds.length);
  });
});
