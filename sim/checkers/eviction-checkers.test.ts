import { describe, expect, it } from "vitest";
import { evictionsDue, evictionsMade, evictionsRanked, pressureTold } from "./eviction-checkers.ts";
import { History } from "./history.fixture.ts";
import type { Fact, RankedPod } from "./judge.ts";

const looked = (
  atMicros: number,
  available: number,
  ...conditions: readonly string[]
): Fact & { kind: "usage-seen" } => ({
  kind: "usage-seen",
  client: "node-1",
  atMicros,
  signals: [
    {
      signal: "memory.available",
      condition: "MemoryPressure",
      available,
      threshold: 100,
      reclaim: 20,
      graceMicros: 0,
      takenMicros: atMicros,
    },
  ],
  conditions,
  transitionMicros: 30,
});

const softly = (atMicros: number, available: number, ...conditions: readonly string[]): Fact => {
  const hard = looked(atMicros, available, ...conditions);
  return { ...hard, signals: hard.signals.map((signal) => ({ ...signal, graceMicros: 25 })) };
};

describe("evictions.due", () => {
  const seen = (available: number, client = "node-1"): Fact => ({
    ...looked(0, available),
    client,
  });
  const evicted = (signal: string | undefined, ...exempt: readonly boolean[]): Fact =>
    evictedAfter(0, signal, ...exempt);
  const evictedAfter = (graceMicros: number, signal: string | undefined, ...exempt: readonly boolean[]): Fact => ({
    kind: "evicted",
    client: "node-1",
    threshold: signal === undefined ? undefined : { signal, graceMicros },
    pods: exempt.map((isExempt, index) => ({ pod: `n/p${index}`, isExempt })),
    among: [],
  });
  const after = (...facts: readonly Fact[]) => {
    const history = new History(evictionsDue);
    for (const fact of facts) history.tell(fact);
    return history.broken;
  };

  it("accepts one below the threshold, one on the way back, and one for a limit of its own", () => {
    const memory = evicted("memory.available", false);
    expect(after(seen(99), memory, seen(119), memory)).toBeUndefined();
    expect(after(seen(500), evicted(undefined, false, false))).toBeUndefined();
  });

  it.each([
    ["above the threshold, never driven to it", [seen(100), evicted("memory.available", false)]],
    ["after so much more is there again", [seen(99), seen(120), seen(110), evicted("memory.available", false)]],
    ["for what another node saw", [seen(99, "node-2"), evicted("memory.available", false)]],
    ["of two pods at once", [seen(99), evicted("memory.available", false, false)]],
    ["of an exempt pod", [seen(99), evicted("memory.available", true)]],
  ])("rejects one %s", (_what, facts) => {
    expect(after(...facts)).toBe("evictions.due");
  });

  const gently = (atMicros: number, available: number): Fact => softly(atMicros, available);
  const softEviction = evictedAfter(25, "memory.available", false);

  it("accepts one of a soft threshold at the end of its grace period, and on the way back", () => {
    expect(after(gently(0, 99), gently(10, 50), gently(25, 99), softEviction)).toBeUndefined();
    expect(after(gently(0, 99), gently(25, 99), gently(35, 119), softEviction)).toBeUndefined();
  });

  it.each([
    ["before its grace period is over", [gently(0, 99), gently(24, 99), softEviction]],
    [
      "whose period began before it was clear",
      [gently(0, 99), gently(10, 100), gently(20, 99), gently(30, 99), softEviction],
    ],
    ["on the way back before it drove", [gently(0, 99), gently(10, 110), gently(30, 110), softEviction]],
    ["when the hard one alone was crossed", [seen(99), softEviction]],
  ])("rejects one of a soft threshold %s", (_what, facts) => {
    expect(after(...facts)).toBe("evictions.due");
  });

  it("takes nothing over a crash: the next agent begins with its own look", () => {
    const history = new History(evictionsDue).tell(seen(99)).happen({ kind: "crash", place: "node-1" });
    expect(history.tell(evicted("memory.available", false)).broken).toBe("evictions.due");
  });
});

