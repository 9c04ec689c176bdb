import { describe, expect, it } from "vitest";
import { evicted, history, podLife } from "./hand-written.fixture.ts";
import { isCritical, judgeEach, victimsOf } from "./history.ts";

describe("judging each", () => {
  const odd = (item: number) => (item % 2 === 0 ? undefined : { expected: "even", actual: String(item) });

  it("accepts what is all lawful, and has judged when there was any", () => {
    expect(judgeEach([2, 4], odd)).toEqual({ judged: true, violation: undefined });
    expect(judgeEach([], odd)).toEqual({ judged: false, violation: undefined });
  });

  it("rejects the first that is not", () => {
    expect(judgeEach([2, 3, 5], odd).violation?.actual).toBe("3");
    expect(judgeEach([1], odd).judged).toBe(true);
  });
});

it("knows victims by their evictions, and critical pods by what they are", () => {
  const pods = [podLife("n/a"), evicted("n/b", 2000)];
  expect(victimsOf(history({}, [], { pods })).map(({ name }) => name)).toEqual(["n/b"]);
  const critical = [podLife("a", { static: true }), podLife("b", { priority: 2_000_000_000 })];
  expect([...critical, podLife("c", { priority: 1_999_999_999 })].map(isCritical)).toEqual([true, true, false]);
});
