import { expect, it } from "vitest";
import { ReadAnswers } from "./read-answers.ts";

it("gives the same document for the same text from the same place, and another for any other", () => {
  const answers = new ReadAnswers();
  const first = answers.read("a", '{"n":1}');
  expect(answers.read("a", '{"n":1}')).toBe(first);
  const elsewhere = answers.read("b", '{"n":1}');
  expect(elsewhere).toEqual(first);
  expect(elsewhere).not.toBe(first);
  expect(answers.read("a", '{"n":2}')).toEqual({ n: 2 });
  const again = answers.read("a", '{"n":1}');
  expect(again).toEqual(first);
  expect(again).not.toBe(first);
  expect(answers.read("a", "no JSON")).toBeUndefined();
});

it("remembers few places, and nothing that is long", () => {
  const answers = new ReadAnswers();
  const first = answers.read("place 0", "[]");
  for (let place = 1; place <= 8; place++) answers.read(`place ${place}`, "[]");
  expect(answers.read("place 0", "[]")).not.toBe(first);
  const long = JSON.stringify(["x".repeat(300_000)]);
  expect(answers.read("long", long)).not.toBe(answers.read("long", long));
});
