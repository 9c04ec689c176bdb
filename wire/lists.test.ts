import { expect, it } from "vitest";
import { append, largest } from "./lists.ts";

it("takes lists that no call could be given", () => {
  const list = [0];
  const many = Array.from({ length: 1_000_000 }, (_, index) => index);
  append(list, many);
  expect([list.length, list.at(-1), largest(many, 0), largest([], 7), largest([-3], -5)]).toEqual([
    1_000_001, 999_999, 999_999, 7, -3,
  ]);
});