describe("evictions.ranked", () => {
  const rank = (pod: string, used: number | undefined, more: Partial<RankedPod> = {}): RankedPod => ({
    pod,
    isExempt: false,
    priority: 0,
    used,
    requested: 0,
    ...more,
  });
  const after = (signal: string, gone: string, ...among: readonly RankedPod[]) => {
    const history = new History(evictionsRanked);
    history.tell({
      kind: "evicted",
      client: "node-1",
      threshold: { signal, graceMicros: 0 },
      pods: [{ pod: gone, isExempt: false }],
      among,
    });
    return history.broken;
  };

  // Each time the pod n/z goes before n/a.
  it.each<[string, string, RankedPod, RankedPod]>([
    ["one without figures", "memory.available", rank("n/z", undefined, { priority: 9 }), rank("n/a", 5)],
    [
      "one beyond its request",
      "memory.available",
      rank("n/z", 5, { requested: 4, priority: 9 }),
      rank("n/a", 50, { requested: 60 }),
    ],
    ["one of a lower priority", "nodefs.available", rank("n/z", 1, { priority: -1 }), rank("n/a", 50)],
    [
      "one farther beyond its request",
      "memory.available",
      rank("n/z", 30, { requested: 10 }),
      rank("n/a", 40, { requested: 30 }),
    ],
    [
      "one nearer to its request",
      "nodefs.available",
      rank("n/z", 1, { requested: 5 }),
      rank("n/a", 3, { requested: 30 }),
    ],
    ["one that has a file at all", "nodefs.inodesFree", rank("n/z", 1, { requested: 9 }), rank("n/a", 0)],
    ["one with more processes", "pid.available", rank("n/z", 3, { requested: 100 }), rank("n/a", 2)],
    ["one of a lower priority, of processes", "pid.available", rank("n/z", 1, { priority: -1 }), rank("n/a", 9)],
    ["any that is not exempt", "memory.available", rank("n/z", 1), rank("n/a", 9, { isExempt: true })],
  ])("%s goes first", (_what, signal, first, second) => {
    expect(after(signal, "n/z", first, second)).toBeUndefined();
    expect(after(signal, "n/z", second, first)).toBeUndefined();
    if (!second.isExempt) expect(after(signal, "n/a", first, second)).toBe("evictions.ranked");
  });

  it("goes by namespace and name among equals", () => {
    const equals = [rank("n/b", 1), rank("m/z", 1), rank("n/a", 1)];
    expect(after("memory.available", "m/z", ...equals)).toBeUndefined();
    expect(after("memory.available", "n/a", ...equals)).toBe("evictions.ranked");
  });
});

describe("evictions.made", () => {
  const ended = (cameTo: "something" | "nothing"): Fact => ({ kind: "pass-ended", client: "node-1", cameTo });
  const after = (...facts: readonly Fact[]) => {
    const history = new History(evictionsMade);
    for (const fact of facts) history.tell(fact);
    return history.broken;
  };
  const nothing = ended("nothing");

  it("accepts rest where nothing drives, and where the figures are old", () => {
    expect(after(looked(0, 100), nothing)).toBeUndefined();
    expect(after(looked(0, 99), ended("something"), looked(10, 120), nothing)).toBeUndefined();
    expect(after(softly(0, 99), nothing, softly(24, 99), nothing)).toBeUndefined();
    const old = looked(10, 99);
    const signals = old.signals.map((signal) => ({ ...signal, takenMicros: 0 }));
    expect(after(looked(0, 99), ended("something"), { ...old, signals }, nothing)).toBeUndefined();
  });

  it.each([
    ["below the threshold", [looked(0, 99), nothing]],
    ["before the minimum reclaim is there", [looked(0, 99), ended("something"), looked(10, 119), nothing]],
    ["at the end of the grace period of a soft one", [softly(0, 99), nothing, softly(25, 99), nothing]],
  ])("rejects rest %s", (_what, facts) => {
    expect(after(...facts)).toBe("evictions.made");
  });
});

describe("pressure.told", () => {
  const memory = "MemoryPressure";
  const after = (...facts: readonly Fact[]) => {
    const history = new History(pressureTold);
    for (const fact of facts) history.tell(fact);
    return history.broken;
  };

  it("accepts it from the crossing until the period after the last look below", () => {
    const story = [
      looked(0, 100),
      looked(10, 99, memory),
      looked(20, 50, memory),
      looked(49, 500, memory),
      looked(50, 500),
    ];
    expect(after(...story)).toBeUndefined();
    // So much more than the threshold counts once it drove, and a soft one that is crossed counts at once.
    expect(after(looked(0, 99, memory), looked(40, 110, memory), looked(60, 110, memory))).toBeUndefined();
    expect(after(softly(0, 99, memory), softly(10, 110, memory), softly(30, 110))).toBeUndefined();
  });

  it.each([
    ["untold at the crossing", [looked(0, 99)]],
    ["gone while more is still to be made free", [looked(0, 99, memory), looked(30, 110, memory), looked(60, 110)]],
    ["told for what is to be made free alone", [looked(0, 110, memory)]],
    ["untold in the grace period of a soft threshold", [softly(0, 99)]],
    ["told without a crossing", [looked(0, 500, memory)]],
    ["gone before the period is over", [looked(0, 99, memory), looked(29, 500)]],
    ["counted from the first look below", [looked(0, 99, memory), looked(20, 99, memory), looked(40, 500)]],
    ["there after the period", [looked(0, 99, memory), looked(30, 500, memory)]],
  ])("rejects one that is %s", (_what, facts) => {
    expect(after(...facts)).toBe("pressure.told");
  });
});
