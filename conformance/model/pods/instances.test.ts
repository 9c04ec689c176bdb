import { describe, expect, it } from "vitest";
import { container, end, ended, history, look, running } from "./hand-written.fixture.ts";
import { judgeCounts, judgeEnds } from "./instances.ts";
import type { ContainerProgram } from "./program.ts";

describe("the count of instances", () => {
  const first = look(1, { main: running("a", 0) });
  const second = (more: object) =>
    look(5, { main: running("b", 4, { restartCount: 1, lastEnd: end("a", 0, 3, 1), ...more }) });
  const third = (more: object) =>
    look(20, { main: running("c", 19, { restartCount: 2, lastEnd: end("b", 4, 5, 1), ...more }) });

  it("accepts one more each time, and that one says nothing of the one before", () => {
    expect(judgeCounts(history([first, second({}), third({})]))).toEqual({ judged: true, violation: undefined });
    expect(judgeCounts(history([first, second({ lastEnd: undefined }), third({})])).violation).toBeUndefined();
  });

  it("rejects another instance with the same count, the same with another, and two that say nothing", () => {
    expect(judgeCounts(history([first, second({}), third({ restartCount: 1 })])).violation?.actual).toBe("1");
    expect(
      judgeCounts(history([first, look(3, { main: running("a", 0, { restartCount: 1 }) })])).violation,
    ).toBeDefined();
    const silent = [first, second({ lastEnd: undefined }), third({ lastEnd: undefined })];
    expect(judgeCounts(history(silent)).violation?.actual).toContain("1 and 2");
  });
});

describe("how instances end", () => {
  const judged = (
    its: ReturnType<typeof end>,
    own: Partial<ContainerProgram>,
    deleted?: Parameters<typeof history>[2],
  ) => judgeEnds(history([look(9, { main: ended(its) })], { containers: [container("main", own)] }, deleted)).violation;

  it("accepts what it was to do", () => {
    expect(judged(end("a", 0, 3, 4), { runSeconds: 3, exitCode: 4 })).toBeUndefined();
    expect(judged(end("a", 0, 3, 137, { reason: "OOMKilled" }), { runSeconds: 3, isGreedy: true })).toBeUndefined();
    const words = { message: "after-start,began," };
    expect(judged(end("a", 0, 3, 0, words), { runSeconds: 3, hasPostStart: true })).toBeUndefined();
  });

  it("accepts that it was stopped, where somebody had cause to", () => {
    const deleted = { at: 4, graceSeconds: 5 };
    const stop = { seconds: 1, exitCode: 7 };
    expect(judged(end("a", 0, 5, 7, { message: "began,told-to-stop," }), { stop }, deleted)).toBeUndefined();
    expect(judged(end("a", 0, 9, 137), {}, deleted)).toBeUndefined();
    expect(judged(end("a", 0, 9, 137), {})).toBeDefined();
  });

  it("rejects another code, another reason, other words, and an end too early", () => {
    expect(judged(end("a", 0, 3, 1), { runSeconds: 3, exitCode: 4 })).toBeDefined();
    expect(judged(end("a", 0, 3, 137), { runSeconds: 3, isGreedy: true })).toBeDefined();
    expect(judged(end("a", 0, 3, 0, { message: "" }), { runSeconds: 3 })).toBeDefined();
    expect(judged(end("a", 0, 3, 0), { runSeconds: 3, hasPostStart: true })).toBeDefined();
    expect(judged(end("a", 0, 3), { runSeconds: 20 })).toBeDefined();
  });

  it("rejects an end that is told in two ways", () => {
    const looks = [end("a", 0, 3), end("a", 0, 4)].map((its) => look(9, { main: ended(its) }));
    const own = { containers: [container("main", { runSeconds: 3 })] };
    expect(judgeEnds(history(looks, own)).violation?.expected).toContain("has ended as");
    expect(judgeEnds(history(looks.slice(1), own))).toEqual({ judged: true, violation: undefined });
  });
});
