import { describe, expect, it } from "vitest";
import {
  judgeActs,
  judgeFreshFigures,
  judgeGracePeriod,
  judgeNeed,
  judgeOneALook,
  judgeRanking,
  judgeSpared,
  judgeTimeToEnd,
  underHard,
  withinMinimumReclaim,
} from "./decisions.ts";
import { evicted, history, memory, podLife, reading } from "./hand-written.ts";

const hard = { evictionHard: { "memory.available": "20" } };
const soft = {
  evictionSoft: { "memory.available": "20" },
  evictionSoftGracePeriod: { "memory.available": "20s" },
  evictionMaxPodGracePeriod: 5,
};

describe("need", () => {
  it("accepts an eviction strictly below the threshold", () => {
    expect(judgeNeed(history(hard, [30, 19], { pods: [evicted("n/a", 12_000)] }))).toEqual({
      judged: true,
      violation: undefined,
    });
  });
  it("rejects one at exactly the threshold", () => {
    const { violation } = judgeNeed(history(hard, [30, 20], { pods: [evicted("n/a", 12_000)] }));
    expect(violation?.expected).toBe("n/a is evicted below a threshold, or within its minimum reclaim");
    expect(violation?.actual).toContain("memory.available 20 of 100");
  });
  it("rejects one without any threshold, and one before any look", () => {
    expect(judgeNeed(history({}, [0, 0], { pods: [evicted("n/a", 12_000)] })).violation).toBeDefined();
    expect(judgeNeed(history(hard, [], { pods: [evicted("n/a", 12_000)] })).violation).toBeDefined();
  });
  it("accepts one within the minimum reclaim of a threshold that drove, and rejects one beyond it", () => {
    const settings = { ...hard, evictionMinimumReclaim: { "memory.available": "10" } };
    const second = [evicted("n/a", 2000), evicted("n/b", 12_000)];
    expect(judgeNeed(history(settings, [15, 29], { pods: second })).violation).toBeUndefined();
    expect(judgeNeed(history(settings, [15, 30], { pods: second })).violation).toBeDefined();
    expect(judgeNeed(history(settings, [29, 29], { pods: second })).violation).toBeDefined();
  });
  it("has nothing to judge where nobody was evicted", () => {
    expect(judgeNeed(history(hard, [15], { pods: [podLife("n/a")] })).judged).toBe(false);
  });
});

describe("grace periods of thresholds", () => {
  it("accept an eviction when the time is over to the second", () => {
    expect(judgeGracePeriod(history(soft, [15, 15, 15], { pods: [evicted("n/a", 22_000)] })).violation).toBeUndefined();
  });
  it("reject one before, and one after a look without pressure", () => {
    expect(judgeGracePeriod(history(soft, [15, 15, 15], { pods: [evicted("n/a", 12_000)] })).violation).toBeDefined();
    expect(judgeGracePeriod(history(soft, [15, 20, 15], { pods: [evicted("n/a", 22_000)] })).violation).toBeDefined();
  });
});

describe("figures", () => {
  it("reject an eviction by the figures of the look before", () => {
    const again = { ...reading(10_000, 15), takenMillis: 0 };
    const old = history(hard, [], { readings: [reading(0, 15), again], pods: [evicted("n/a", 12_000)] });
    expect(judgeFreshFigures(old).violation).toBeDefined();
    const fresh = history(hard, [15, 15], { pods: [evicted("n/a", 12_000)] });
    expect(judgeFreshFigures(fresh).violation).toBeUndefined();
  });
});

describe("the time to end", () => {
  const graceSeconds = 30;
  it.each([
    [27_000, undefined],
    [28_000, undefined],
    [29_000, expect.anything()],
  ])("of a soft eviction is five seconds here, and three to be shown: at %i ms", (seenMillis, violation) => {
    const pods = [evicted("n/a", seenMillis, { graceSeconds })];
    expect(judgeTimeToEnd(history(soft, [15, 15, 15], { pods })).violation).toEqual(violation);
  });
  it("is the pod's own when the configuration says so", () => {
    const pods = [evicted("n/a", 50_000, { graceSeconds })];
    const settings = { ...soft, evictionMaxPodGracePeriod: -1 };
    expect(judgeTimeToEnd(history(settings, [15, 15, 15], { pods })).violation).toBeUndefined();
    expect(
      judgeTimeToEnd(history(hard, [15], { pods: [evicted("n/a", 20_000, { graceSeconds })] })).violation,
    ).toBeDefined();
  });
});

describe("critical pods", () => {
  it("rejects the eviction of a static pod and of a system's", () => {
    const judge = (fields: { priority?: number; static?: boolean }) =>
      judgeSpared(history(hard, [15], { pods: [evicted("n/a", 2000, fields)] })).violation;
    expect(judge({ static: true })?.expected).toContain("static");
    expect(judge({ priority: 2_000_000_000 })?.expected).toContain("priority 2000000000");
    expect(judge({ priority: 1_999_999_999 })).toBeUndefined();
  });
});

