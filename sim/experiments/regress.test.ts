import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parseScenario } from "../../scenarios/load.ts";
import { simulatedBugNames } from "../planted/simulated-bugs.ts";
import { bugsOf, noBugs } from "./bugs.ts";
import { playScenario } from "./play.ts";

const folder = new URL("../../scenarios/regress/", import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith(".yaml"));
const table = readFileSync(new URL("../../docs/simulated-bugs.md", import.meta.url), "utf8");

describe("each published bug", () => {
  it.each(files)("%s is found when it is planted, and nothing is without it", (file) => {
    const scenario = parseScenario(readFileSync(new URL(file, folder), "utf8"), file);
    const { bug = "", breaks, gates = [] } = scenario.regress ?? {};
    expect(`${bug}.yaml`).toBe(file);
    const bugs = bugsOf([bug]);
    const wanted = { ...Object.fromEntries(gates.map((gate) => [gate, true])), ...bugs.gates };
    const broken = playScenario(scenario, { bugs: { ...bugs, gates: wanted }, stopsAtFailure: true }).report;
    expect(broken.failure?.requirement).toBe(breaks);
    const sound = playScenario(scenario, { bugs: { ...noBugs, gates: wanted } }).report;
    expect(sound.failure).toBeUndefined();
    expect(sound.expectations.filter(({ verdict }) => verdict.status !== "passed")).toEqual([]);
  });

  it("of simulations has a scenario, and there are many", () => {
    expect(simulatedBugNames.filter((name) => !files.includes(`${name}.yaml`))).toEqual([]);
    expect(files.length).toBeGreaterThanOrEqual(40);
  });

  it("stands in the published table, and was found by a hunt", () => {
    const told = [...table.matchAll(/^\| \[`([a-z0-9-]+)`\].*\| ([\d.]+) \|$/gm)].map(([, name]) => `${name}.yaml`);
    expect(told.sort()).toEqual([...files].sort());
  });
});
