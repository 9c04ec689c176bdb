import { describe, expect, it } from "vitest";
import { awayFrom, end, ended, look, running } from "./hand-written.fixture.ts";
import type { ContainerSighting } from "./history.ts";
import { judgeCountsKept, judgeFoundAgain, lostOf } from "./keeping.ts";

it("what others have written is there, or it is lost", () => {
  const kept = { object: "pod", requirement: "r", written: { a: "True" } };
  expect(lostOf({ ...kept, found: { a: "True", b: "False" } })).toBeUndefined();
  expect(lostOf({ ...kept, found: { a: "False" } })?.actual).toBe("False");
  expect(lostOf({ ...kept, found: {} })).toBeDefined();
});

describe("an agent that comes back", () => {
  const away = (before: ContainerSighting, after: ContainerSighting) => ({
    pod: "pod",
    sightings: [look(9, { main: before }), look(15, { main: after })],
    ...awayFrom(10),
  });

  it("accepts the same instance, and rejects another, an end and another start", () => {
    expect(judgeFoundAgain(away(running("a", 0), running("a", 0))).violation).toBeUndefined();
    expect(judgeFoundAgain(away(running("a", 0), running("b", 12))).violation).toBeDefined();
    expect(judgeFoundAgain(away(running("a", 0), running("a", 12))).violation).toBeDefined();
    expect(judgeFoundAgain(away(running("a", 0), ended(end("a", 0, 11)))).violation).toBeDefined();
    expect(judgeFoundAgain(away(running("a", 8), running("b", 12))).judged).toBe(false);
  });

  it("accepts counts that stay or grow, and rejects those that do not", () => {
    const counted = (restartCount: number) => running("a", 0, { restartCount });
    expect(judgeCountsKept(away(counted(2), counted(2)))).toEqual({ judged: true, violation: undefined });
    expect(judgeCountsKept(away(counted(2), counted(3))).violation).toBeUndefined();
    expect(judgeCountsKept(away(counted(2), counted(0))).violation).toBeDefined();
    expect(judgeCountsKept(away(counted(0), counted(0))).judged).toBe(false);
  });
});
