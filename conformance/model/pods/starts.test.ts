import { describe, expect, it } from "vitest";
import { container, end, ended, history, init, look, running, waiting } from "./hand-written.fixture.ts";
import type { ContainerSighting } from "./history.ts";
import type { PodProgram } from "./program.ts";
import { judgeBackOff, judgeOrder, judgePolicy, judgeRunning } from "./starts.ts";

describe("the order of starts", () => {
  const inits = [init("first"), init("beside", true)];
  const judged = (containers: Readonly<Record<string, ContainerSighting>>) =>
    judgeOrder(history([look(2, containers)], { inits })).violation;

  it("accepts who waits, and who begins when all before have ended well or started", () => {
    expect(judged({ first: running("1", 1), beside: waiting(), main: waiting() })).toBeUndefined();
    const done = { first: ended(end("1", 0, 1)), beside: running("2", 1) };
    expect(judged({ ...done, main: running("3", 2) })).toBeUndefined();
  });

  it("rejects who begins beside an init container, after one that failed, and without the sidecar", () => {
    expect(judged({ first: running("1", 1), beside: waiting(), main: running("3", 1) })).toBeDefined();
    expect(judged({ first: ended(end("1", 0, 1, 2)), beside: running("2", 1), main: waiting() })).toBeDefined();
    expect(judged({ first: ended(end("1", 0, 1)), beside: waiting(), main: running("3", 2) })).toBeDefined();
  });
});

/** A container that ended once or more and was started again each time. */
function again(ends: readonly (readonly [from: number, to: number, exitCode: number])[], last: number) {
  const looks = ends.map(([from, to, code], at) => {
    const before = ends[at - 1];
    const lastEnd = before === undefined ? undefined : end(String(at - 1), before[0], before[1], before[2]);
    return look(to + 1, { main: ended(end(String(at), from, to, code), { restartCount: at, lastEnd }) });
  });
  const [from, to, code] = ends.at(-1) as (typeof ends)[number];
  const count = ends.length;
  const lastEnd = end(String(count - 1), from, to, code);
  return [...looks, look(last + 1, { main: running(String(count), last, { restartCount: count, lastEnd }) })];
}

describe("who is started again", () => {
  const judged = (exitCode: number, of: Partial<PodProgram>) =>
    judgePolicy(history(again([[0, 2, exitCode]], 3), of)).violation;

  it("accepts all with Always, and failures with OnFailure", () => {
    expect(judged(0, { policy: "Always" })).toBeUndefined();
    expect(judged(1, { policy: "OnFailure" })).toBeUndefined();
  });

  it("rejects all with Never, and good ends with OnFailure unless probes may have stopped it", () => {
    expect(judged(1, { policy: "Never" })).toBeDefined();
    expect(judged(0, { policy: "OnFailure" })).toBeDefined();
    const liveness = { ...probe, failureThreshold: 1 };
    expect(
      judged(0, { policy: "OnFailure", containers: [container("main", { probes: { liveness } })] }),
    ).toBeUndefined();
  });
});

const probe = {
  periodSeconds: 2,
  initialDelaySeconds: 0,
  successThreshold: 1,
  failureThreshold: 3,
  goodFrom: 0,
  goodUntil: undefined,
};

describe("waits", () => {
  const judged = (second: number, third: number) =>
    judgeBackOff(
      history(
        again(
          [
            [0, 1, 1],
            [1, 2, 1],
            [second, second + 1, 1],
          ],
          third,
        ),
      ),
    );

  it("accepts that they double, the first restart being at once", () => {
    expect(judged(12, 33)).toEqual({ judged: true, violation: undefined });
    expect(judgeBackOff(history(again([[0, 1, 1]], 1))).judged).toBe(false);
  });

  it("rejects one that is too short, at the second and at the third", () => {
    expect(judged(10, 40).violation?.actual).toContain("8 s");
    expect(judged(12, 25).violation?.expected).toContain("20 s");
  });
});

describe("what is to run", () => {
  it("accepts who is started at once, and again in time", () => {
    expect(
      judgeRunning(history([look(1, { main: waiting() }), look(3, { main: running("0", 2) })])).violation,
    ).toBeUndefined();
    expect(judgeRunning(history(again([[0, 1, 1]], 2))).violation).toBeUndefined();
  });

  it("rejects who is never started, who is late, and who is not started again", () => {
    const never = [look(1, { main: waiting() }), look(20, { main: waiting() })];
    expect(judgeRunning(history(never)).violation?.actual).toBe("it never was");
    expect(judgeRunning(history([look(20, { main: running("0", 18) })])).violation).toBeDefined();
    const left = [look(2, { main: ended(end("0", 0, 1, 1)) }), look(60, { main: ended(end("0", 0, 1, 1)) })];
    expect(judgeRunning(history(left)).violation?.actual).toBe("it was not");
  });

  it("accepts that nothing is started again once the pod is deleted, or beside its deadline", () => {
    const left = [look(2, { main: ended(end("0", 0, 1, 1)) }), look(60, { main: ended(end("0", 0, 1, 1)) })];
    expect(judgeRunning(history(left, {}, { at: 3, graceSeconds: 1 })).violation).toBeUndefined();
    expect(judgeRunning(history(left, { deadlineSeconds: 5 })).violation).toBeUndefined();
  });
});
