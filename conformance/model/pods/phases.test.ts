import { describe, expect, it } from "vitest";
import { container, end, ended, history, init, look, running, since, waiting } from "./hand-written.fixture.ts";
import { gateType, judgeConditions, judgeGate, judgePhase, judgeTimes } from "./phases.ts";

const well = ended(end("a", 0, 1));
const badly = ended(end("a", 0, 1, 1));
const runs = running("a", 0);

describe("phases", () => {
  it("accepts what the containers say", () => {
    expect(judgePhase(history([look(1, { main: waiting() }, { phase: "Pending" })])).violation).toBeUndefined();
    const ends = [look(1, { main: runs }), look(3, { main: well }, { phase: "Succeeded" })];
    expect(judgePhase(history(ends, { policy: "Never" }))).toEqual({ judged: true, violation: undefined });
    const failed = look(3, { main: badly }, { phase: "Failed" });
    expect(judgePhase(history([failed], { policy: "Never" })).violation).toBeUndefined();
    expect(judgePhase(history([failed], {}, { at: 1, graceSeconds: 1 })).violation).toBeUndefined();
  });

  it.each([
    [look(1, { main: runs }, { phase: "Pending" }), {}],
    [look(1, { main: waiting() }), {}],
    [look(1, { main: well }, { phase: "Succeeded" }), {}],
    [look(1, { main: badly }, { phase: "Succeeded" }), { policy: "Never" }],
    [look(1, { main: well }, { phase: "Failed" }), { policy: "Never" }],
    [look(1, { main: badly }, { phase: "Failed" }), { policy: "OnFailure" }],
    [look(1, { main: badly, other: runs }, { phase: "Failed" }), { policy: "Never" }],
    [look(1, { first: running("i", 0), main: runs }), { inits: [init("first")] }],
  ] as const)("rejects another: %#", (sighting, of) => {
    expect(judgePhase(history([sighting], of)).violation).toBeDefined();
  });

  it("rejects that an end is taken back, and that a pod goes on whose containers have ended", () => {
    const back = [look(1, { main: well }, { phase: "Succeeded" }), look(2, { main: well }, { phase: "Failed" })];
    expect(judgePhase(history(back, { policy: "Never" })).violation).toBeDefined();
    expect(judgePhase(history([look(40, { main: well })], { policy: "Never" })).violation?.actual).toBe("Running");
    expect(judgePhase(history([look(4, { main: well })], { policy: "Never" })).violation).toBeUndefined();
  });
});

describe("conditions", () => {
  const unready = { ContainersReady: "False", Ready: "False" };
  const judged = (...asked: Parameters<typeof look>) => judgeConditions(history([look(...asked)])).violation;

  it("accepts what the containers say", () => {
    expect(judged(1, { main: runs })).toBeUndefined();
    expect(judged(1, { main: badly }, { conditions: unready })).toBeUndefined();
    const gated = look(1, { main: runs }, { conditions: { Ready: "False" } });
    expect(judgeConditions(history([gated], { gate: { atSeconds: 9 } })).violation).toBeUndefined();
    const leaving = look(9, { main: runs }, { conditions: unready });
    expect(judgeConditions(history([leaving], { deadlineSeconds: 8 })).violation).toBeUndefined();
  });

  it("rejects another", () => {
    expect(judged(1, { main: badly })).toBeDefined();
    expect(judged(1, { main: runs }, { conditions: unready })).toBeDefined();
    expect(judged(1, { main: runs }, { conditions: { Ready: "False" } })).toBeDefined();
    expect(judged(1, { main: ended(end("a", 0, 1), { ready: true }) })).toBeDefined();
    expect(judged(1, { main: runs }, { conditions: { Initialized: "False" } })).toBeDefined();
    expect(judged(1, { main: well }, { phase: "Succeeded", conditions: { ContainersReady: "False" } })).toBeDefined();
    const early = { first: running("i", 0), main: waiting() };
    expect(
      judgeConditions(history([look(1, early, { conditions: unready })], { inits: [init("first")] })).violation,
    ).toBeDefined();
  });

  it("rejects a pod that is ready without its gate", () => {
    expect(judgeConditions(history([look(1, { main: runs })], { gate: { atSeconds: 9 } })).violation).toBeDefined();
  });
});

describe("gates", () => {
  const open = { [gateType]: "True" };
  const gate = { gate: { atSeconds: 2 } };
  const looks = (ready: string) => [
    look(1, { main: runs }, { conditions: { Ready: "False" } }),
    look(3, { main: runs }, { conditions: { ...open, Ready: "False" } }),
    look(20, { main: runs }, { conditions: { ...open, Ready: ready } }),
  ];

  it("accepts a pod that is ready in time, and one whose gate nobody opens", () => {
    expect(judgeGate(history(looks("True"), gate))).toEqual({ judged: true, violation: undefined });
    expect(judgeGate(history(looks("False"))).judged).toBe(false);
  });

  it("rejects one that is not", () => expect(judgeGate(history(looks("False"), gate)).violation).toBeDefined());
});

describe("times of conditions", () => {
  const before = look(30, { main: runs });
  const turned = look(31, { main: runs }, { conditions: { Ready: "False", ContainersReady: "False" } });
  const after = since(since(turned, "Ready", 31), "ContainersReady", 31);

  it("accepts that they stay with the status, and change with it", () => {
    expect(judgeTimes(history([before, look(31, { main: runs })])).violation).toBeUndefined();
    expect(judgeTimes(history([before, after])).violation).toBeUndefined();
    const silent = { ...after, conditions: after.conditions.map((each) => ({ ...each, sinceMillis: undefined })) };
    expect(judgeTimes(history([before, silent])).violation).toBeUndefined();
    const probes = { readiness: { ...quick, goodUntil: undefined } };
    const twice = [before, since(look(31, { main: runs }), "Ready", 31)];
    expect(judgeTimes(history(twice, { containers: [container("main", { probes })] })).violation).toBeUndefined();
  });

  it("rejects another time of the same status, the old time of another, and one to come", () => {
    expect(judgeTimes(history([before, since(look(31, { main: runs }), "PodScheduled", 31)])).violation).toBeDefined();
    expect(judgeTimes(history([before, since(look(31, { main: runs }), "Ready", 31)])).violation).toBeDefined();
    expect(judgeTimes(history([before, turned])).violation).toBeDefined();
    expect(judgeTimes(history([before, since(after, "Ready", 60)])).violation).toBeDefined();
  });
});

const quick = { periodSeconds: 1, initialDelaySeconds: 0, successThreshold: 1, failureThreshold: 1, goodFrom: 0 };
