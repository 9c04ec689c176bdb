import fc from "fast-check";
import { expect, it } from "vitest";
import { Pace, paced, TurnBudget } from "./pace.ts";
import { type Compile, type Compiled, compilePaced, StoredExpressions } from "./stored-expressions.ts";

const none = () => new Map();

/** Expressions of such lengths, of which some do not compile. */
const sourceOf = (terms: number, at: number): string => `${at % 5 === 4 ? "missing" : at}${" + 1".repeat(terms)}`;

const sources = fc.array(fc.integer({ min: 0, max: 4_000 }), { minLength: 1, maxLength: 12 });

const shown = (compiled: readonly Compiled[]): readonly string[] =>
  compiled.map((each) => ("error" in each ? each.error : `${each.source.length} ${each.type.is}`));

const compileAll =
  (lengths: readonly number[]) =>
  (compile: Compile): readonly Compiled[] =>
    lengths.map((terms, at) => compile(sourceOf(terms, at), none));

it("several judgements that ask for the same in turns get the same, which is made once, as at once", () => {
  let turnCountMost = 0;
  fc.assert(
    fc.property(sources, fc.array(fc.integer({ min: 0, max: 2 }), { maxLength: 40 }), (lengths, order) => {
      const stored = new StoredExpressions<object, readonly Compiled[]>();
      const owner = {};
      let madeCount = 0;
      const budget = new TurnBudget();
      // Each has parts of its own before and after, which it remembers by their order.
      const judge = (name: number) => () => {
        const before = paced(
          () => `before ${name}`,
          () => 1_000,
        );
        const compiled = stored.of(owner, (compile) => {
          const all = compileAll(lengths)(compile);
          madeCount++;
          return all;
        });
        const after = paced(
          () => `after ${name}`,
          () => 1_000,
        );
        return { before, compiled, after };
      };
      const paces = [0, 1, 2].map(() => new Pace(budget));
      const results: (ReturnType<ReturnType<typeof judge>> | undefined)[] = [undefined, undefined, undefined];
      const turns = [...order, ...Array.from({ length: 300 }, (_, at) => at % 3)];
      let turnCount = 0;
      for (const name of turns) {
        if (results[name] !== undefined) continue;
        budget.refill();
        turnCount++;
        results[name] = (paces[name] as Pace).turn(judge(name))?.result;
      }
      turnCountMost = Math.max(turnCountMost, turnCount);
      results.forEach((result, name) => {
        expect(result?.before).toBe(`before ${name}`);
        expect(result?.after).toBe(`after ${name}`);
        expect(result?.compiled).toBe(results[0]?.compiled);
      });
      expect(madeCount).toBe(1);
      expect(shown(results[0]?.compiled ?? [])).toEqual(
        shown(
          compileAll(lengths)((...of) => new StoredExpressions<object, Compiled>().of({}, (compile) => compile(...of))),
        ),
      );
    }),
    { numRuns: 60 },
  );
  expect(turnCountMost).toBeGreaterThan(4);
});

it("what is judged once is compiled in as many turns as it takes, each expression once", () => {
  const lengths = Array.from({ length: 20 }, () => 4_000);
  const budget = new TurnBudget();
  const pace = new Pace(budget);
  const seen = new Map<number, Compiled>();
  for (let turnCount = 1; ; turnCount++) {
    budget.refill();
    const made = pace.turn(() =>
      lengths.map((terms, at) => {
        const compiled = compilePaced(sourceOf(terms, at), none);
        expect(seen.get(at) ?? compiled).toBe(compiled);
        seen.set(at, compiled);
        return compiled;
      }),
    );
    if (made === undefined) continue;
    expect(turnCount).toBeGreaterThanOrEqual(6);
    expect(shown(made.result)).toEqual(shown(compileAll(lengths)(compilePaced)));
    return;
  }
});
