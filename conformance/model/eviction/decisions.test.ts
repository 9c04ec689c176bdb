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
  underSoft,
  withinMinimumReclaim,
} from "./decisions.ts";
import { evicted, history, memory, podLife, reading, shown } from "./hand-written.fixture.ts";

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

describe("the looks that may have decided", () => {
  it("are those before it was shown, and within the time that this takes", () => {
    const judge = (seenMillis: number) => judgeNeed(history(hard, [30, 15], { pods: [evicted("n/a", seenMillis)] }));
    expect(judge(10_000).violation).toBeDefined(); // the look of that moment came too late for it
    expect(judge(10_001).violation).toBeUndefined();
    expect(judge(14_000).violation).toBeUndefined();
    expect(judge(14_001).violation?.actual).toContain("no look before it");
  });
});

describe("an event that tells of an eviction", () => {
  const told = { afterMillis: 9500, byMillis: 10_500 };
  const judge = (available: readonly number[], seenMillis = 12_000) =>
    judgeNeed(
      history(hard, available, {
        pods: [evicted("n/a", seenMillis, { graceSeconds: 60, eviction: shown(seenMillis, { told }) })],
      }),
    ).violation;
  it("leaves the looks just before it alone, however long the pod takes to end", () => {
    expect(judge([30, 15, 30])).toBeUndefined();
    expect(judge([15, 30, 15], 40_000)).toBeDefined();
    expect(judge([15, 30, 15])).toBeDefined();
  });
  it("came late after the last look where none was just before it", () => {
    const late = { told: { afterMillis: 14_000, byMillis: 15_000 } };
    const judgeLate = (available: readonly number[]) =>
      judgeNeed(history(hard, available, { pods: [evicted("n/a", 16_000, { eviction: shown(16_000, late) })] }));
    expect(judgeLate([30, 15, 30]).violation).toBeUndefined();
    expect(judgeLate([15, 30, 15]).violation).toBeDefined();
  });
});

describe("the least time to end", () => {
  const told = { afterMillis: 19_500, byMillis: 20_500 };
  const judge = (settings: object, seenMillis: number, rest = {}) =>
    judgeTimeToEnd(
      history({ ...soft, ...settings }, [15, 15, 15], {
        pods: [evicted("n/a", seenMillis, { graceSeconds: 30, eviction: shown(seenMillis, { told }) })],
        ...rest,
      }),
    ).violation;
  it("of a soft eviction is what the pod is left", () => {
    expect(judge({}, 25_000)).toBeUndefined();
    expect(judge({}, 24_999)?.expected).toContain("from 25000 to 28000 ms");
    expect(judge({ evictionMaxPodGracePeriod: -1 }, 49_999)).toBeDefined();
    expect(judge({ evictionMaxPodGracePeriod: -1 }, 49_999, { negativeGraceIsOpen: true })).toBeUndefined();
  });
});