describe("one pod a look", () => {
  it("accepts two at two looks and rejects two at one", () => {
    const judge = (seconds: readonly number[]) =>
      judgeOneALook(history(hard, [15, 15], { pods: seconds.map((at, index) => evicted(`n/p${index}`, at * 1000)) }))
        .violation;
    expect(judge([2, 12])).toBeUndefined();
    expect(judge([2, 3])).toBeDefined();
    expect(judge([12, 12])).toBeDefined();
  });
  it("takes a look for each where the times leave it open", () => {
    // The first may have been decided at either look, the second at the later alone.
    const pods = [evicted("n/a", 11_500, { lastAliveMillis: 2000 }), evicted("n/b", 12_000)];
    expect(judgeOneALook(history(hard, [15, 15], { pods })).violation).toBeUndefined();
  });
});

describe("ranking", () => {
  const judge = (victim: string, usages: Readonly<Record<string, number>>, priorities: Record<string, number> = {}) => {
    const used = Object.fromEntries(Object.entries(usages).map(([name, bytes]) => [name, memory(bytes)]));
    const pods = ["n/a", "n/b"].map((name) => {
      const fields = { priority: priorities[name] ?? 0, requests: { memoryBytes: 10, diskBytes: 0 } };
      return name === victim ? evicted(name, 2000, fields) : podLife(name, fields);
    });
    return judgeRanking(history(hard, [], { readings: [reading(0, 15, used)], pods })).violation;
  };
  it("puts usage above the request before priority, and priority before the excess", () => {
    expect(judge("n/a", { "n/a": 11, "n/b": 10 }, { "n/a": 100 })).toBeUndefined();
    expect(judge("n/b", { "n/a": 11, "n/b": 10 }, { "n/a": 100 })).toBeDefined();
    expect(judge("n/a", { "n/a": 11, "n/b": 50 }, { "n/b": 1 })).toBeUndefined();
    expect(judge("n/b", { "n/a": 11, "n/b": 50 }, { "n/b": 1 })).toBeDefined();
    expect(judge("n/b", { "n/a": 11, "n/b": 50 })).toBeUndefined();
    expect(judge("n/a", { "n/a": 11, "n/b": 50 })).toBeDefined();
  });
  it("takes either of two that are alike, and first those without figures", () => {
    expect(judge("n/a", { "n/a": 11, "n/b": 11 })).toBeUndefined();
    expect(judge("n/b", { "n/a": 11, "n/b": 11 })).toBeUndefined();
    expect(judge("n/a", { "n/b": 50 }, { "n/a": 100 })).toBeUndefined();
    expect(judge("n/b", { "n/b": 50 }, { "n/a": 100 })).toBeDefined();
  });
  it("remembers who is gone: the second in the order goes at the second look", () => {
    const used = { "n/a": memory(50), "n/b": memory(20) };
    const readings = [reading(0, 15, used), reading(10_000, 15, used)];
    const inOrder = [evicted("n/a", 2000), evicted("n/b", 12_000)];
    const turned = [evicted("n/b", 2000), evicted("n/a", 12_000)];
    expect(judgeRanking(history(hard, [], { readings, pods: inOrder })).violation).toBeUndefined();
    expect(judgeRanking(history(hard, [], { readings, pods: turned })).violation).toBeDefined();
  });
});

describe("acting", () => {
  const waiting = [podLife("n/a")];
  it("rejects pressure that goes on while nobody goes", () => {
    expect(judgeActs(history(hard, [30, 15, 15], { pods: waiting }), underHard).violation?.actual).toContain(
      "n/a runs",
    );
  });
  it("accepts an eviction, an end of the pressure, and nobody to evict", () => {
    const pods = [...waiting, evicted("n/b", 12_000), evicted("n/c", 22_000)];
    expect(judgeActs(history(hard, [30, 15, 15], { pods }), underHard).violation).toBeUndefined();
    expect(judgeActs(history(hard, [30, 15], { pods: waiting }), underHard).judged).toBe(false);
    const critical = [podLife("n/a", { static: true })];
    expect(judgeActs(history(hard, [30, 15, 15], { pods: critical }), underHard).judged).toBe(false);
  });
  it("rejects one who stops above the threshold and below its minimum reclaim", () => {
    const settings = { ...hard, evictionMinimumReclaim: { "memory.available": "10" } };
    const pods = [...waiting, evicted("n/b", 2000)];
    const stopped = history(settings, [15, 25, 25], { pods });
    expect(judgeActs(stopped, withinMinimumReclaim).violation).toBeDefined();
    expect(judgeActs(stopped, underHard).violation).toBeUndefined();
    expect(judgeActs(history(settings, [15, 30, 30], { pods }), withinMinimumReclaim).judged).toBe(false);
  });
});
