import { expect, it } from "vitest";
import { inTurns } from "../../expressions/pace.ts";
import type { TypedList, TypedMap } from "./typed.ts";
import { joinErrors, typedErrors } from "./validate.ts";

const elements = { is: "map", at: () => undefined } as unknown as TypedMap;
const list = {
  is: "list",
  relation: "associative",
  stepOf: () => 'k:{"name":""}',
  items: elements,
  keys: ["name"],
  defaults: [""],
};
const typed = { is: "map", at: () => list as unknown as TypedList } as unknown as TypedMap;

const duplicates = (count: number): readonly string[] =>
  typedErrors(typed, { containers: Array.from({ length: count }, () => ({})) });

it("tells each element that has another's key", () => {
  expect(duplicates(3)).toHaveLength(2);
});

it("tells no more than 1,000,000 characters and one error of a list that is all duplicates", () => {
  const told = joinErrors(duplicates(250_000)).length;
  expect(told).toBeGreaterThan(1_000_000);
  expect(told).toBeLessThan(1_100_000);
});

it("looks at the elements of a long list in turns, and finds the same as at once", () => {
  const inner = { is: "map", at: (key: string) => (key === "bad" ? undefined : { is: "scalar", scalar: "string" }) };
  const many = {
    ...list,
    relation: "map",
    items: inner,
    stepOf: ({ name }: { name: string }) => `k:{"name":"${name}"}`,
  };
  const type = { is: "map", at: () => many as unknown as TypedList } as unknown as TypedMap;
  const containers = Array.from({ length: 40_000 }, (_, at) => ({
    name: `n${at}`,
    other: at % 10_000 === 0 ? 1 : "x",
    ...(at === 20_000 && { bad: 1 }),
  }));
  for (const config of [{ containers }, { containers: [...containers, { name: "n1" }] }]) {
    const turns = inTurns(() => typedErrors(type, config));
    let turnCount = 1;
    let step = turns.next();
    for (; step.done !== true; step = turns.next()) turnCount++;
    expect(turnCount).toBeGreaterThanOrEqual(config.containers === containers ? 3 : 1);
    expect(step.value).toEqual(typedErrors(type, config));
    expect(step.value).toHaveLength(config.containers === containers ? 5 : 6);
  }
});
