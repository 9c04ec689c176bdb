import { expect, it } from "vitest";
import { inTurns } from "../expressions/pace.ts";
import { isDeeperThan } from "./nesting.ts";

const nested = (depth: number): unknown => {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value };
  return value;
};

it("tells how deep lists and objects stand in one another, of any depth", () => {
  expect([3, 4, 5].map((max) => isDeeperThan(max, nested(4)))).toEqual([true, false, false]);
  expect(isDeeperThan(100, nested(200_000))).toBe(true);
  expect(isDeeperThan(1, "text")).toBe(false);
});

it("is found out in turns where a judgement asks, however wide a value is", () => {
  const wide = { list: Array.from({ length: 60_000 }, (_, at) => ({ [`k${at}`]: { deep: [] } })) };
  const turns = inTurns(() => isDeeperThan(6, wide));
  let count = 0;
  let step = turns.next();
  for (; step.done !== true; step = turns.next()) count++;
  expect(step.value).toBe(false);
  expect(count).toBeGreaterThanOrEqual(3);
});
