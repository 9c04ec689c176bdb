import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CheckFailure, Inconclusive, Unseen, Unsupported } from "../client/findings.ts";
import type { Attempt } from "./attempt.ts";
import { type CheckDefinition, defineCheck, type QuickCheck, type RunAttempt } from "./define-check.ts";

const attempt = {} as Attempt;
/** Runs the body as a runner does: what it throws is the end of the run. */
const run: RunAttempt = async (body) => {
  try {
    await body(attempt);
    return undefined;
  } catch (error) {
    return error as Error;
  }
};

const check = (judge: (value: number) => void, seen: number[] = []): QuickCheck => defineCheck(definition(judge, seen));

function definition(judge: (value: number) => void, seen: number[]): CheckDefinition<number> {
  return {
    id: "c",
    area: "a",
    property: "p",
    requirements: ["a.b"],
    features: [],
    input: fc.nat(1000),
    async run(_attempt, value) {
      seen.push(value);
      judge(value);
    },
  };
}

const fails = (value: number) => {
  if (value >= 37) throw new CheckFailure("a.b", { expected: "less than 37", actual: String(value) });
};

describe("exploring a property", () => {
  it("finds a failure, makes it small, and comes back to it by seed and path alone", async () => {
    const found = await check(fails).explore({ seed: 5, path: undefined, runs: 100 }, run);
    expect(found.decisive).toBeInstanceOf(CheckFailure);
    expect(found.counterexample).toBe(37);
    expect((found.decisive as CheckFailure).violation.actual).toBe("37"); // of the smallest program, not of the first
    const seen: number[] = [];
    const again = await check(fails, seen).explore({ seed: 5, path: found.path, runs: 100 }, run);
    expect([seen, again.counterexample]).toEqual([[37], 37]);
  });

  it("runs the one program that a path names, whether it fails or not", async () => {
    const seen: number[] = [];
    const found = await check(() => {}, seen).explore({ seed: 5, path: "7", runs: 100 }, run);
    expect([seen, found.runs]).toEqual([[fc.sample(fc.nat(1000), { seed: 5, numRuns: 8 })[7]], 1]);
  });

  it("writes objects of programs as everybody does", async () => {
    const program = [Object.assign(Object.create(null), { a: { b: 1 }, "c d": null }) as object];
    const { id, area, property, requirements, features } = definition(() => {}, []);
    const told = { id, area, property, requirements, features };
    const broken = defineCheck({ ...told, input: fc.constant(program), run: async () => fails(100) });
    const found = await broken.explore({ seed: 5, path: undefined, runs: 1 }, run);
    expect(found.counterexampleText).toBe('[{"a":{"b":1},"c d":null}]');
  });

  it("leaves a failure as it was drawn where nobody wants it small, and comes back to it all the same", async () => {
    const seen: number[] = [];
    const found = await check(fails, seen).explore({ seed: 5, path: undefined, runs: 100, shrinks: false }, run);
    expect([found.counterexample, found.shrinks]).toEqual([seen.at(-1), 0]);
    expect(seen.findIndex((value) => value >= 37)).toBe(seen.length - 1);
    const again = await check(fails).explore({ seed: 5, path: found.path, runs: 100 }, run);
    expect(again.counterexample).toBe(found.counterexample);
  });

  it("comes back to what was chosen among many that were drawn", async () => {
    const places: number[] = [];
    for (const seed of [1, 2, 3, 4, 5]) {
      const rarely = (value: number) => {
        if (value % 50 === 7) throw new CheckFailure("a.b", { expected: "e", actual: String(value) });
      };
      const found = await check(rarely).explore({ seed, path: undefined, runs: 60 }, run);
      places.push(Number(found.path.split(":")[0]));
      const seen: number[] = [];
      const again = await check(rarely, seen).explore({ seed, path: found.path, runs: 1 }, run);
      expect([seen, again.counterexample]).toEqual([[found.counterexample], found.counterexample]);
    }
    expect(Math.max(...places)).toBeGreaterThan(60); // beyond the number of programs
  });

  it("draws nothing to choose among when an example has failed", async () => {
    let drawn = 0;
    const input = fc.nat(1000).map((value) => {
      drawn += 1;
      return value;
    });
    const first = defineCheck({ ...definition(fails, []), input, examples: [50] });
    await first.explore({ seed: 5, path: undefined, runs: 100, shrinks: false }, run);
    expect(drawn).toBeLessThan(10);
  });

  it("makes a failure smaller for as long as it may, and comes back to what it had by then", async () => {
    let asked = 0;
    const options = { seed: 5, path: undefined, runs: 100, mayShrink: () => (asked += 1) <= 3 };
    const found = await check(fails).explore(options, run);
    expect(found.decisive).toBeInstanceOf(CheckFailure);
    const seen: number[] = [];
    await check(fails, seen).explore({ seed: 5, path: found.path, runs: 100 }, run);
    expect(seen).toEqual([Number((found.decisive as CheckFailure).violation.actual)]);
    expect(found.counterexample).toBe(seen[0]);
  });

  it("leaves out what is drawn once it may not go on, and examples once it may not for their sake", async () => {
    const seen: number[] = [];
    const drawing = defineCheck({ ...definition(() => {}, seen), examples: [1001, 1002] });
    const explored = (mayGoOn: (needed: boolean) => boolean) =>
      drawing.explore({ seed: 5, path: undefined, runs: 20, mayGoOn }, run);
    expect(await explored((needed) => needed)).toMatchObject({ runs: 5, leftOut: 17 });
    expect(seen.slice(0, 2)).toEqual([1001, 1002]);
    expect(await explored(() => false)).toMatchObject({ runs: 1, leftOut: 21 });
  });

  it("goes on where a program was undecided, however long that took: something may be broken there", async () => {
    const judge = (value: number) => {
      if (value === 1001) throw new Inconclusive("no event came");
      fails(value);
    };
    const drawing = defineCheck({ ...definition(judge, []), examples: [1001] });
    const found = await drawing.explore({ seed: 5, path: undefined, runs: 100, mayGoOn: () => false }, run);
    expect(found.decisive).toBeInstanceOf(CheckFailure);
  });

  it("stays with the promise that was broken first while it makes the failure smaller", async () => {
    const slips = (value: number) => {
      const requirement = value >= 500 ? "a.b" : "a.other";
      if (value >= 37) throw new CheckFailure(requirement, { expected: "less", actual: String(value) });
    };
    for (const seed of [5, 6, 7, 8]) {
      const found = await check(slips).explore({ seed, path: undefined, runs: 100 }, run);
      const first = await check(slips).explore({ seed, path: undefined, runs: 100, mayShrink: () => false }, run);
      const broken = [first, found].map(({ decisive }) => (decisive as CheckFailure).requirement);
      expect(broken[1]).toBe(broken[0]);
    }
  });

  it("runs as many programs as asked when all hold", async () => {
    const held = await check(() => {}).explore({ seed: 5, path: undefined, runs: 60 }, run);
    expect([held.runs, held.decisive]).toEqual([60, undefined]);
  });

  it("goes on after an undecided program, and says so at the end", async () => {
    const found = await check((value) => {
      if (value % 2 === 0) throw new Inconclusive("too slow");
    }).explore({ seed: 5, path: undefined, runs: 50 }, run);
    expect([found.runs, found.decisive?.name]).toEqual([50, "Inconclusive"]);
  });

  it("is unsupported when what may be left out came in no program, and not when it came in one", async () => {
    const explored = (isSeen: (value: number) => boolean, end = fails) =>
      check((value) => {
        if (!isSeen(value)) throw new Unseen("bookmarks");
        end(value);
      }).explore({ seed: 5, path: undefined, runs: 50 }, run);
    expect((await explored(() => false)).decisive).toBeInstanceOf(Unsupported);
    const held = await explored(
      (value) => value % 2 === 0,
      () => {},
    );
    expect([held.runs, held.decisive]).toEqual([50, undefined]);
    expect((await explored((value) => value % 2 === 0)).decisive).toBeInstanceOf(CheckFailure);
  });

  it("prefers a failure to an undecided program", async () => {
    const found = await check((value) => {
      if (value % 2 === 0) throw new Inconclusive("too slow");
      fails(value);
    }).explore({ seed: 5, path: undefined, runs: 50 }, run);
    expect(found.decisive).toBeInstanceOf(CheckFailure);
  });

  it("stops at an error of ours, and does not make it small", async () => {
    const found = await check(() => {
      throw new TypeError("ours");
    }).explore({ seed: 5, path: undefined, runs: 50 }, run);
    expect([found.runs, found.decisive?.message]).toEqual([1, "ours"]);
  });

  it("runs a fixed course again for each ten programs above a hundred", async () => {
    const fixed = defineCheck({
      id: "c",
      area: "a",
      property: "p",
      requirements: ["a.b"],
      features: [],
      run: async () => undefined,
    });
    expect([1, 20, 100, 109, 110, 600].map((runs) => fixed.programCount(runs))).toEqual([1, 1, 1, 1, 2, 51]);
    expect((await fixed.explore({ seed: 1, path: undefined, runs: 130 }, run)).runs).toBe(4);
  });

  it("runs once when nothing is random", async () => {
    let count = 0;
    const once = defineCheck({
      id: "c",
      area: "a",
      property: "p",
      requirements: ["a.b"],
      features: [],
      async run() {
        count += 1;
      },
    });
    await once.explore({ seed: 5, path: undefined, runs: 50 }, run);
    expect(count).toBe(1);
  });
});
