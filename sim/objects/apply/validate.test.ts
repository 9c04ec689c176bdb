import { expect, it } from "vitest";
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
