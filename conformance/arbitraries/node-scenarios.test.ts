import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseEvictionSettings } from "../../wire/eviction-thresholds.ts";
import { evictionLaws, judgeEvictions } from "../model/eviction/judge.ts";
import { playEvictions } from "../testing/naive-evictor.fixture.ts";
import { anyNodeScenario, eventfulNode } from "./node-scenarios.ts";

describe("scenarios of nodes", () => {
  it("have settings that an agent takes, and steps in order", () => {
    for (const { eviction, steps, untilMillis } of fc.sample(anyNodeScenario, { seed: 3, numRuns: 200 })) {
      expect(parseEvictionSettings(eviction)).not.toHaveProperty("error");
      const times = steps.map(({ atMillis }) => atMillis);
      expect(times).toEqual([...new Set(times)].sort((one, other) => one - other));
      expect([times[0], (times.at(-1) as number) < untilMillis]).toEqual([0, true]);
    }
  });

  it("include one that gives every law its occasion", () => {
    const judgements = judgeEvictions(playEvictions(eventfulNode));
    expect(judgements.map(({ requirement }) => requirement)).toEqual(evictionLaws.map(([requirement]) => requirement));
    expect(judgements.filter(({ violation }) => violation !== undefined)).toEqual([]);
  });
});
