import { describe, expect, it } from "vitest";
import { evicted, history, podLife, reading, shown } from "./hand-written.fixture.ts";
import { judgeMessages } from "./messages.ts";
import { judgeEnds, judgeStatus, judgeStatuses } from "./statuses.ts";

describe("statuses of evicted pods", () => {
  it("accepts Failed, Evicted, terminated by the agent", () => {
    expect(judgeStatus("n/a", shown(0))).toBeUndefined();
  });
  it.each([
    { phase: "Succeeded" },
    { reason: "OutOfMemory" },
    { disruptionTarget: undefined },
    { containersRun: true },
    { disruptionTarget: { status: "False", reason: "TerminationByKubelet" } },
    { disruptionTarget: { status: "True", reason: "EvictionByEvictionAPI" } },
  ])("rejects %j", (fields) => {
    expect(judgeStatus("n/a", shown(0, fields))).toBeDefined();
  });
});

describe("ends", () => {
  const running = { phase: "Running", reason: "" };
  const failed = { phase: "Failed", reason: "Evicted" };
  it("accepts that what is evicted stays so", () => {
    const pods = [evicted("n/a", 0, { statuses: [running, failed] }), podLife("n/b", { statuses: [running] })];
    expect(judgeEnds(history({}, [], { pods }))).toEqual({ judged: true, violation: undefined });
  });
  it("rejects a second life, and the eviction of what had ended", () => {
    const judged = (...statuses: { phase: string; reason: string }[]) =>
      judgeEnds(history({}, [], { pods: [evicted("n/a", 0, { statuses })] })).violation;
    expect(judged(running, failed, running)?.actual).toBe("Running");
    expect(judged(running, { phase: "Succeeded", reason: "" }, failed)?.expected).toContain("Succeeded");
  });
});

describe("the statuses and messages of all who were evicted", () => {
  const percent = { evictionHard: { "memory.available": "20%" } };
  const told = (...pods: ReturnType<typeof evicted>[]) => history(percent, [30, 15], { pods });
  const naming = (quantity: string) =>
    evicted("n/b", 12_000, {
      eviction: shown(12_000, {
        message: `The node was low on resource: memory. Threshold quantity: ${quantity}, available: 15. `,
      }),
    });

  it("accepts them when each is lawful, a percentage being of what the looks showed", () => {
    expect(judgeStatuses(told(evicted("n/a", 12_000)))).toEqual({ judged: true, violation: undefined });
    expect(judgeMessages(told(evicted("n/a", 12_000), naming("20")))).toEqual({ judged: true, violation: undefined });
  });

  it("rejects them when one is not", () => {
    const wrong = evicted("n/b", 12_000, { eviction: shown(12_000, { phase: "Succeeded" }) });
    expect(judgeStatuses(told(evicted("n/a", 12_000), wrong)).violation?.expected).toContain("n/b");
    expect(judgeMessages(told(evicted("n/a", 12_000), naming("21"))).violation?.expected).toContain("n/b");
  });

  it("has nothing to judge where nobody was evicted, and takes looks without the signal", () => {
    expect([judgeStatuses(told(podLife("n/a"))).judged, judgeMessages(told(podLife("n/a"))).judged]).toEqual([
      false,
      false,
    ]);
    const blind = { ...told(naming("20")), readings: [{ ...reading(0, 15), signals: {} }, reading(10_000, 15)] };
    expect(judgeMessages(blind).violation).toBeUndefined();
    expect(judgeMessages({ ...blind, pods: [naming("21")] }).violation).toBeDefined();
  });
});

describe("ends, to the letter", () => {
  const failed = { phase: "Failed", reason: "Evicted" };
  const judged = (...statuses: { phase: string; reason: string }[]) =>
    judgeEnds(history({}, [], { pods: [podLife("n/a", { statuses })] }));

  it("rejects what follows at once, another reason, and another phase", () => {
    expect(judged(failed, { phase: "Running", reason: "" }).violation).toBeDefined();
    expect(judged(failed, { phase: "Failed", reason: "Error" }).violation).toBeDefined();
    expect(judged(failed, { phase: "Succeeded", reason: "Evicted" }).violation?.expected).toBe(
      "n/a stays Failed Evicted",
    );
  });

  it("accepts the same again, and has nothing to judge where nobody was evicted", () => {
    expect(judged(failed, failed)).toEqual({ judged: false, violation: undefined });
    expect(judged({ phase: "Running", reason: "" })).toEqual({ judged: false, violation: undefined });
    expect(judged(failed, { phase: "Running", reason: "" }).judged).toBe(true);
  });
});
