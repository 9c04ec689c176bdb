import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { histories } from "../sim/agent/recorded/histories.ts";
import type { Recorded } from "../sim/agent/recorded/histories.ts";
import { bestOf, drawnFromSecond, minuteOf, reasons, scoreOf } from "./recorded-score.ts";

const rows = (...list: readonly (readonly [at: number, text: string])[]) => list.map(([at, text]) => ({ at, text }));

const recorded: Recorded = {
  name: "fails",
  spec: {},
  steps: [],
  statuses: rows([0, "Pending"], [1, "Running"], [30, "Failed"]),
  events: rows([2, "Warning BackOff again x1"], [14, "Warning BackOff again x2"]),
  calls: rows([0, "RunPodSandbox"], [75.5, "StopPodSandbox"], [76, "RemovePodSandbox"]),
};

describe("a played history", () => {
  it("that is the recorded one has every row of it, in time", () => {
    expect(scoreOf(recorded, recorded)).toEqual({
      same: 8,
      all: 8,
      timed: 4,
      inTime: 4,
      drawn: 4,
      differs: [],
      late: [],
    });
  });

  it("is judged by its order, and by time before anything is drawn", () => {
    const played = {
      statuses: rows([0, "Pending"], [3.1, "Running"], [40, "Failed"]),
      events: rows([2, "Warning BackOff again x1"], [14, "Warning other x1"], [20, "Warning BackOff again x2"]),
      calls: rows([0, "RunPodSandbox"], [75, "RemovePodSandbox"], [76, "StopPodSandbox"], [90, "later than its end"]),
    };
    expect(scoreOf(recorded, played)).toEqual({
      same: 7,
      all: 9,
      timed: 4,
      inTime: 3,
      drawn: 3,
      differs: ["+ 14 Warning other x1", "- 75.5 StopPodSandbox", "+ 76 StopPodSandbox"],
      late: ["1, here 3.1: Running"],
    });
  });

  it("without a row has none in common", () => {
    expect(scoreOf(recorded, { statuses: [], events: [], calls: [] })).toMatchObject({ same: 0, all: 8, timed: 0 });
  });

  it("is as good as the best of its draws", () => {
    const nothing = scoreOf(recorded, { statuses: [], events: [], calls: [] });
    const everything = scoreOf(recorded, recorded);
    expect(bestOf([nothing, everything, nothing])).toBe(everything);
    const late = { ...everything, late: ["Running"] };
    expect([bestOf([late, everything]), bestOf([everything, late])]).toEqual([everything, everything]);
  });
});

describe("what chance decides in a recording", () => {
  it("begins ten seconds after the first failure, or after a static pod has changed", () => {
    expect(drawnFromSecond(recorded)).toBe(12);
    expect(drawnFromSecond({ ...recorded, events: [] })).toBe(Infinity);
    expect(drawnFromSecond({ ...recorded, name: "static-pod", events: [], steps: [25, 40, 70] })).toBe(50);
  });

  it("is the minute of garbage", () => {
    expect(minuteOf(recorded)).toBe(16);
    expect(minuteOf({ ...recorded, calls: [] })).toBeUndefined();
  });
});

it("recordings that may differ are listed in docs/agent.md, with the reasons", () => {
  const page = readFileSync(new URL("../docs/agent.md", import.meta.url), "utf8");
  const listed = [...page.matchAll(/^\| `([a-z0-9-]+)` \| ([^|]+) \|$/gm)].map(([, ...cells]) => cells);
  expect(listed).toEqual(Object.entries(reasons));
  const names = histories.map(({ name }) => name);
  expect(Object.keys(reasons).filter((name) => !names.includes(name))).toEqual([]);
});