describe("grace periods of thresholds", () => {
  it("are another law's matter where nothing was held, and judged where something was at one of the looks", () => {
    expect(judgeGracePeriod(history(soft, [30, 30, 30], { pods: [evicted("n/a", 22_000)] })).judged).toBe(false);
    const either = [evicted("n/a", 11_500, { lastAliveMillis: 2000 })]; // decided at either look
    expect(judgeGracePeriod(history(soft, [30, 15], { pods: either })).violation).toBeDefined();
  });
  it("are judged where some threshold has one", () => {
    const pods = [evicted("n/a", 22_000)];
    expect(judgeGracePeriod(history(hard, [15, 15, 15], { pods })).judged).toBe(false);
    const both = { ...soft, evictionHard: { "memory.available": "10" } };
    expect(judgeGracePeriod(history(both, [15, 15, 15], { pods }))).toEqual({ judged: true, violation: undefined });
  });
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
  it("is none of a hard eviction, whatever soft ones leave", () => {
    const settings = { ...hard, evictionMaxPodGracePeriod: 30 };
    const pods = [evicted("n/a", 20_000, { graceSeconds })];
    expect(judgeTimeToEnd(history(settings, [15], { pods })).violation).toBeDefined();
  });
  it("is none when the configuration leaves none", () => {
    const settings = { ...soft, evictionMaxPodGracePeriod: 0 };
    const judge = (seenMillis: number) =>
      judgeTimeToEnd(history(settings, [15, 15, 15], { pods: [evicted("n/a", seenMillis, { graceSeconds })] }));
    expect([judge(23_000).violation, judge(23_001).violation]).toEqual([undefined, expect.anything()]);
  });
  it("is the longest of the thresholds that may have decided, and not judged without any", () => {
    const both = { ...soft, evictionHard: { "memory.available": "20" } };
    const pods = [evicted("n/a", 28_000, { graceSeconds })];
    expect(judgeTimeToEnd(history(both, [15, 15, 15], { pods })).violation).toBeUndefined();
    expect(judgeTimeToEnd(history(both, [30, 30, 30], { pods })).violation).toBeUndefined();
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

describe("what there is to judge", () => {
  const pods = [evicted("n/a", 2000)];
  const critical = podLife("n/s", { static: true });
  it("is sparing where a critical pod might have gone", () => {
    expect(judgeSpared(history(hard, [15], { pods })).judged).toBe(false);
    expect(judgeSpared(history(hard, [15], { pods: [...pods, critical] })).judged).toBe(true);
    expect(judgeSpared(history(hard, [15], { pods: [critical] })).judged).toBe(false);
  });
  it("is one a look where two went, and ranking where one went of several", () => {
    expect(judgeOneALook(history(hard, [15, 15], { pods })).judged).toBe(false);
    expect(judgeOneALook(history(hard, [15, 15], { pods: [...pods, evicted("n/b", 12_000)] })).judged).toBe(true);
    expect(judgeRanking(history(hard, [15], { pods })).judged).toBe(false);
    expect(judgeRanking(history(hard, [15], { pods: [podLife("n/a"), podLife("n/b")] })).judged).toBe(false);
    expect(judgeRanking(history(hard, [15], { pods: [...pods, podLife("n/b")] })).judged).toBe(true);
    const atOnce = [...pods, evicted("n/b", 2000), podLife("n/c")];
    expect(judgeRanking(history(hard, [15], { pods: atOnce }))).toEqual({ judged: false, violation: undefined });
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
  it("takes no look at old figures for one, and leaves who went at no look that drives to other laws", () => {
    const readings = [reading(0, 15), { ...reading(10_000, 15), takenMillis: 0 }];
    const pods = [evicted("n/a", 2000), evicted("n/b", 11_500, { lastAliveMillis: 2000 })];
    expect(judgeOneALook(history(hard, [], { readings, pods })).violation).toBeDefined();
    const strange = [evicted("n/a", 2000), evicted("n/b", 12_000)];
    expect(judgeOneALook(history(hard, [30, 15], { pods: strange })).violation).toBeUndefined();
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
  it("is among those that surely are there, and may go", () => {
    const used = { "n/a": memory(20), "n/b": memory(90) };
    const beside = (fields: Parameters<typeof podLife>[1]) =>
      judgeRanking(
        history(hard, [], {
          readings: [reading(0, 30, used), reading(10_000, 15, used)],
          pods: [evicted("n/a", 12_000), podLife("n/b", fields)],
        }),
      ).violation;
    expect(beside({})).toBeDefined();
    expect(beside({ startedMillis: 10_000, lastAliveMillis: 10_000 })).toBeDefined();
    expect(beside({ startedMillis: 10_001 })).toBeUndefined();
    expect(beside({ lastAliveMillis: 9999 })).toBeUndefined();
    expect(beside({ static: true })).toBeUndefined();
  });
  it("is by memory when memory drives beside others, and else by any that drives", () => {
    const both = { evictionHard: { "memory.available": "20", "nodefs.available": "20" } };
    const disk = { ...memory(10), volumes: { bytes: 90, inodes: 0 } };
    const judged = (victim: string, memoryAvailable: number) => {
      const at = reading(0, memoryAvailable, { "n/a": memory(50), "n/b": disk });
      const signals = { ...at.signals, "nodefs.available": { available: 15, capacity: 100 } };
      const pods = ["n/a", "n/b"].map((name) => (name === victim ? evicted(name, 2000) : podLife(name)));
      return judgeRanking(history(both, [], { readings: [{ ...at, signals }], pods })).violation === undefined;
    };
    expect([judged("n/a", 15), judged("n/b", 15)]).toEqual([true, false]);
    expect([judged("n/a", 30), judged("n/b", 30)]).toEqual([false, true]);
  });
  it("counts who was chosen as gone, even while it ends", () => {
    const used = { "n/a": memory(50), "n/b": memory(20) };
    const readings = [reading(0, 15, used), reading(10_000, 15, used)];
    const pods = [evicted("n/a", 12_500, { graceSeconds: 30 }), evicted("n/b", 12_000)];
    expect(judgeRanking(history(hard, [], { readings, pods })).violation).toBeUndefined();
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

describe("who must act", () => {
  const acts = (fields: Parameters<typeof podLife>[1], rest: Parameters<typeof history>[2] = {}) =>
    judgeActs(history(hard, [30, 15, 15], { pods: [podLife("n/a", fields)], ...rest }), underHard);
  it("has the time that the slowest pod may take, and only pods that run all the while wait", () => {
    expect(acts({ graceSeconds: 7 }).violation).toBeDefined(); // until 20 s, the last look
    expect(acts({ graceSeconds: 8 }).judged).toBe(false);
    expect(acts({ startedMillis: 10_000, lastAliveMillis: 13_000 }).violation).toBeDefined();
    expect(acts({ startedMillis: 10_001 }).judged).toBe(false);
    expect(acts({ lastAliveMillis: 12_999 }).judged).toBe(false);
  });
  it("acts on pressure that goes on to the end of that time, by new figures", () => {
    const patience = { reportMillis: 5000, evictionMillis: 10_000, tellMillis: 1500, taintMillis: 5000 };
    const pods = [podLife("n/a")];
    expect(judgeActs(history(hard, [30, 15, 15, 30], { pods, patience }), underHard).violation).toBeDefined();
    expect(judgeActs(history(hard, [30, 15, 30, 30], { pods, patience }), underHard).judged).toBe(false);
    const readings = [reading(0, 30), { ...reading(10_000, 15), takenMillis: 0 }, reading(20_000, 30)];
    expect(judgeActs(history(hard, [], { pods, readings }), underHard).judged).toBe(false);
  });
  it("may find enough of a disk once it has deleted what nobody uses, of nothing else", () => {
    const judgeOf = (signal: "memory.available" | "nodefs.available", available: readonly number[]) => {
      const readings = available.map((each, index) => ({
        ...reading(index * 10_000, 30),
        signals: { [signal]: { available: each, capacity: 100 } },
      }));
      const settings = { evictionHard: { [signal]: "20" } };
      return judgeActs(history(settings, [], { pods: [podLife("n/a")], readings }), underHard).violation;
    };
    expect(judgeOf("nodefs.available", [30, 15, 30])).toBeUndefined();
    expect(judgeOf("nodefs.available", [30, 15, 15, 30])).toBeDefined();
    expect(judgeOf("memory.available", [30, 15, 30])).toBeDefined();
    const both = [30, 15, 30].map((each, index) => ({
      ...reading(index * 10_000, 30),
      signals: {
        "pid.available": { available: each, capacity: 100 },
        "imagefs.available": { available: each, capacity: 100 },
      },
    }));
    const settings = { evictionHard: { "pid.available": "20", "imagefs.available": "20" } };
    expect(judgeActs(history(settings, [], { pods: [podLife("n/a")], readings: both }), underHard).judged).toBe(false);
  });
  it("wants the minimum reclaim only while it is wanted, and soft thresholds only while they are met", () => {
    const patience = { reportMillis: 5000, evictionMillis: 10_000, tellMillis: 1500, taintMillis: 5000 };
    const evictionMinimumReclaim = { "memory.available": "10" };
    const waits = podLife("n/a");
    const reclaimed = history({ ...hard, evictionMinimumReclaim }, [15, 25, 30, 30], { pods: [waits], patience });
    expect(judgeActs(reclaimed, withinMinimumReclaim).judged).toBe(false);
    const pods = [waits, evicted("n/b", 22_000)];
    const left = history({ ...soft, evictionMinimumReclaim }, [15, 15, 15, 25, 25, 25], { pods });
    expect(judgeActs(left, underSoft)).toEqual({ judged: true, violation: undefined });
    expect(judgeActs(left, withinMinimumReclaim).violation).toBeDefined();
  });
  it("is told by hard thresholds from soft ones", () => {
    const pods = [podLife("n/a")];
    const long = [15, 15, 15, 15];
    expect(judgeActs(history(soft, long, { pods }), underSoft).violation).toBeDefined();
    expect(judgeActs(history(soft, long, { pods }), underHard).judged).toBe(false);
    expect(judgeActs(history(hard, long, { pods }), underSoft).judged).toBe(false);
    expect(judgeActs(history(soft, [15, 15, 15, 30], { pods }), underSoft).violation).toBeDefined();
    expect(judgeActs(history(soft, [15, 15, 30, 30], { pods }), underSoft).judged).toBe(false);
  });
});
