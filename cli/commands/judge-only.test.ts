import { expect, it } from "vitest";
import { resultOf } from "./judge-only.ts";

const recorded = { requirement: "a.b", expected: "x", actual: "y" };
const failed = (actual: string) => ({
  result: "failed" as const,
  requirement: "a.b",
  violation: { expected: "x", actual },
});

it("says whether a history is judged as it was", () => {
  expect(resultOf(recorded, failed("y"))).toMatchObject({
    result: "same",
    explanation: expect.stringContaining("a.b"),
  });
  expect(resultOf(recorded, failed("z"))).toMatchObject({ result: "other" });
  expect(resultOf(recorded, { result: "lawful" })).toMatchObject({ result: "lawful" });
  expect(resultOf(recorded, { result: "unknown", why: "it was cut" })).toEqual({
    result: "unknown",
    explanation: "The history cannot be judged again: it was cut.",
  });
});
