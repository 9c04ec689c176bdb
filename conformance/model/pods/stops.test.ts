import { describe, expect, it } from "vitest";
import { container, end, ended, history, init, look, running } from "./hand-written.fixture.ts";
import type { ContainerProgram } from "./program.ts";
import { judgeDeadline, judgeFarewell, judgeGrace, judgeTurns } from "./stops.ts";

describe("grace periods", () => {
  const hooked = { preStopSeconds: 3, stop: { seconds: 2, exitCode: 7 } };
  const judged = (own: Partial<ContainerProgram>, graceSeconds: number, its: ReturnType<typeof end>) =>
    judgeGrace(
      history(
        [look(18, { main: running("a", 0) }), look(70, { main: ended(its) })],
        { containers: [container("main", own)] },
        {
          at: 20,
          graceSeconds,
        },
      ),
    ).violation;
  const said = (words: string) => ({ message: words });

  it("accepts a hook and a farewell in time, and who is killed when the time is over", () => {
    expect(judged(hooked, 30, end("a", 0, 25, 7, said("began,before-stop,told-to-stop,")))).toBeUndefined();
    expect(judged({}, 6, end("a", 0, 26, 137))).toBeUndefined();
    expect(judged(hooked, 4, end("a", 0, 25, 137, said("began,before-stop,")))).toBeUndefined();
  });

  it("rejects too much time, too little, no hook, and another code", () => {
    expect(judged({}, 6, end("a", 0, 45, 137))).toBeDefined();
    expect(judged({}, 6, end("a", 0, 22, 137))).toBeDefined();
    expect(judged(hooked, 30, end("a", 0, 25, 7, said("began,told-to-stop,")))).toBeDefined();
    expect(judged(hooked, 30, end("a", 0, 25, 137, said("began,before-stop,")))).toBeDefined();
    expect(judged({}, 6, end("a", 0, 26, 0))).toBeDefined();
  });

  it("rejects that it runs on", () => {
    const goesOn = [look(18, { main: running("a", 0) }), look(70, { main: running("a", 0) })];
    expect(judgeGrace(history(goesOn, {}, { at: 20, graceSeconds: 5 })).violation?.actual).toBe("it runs");
  });
});

describe("turns", () => {
  const of = { inits: [init("beside", true)] };
  const judged = (sidecar: number, main: number) =>
    judgeTurns(
      history([look(40, { beside: ended(end("b", 0, sidecar)), main: ended(end("a", 1, main)) })], of, {
        at: 20,
        graceSeconds: 15,
      }),
    ).violation;

  it("accepts a sidecar that goes last, or when the time is over", () => {
    expect(judged(26, 25)).toBeUndefined();
    expect(judged(35, 36)).toBeUndefined();
  });
  it("rejects one that goes first", () => expect(judged(22, 25)).toBeDefined());
});

describe("the end of a deleted pod", () => {
  const judged = (at: number, phase: string) =>
    judgeFarewell(history([look(at, { main: ended(end("a", 0, 21)) }, { phase })], {}, { at: 20, graceSeconds: 2 }));

  it("accepts that it is shown in time, and rejects that it is not", () => {
    expect(judged(60, "Failed")).toEqual({ judged: true, violation: undefined });
    expect(judged(60, "Running").violation?.actual).toBe("Running");
    expect(judged(25, "Running").judged).toBe(false);
  });
});

describe("deadlines", () => {
  const judged = (at: number, phase: string, reason: string) =>
    judgeDeadline(history([look(at, {}, { phase, reason })], { deadlineSeconds: 10, graceSeconds: 2 })).violation;

  it("accepts a pod that has failed for it, once it is over", () => {
    expect(judged(8, "Running", "")).toBeUndefined();
    expect(judged(30, "Failed", "DeadlineExceeded")).toBeUndefined();
  });

  it("rejects one that goes on, and one that ends for it too early", () => {
    expect(judged(30, "Running", "")).toBeDefined();
    expect(judged(8, "Failed", "DeadlineExceeded")).toBeDefined();
  });
});
