import { expect, it } from "vitest";
import { end, ended, history, look, running, waiting } from "./hand-written.fixture.ts";
import { judgeEach, neighbours, runsOf } from "./history.ts";

it("judges each until one is wrong", () => {
  const odd = (number: number) => (number % 2 === 1 ? { expected: "even", actual: String(number) } : undefined);
  expect(judgeEach([2, 4], odd)).toEqual({ judged: true, violation: undefined });
  expect(judgeEach([2, 3, 5], odd).violation?.actual).toBe("3");
  expect(judgeEach([], odd).judged).toBe(false);
});

it("pairs what comes one after another", () => {
  expect([...neighbours([1, 2, 3])]).toEqual([
    [1, 2],
    [2, 3],
  ]);
  expect([...neighbours([1])]).toEqual([]);
});

it("puts instances together from all that was told of them", () => {
  const first = end("a", 0, 3, 1);
  const backOff = waiting({ id: "a", restartCount: 0, lastEnd: first });
  const second = running("b", 9, { restartCount: 1, lastEnd: first });
  const told = runsOf(
    history([look(1, { main: running("a", 0) }), look(5, { main: backOff }), look(10, { main: second })]),
  );
  expect(told.get("main")?.map(({ id, count, isLast }) => [id, count, isLast])).toEqual([
    ["a", 0, false],
    ["b", 1, true],
  ]);
  expect(told.get("main")?.[0]?.end?.exitCode).toBe(1);
});

it("passes over what never began, and what was lost", () => {
  const never = { ...end("a", 0, 3), startedMillis: 0 };
  const lost = running("b", 9, { restartCount: 1, lastEnd: { ...never, id: "" } });
  const told = runsOf(history([look(5, { main: ended(never) }), look(10, { main: lost })]));
  expect(told.get("main")?.map(({ id }) => id)).toEqual(["b"]);
});
