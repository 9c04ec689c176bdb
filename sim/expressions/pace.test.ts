import fc from "fast-check";
import { expect, it } from "vitest";
import { callCostMax, compile, type Expression } from "./expression.ts";
import { Pace, paced, TurnBudget } from "./pace.ts";

/** What costs something itself, and asks for others on the way. */
interface Work {
  readonly cost: number;
  readonly asks: readonly Work[];
}

const { work } = fc.letrec<{ work: Work }>((tie) => ({
  work: fc.record({
    cost: fc.integer({ min: 0, max: 250_000 }),
    asks: fc.oneof({ depthSize: "small" }, fc.constant([]), fc.array(tie("work"), { maxLength: 3 })),
  }),
}));

const costOf = ({ cost }: { readonly cost: number }): number => cost;

it("a judgement in several turns comes to the same as one at once, with the same left in its pool", () => {
  let turnCountMost = 0;
  fc.assert(
    fc.property(fc.array(work, { maxLength: 12 }), fc.integer({ min: 0, max: 3_000_000 }), (works, poolCost) => {
      let done = 0;
      const judge = (): unknown => {
        const pool = { left: poolCost };
        const carriedOut = ({ cost, asks }: Work): { readonly cost: number; readonly said: unknown } =>
          paced(
            () => {
              const said = asks.map(carriedOut);
              if (asks.length === 0) done += cost;
              pool.left -= cost;
              if (pool.left < 0) throw new Error(`spent in ${JSON.stringify(said)}`);
              return { cost, said: [cost, pool.left, said] };
            },
            costOf,
            pool,
          );
        return works.map(carriedOut);
      };
      const settled = (how: () => unknown): unknown => {
        try {
          return how();
        } catch (error) {
          return String(error);
        }
      };
      const atOnce = settled(judge);
      const budget = new TurnBudget();
      const pace = new Pace(budget);
      const inTurns = settled(() => {
        for (let turnCount = 1; ; turnCount++) {
          turnCountMost = Math.max(turnCountMost, turnCount);
          budget.refill();
          done = 0;
          const made = pace.turn(judge);
          // What asks for others ends after them, and is counted then.
          expect(done).toBeLessThanOrEqual(200_000 + 250_000);
          if (made !== undefined) return made.result;
        }
      });
      expect(inTurns).toEqual(atOnce);
    }),
    { seed: 1, numRuns: 500 },
  );
  expect(turnCountMost).toBeGreaterThan(3);
});

it("expressions are evaluated in turns, each once", () => {
  const list = Array.from({ length: 150 }, (_, at) => BigInt(at));
  const [costly, wrong] = ["[L].all(a, [L].all(b, a + b >= 0))", "[L][1000] > 0"].map((source) =>
    compile(source.replaceAll("[L]", `[${list.join()}]`), new Map()),
  ) as [Expression, Expression];
  const single = costly.evaluate({});
  expect([single.cost > 50_000, single.cost < callCostMax]).toEqual([true, true]);
  const budget = new TurnBudget();
  const pace = new Pace(budget);
  let turnCount = 1;
  const judge = () => Array.from({ length: 20 }, (_, at) => (at % 5 === 4 ? wrong : costly).evaluate({}));
  let made = pace.turn(judge);
  for (; made === undefined; turnCount++) {
    budget.refill();
    made = pace.turn(judge);
  }
  expect(made.result).toEqual(judge());
  // A turn ends with the evaluation that goes beyond its budget.
  let [wanted, left] = [1, 200_000];
  for (const { cost } of judge()) {
    if (left <= 0) [wanted, left] = [wanted + 1, 200_000];
    left -= cost + 30;
  }
  expect(turnCount).toBe(wanted);
  expect(wanted).toBeGreaterThan(16 / 3);
});
