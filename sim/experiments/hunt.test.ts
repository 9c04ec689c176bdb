import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseScenario } from "../../scenarios/load.ts";
import { bugsOf, noBugs } from "./bugs.ts";
import { huntSeed } from "./hunt-seed.ts";
import { playScenario } from "./play.ts";
import { reproduce, type Reproduction, shrinking } from "./shrink.ts";

const scenarioAt = (path: string) =>
  parseScenario(readFileSync(new URL(`../../scenarios/${path}.yaml`, import.meta.url), "utf8"), path);

describe("a hunt", () => {
  it("finds the canary at every hundredth seed, and nowhere else", () => {
    const canary = scenarioAt("explore/canary");
    const found = [99, 100, 101, 200].filter((seed) => huntSeed(canary, seed, { mode: "lite", bugs: noBugs }).failure);
    expect(found).toEqual([100, 200]);
  });

  it.each(["informers", "controllers", "nodes"])("of %s finds nothing where nothing is planted", (name) => {
    const scenario = scenarioAt(`explore/${name}`);
    for (let seed = 1000; seed < 1006; seed++) {
      const { failure, broke } = huntSeed(scenario, seed, { mode: "swarm", bugs: noBugs });
      expect([failure, broke], `seed ${seed}`).toEqual([undefined, undefined]);
    }
  });

  it.each([
    ["informers", "client-double-done-duplicate-watch", "watch.one-live"],
    ["informers", "client-gap-between-watches", "cluster.converges"],
    ["controllers", "ctl-create-duplicate-on-stale-cache", "cluster.converges"],
    ["informers", "watch-start-inclusive", "watch.stream"],
  ])("of %s finds %s by itself", (name, bug, requirement) => {
    const scenario = scenarioAt(`explore/${name}`);
    const options = { mode: "swarm", bugs: bugsOf([bug]) } as const;
    let found: string | undefined;
    for (let seed = 1; seed <= 40 && found === undefined; seed++)
      found = huntSeed(scenario, seed, options).failure?.requirement;
    expect(found).toBe(requirement);
  });

  it("tells of a run that breaks the simulation, with its seed", () => {
    const scenario = { ...scenarioAt("explore/canary"), clients: undefined as never };
    expect(huntSeed(scenario, 7, { mode: "lite", bugs: noBugs })).toMatchObject({
      seed: 7,
      broke: expect.stringContaining("TypeError"),
    });
  });
});

describe("shrinking", () => {
  it("leaves less of everything, and the same failure", () => {
    const scenario = scenarioAt("explore/informers");
    const bugs = bugsOf(["client-double-done-duplicate-watch"]);
    let seed = 0;
    let played = playScenario(scenario, { seed, bugs, stopsAtFailure: true });
    while (played.report.failure === undefined || played.plan.faults.length < 4)
      played = playScenario(scenario, { seed: ++seed, bugs, stopsAtFailure: true });
    const whole: Reproduction = {
      scenario,
      edits: { without: [] },
      seed,
      mode: "swarm",
      bugs,
      faults: played.plan.faults,
    };
    const failure = reproduce(whole);
    expect(failure).toEqual(played.report.failure);
    const steps = shrinking(whole, failure as NonNullable<typeof failure>, 80);
    let step = steps.next();
    for (let before = 0; step.done !== true; before++, step = steps.next()) expect(step.value.attempts).toBe(before);
    // The last attempt ends the search: nobody can interrupt between them.
    const once = shrinking(whole, failure as NonNullable<typeof failure>, 1);
    expect(once.next()).toMatchObject({ done: false, value: { attempts: 0 } });
    expect(once.next()).toMatchObject({ done: true, value: { attempts: 1 } });
    const { reproduction, failure: left, attempts } = step.value;
    expect(attempts).toBeLessThanOrEqual(80);
    expect(left.signature).toBe(failure?.signature);
    expect(reproduction.faults.length).toBeLessThan(whole.faults.length);
    expect(reproduction.edits.without.length).toBeGreaterThanOrEqual(3);
    expect(reproduction.edits.untilMicros).toBeLessThan(scenario.until);
    expect(reproduce(reproduction)).toEqual(left);
  });
});
