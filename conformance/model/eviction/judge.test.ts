import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyNodeScenario, type NodeScenario } from "../../arbitraries/node-scenarios.ts";
import { type EvictorFault, playEvictions } from "../../testing/naive-evictor.fixture.ts";
import { evictionLaws, judgeEvictions } from "./judge.ts";

const scenarios = fc.sample(anyNodeScenario, { seed: 12, numRuns: 200 });

/** Of these requirements, those that the histories of an evictor break in none of the scenarios. */
function unbroken(fault: EvictorFault, requirements: readonly string[]): ReadonlySet<string> {
  const left = new Set(requirements);
  for (const scenario of scenarios) {
    for (const { requirement, violation } of judgeEvictions(playEvictions(scenario, fault))) {
      if (violation !== undefined) left.delete(requirement.replace("agent-eviction.", ""));
    }
    if (left.size === 0) break;
  }
  return left;
}

describe("the laws of eviction over random nodes", () => {
  it("accept what a naive evictor does", () => {
    const wrong = (scenario: NodeScenario) =>
      judgeEvictions(playEvictions(scenario)).filter(({ violation }) => violation !== undefined);
    expect(scenarios.flatMap(wrong)).toEqual([]);
  });

  it("all have something to judge", () => {
    const judged = new Set(
      scenarios.flatMap((scenario) => judgeEvictions(playEvictions(scenario))).map((at) => at.requirement),
    );
    expect(evictionLaws.map(([requirement]) => requirement).filter((id) => !judged.has(id))).toEqual([]);
  });

  // The laws that a fault breaks at least: what follows from it breaks others, as who goes too early goes by the wrong threshold.
  it.each<[fault: EvictorFault, breaks: string]>([
    ["takes equality for less", "cleared hard message soft"],
    ["takes a percentage for half of it", "hard raised soft transition"],
    ["evicts far above the threshold", "cleared hard message soft"],
    ["ignores grace periods", "soft soft-grace"],
    ["keeps grace periods over gaps", "soft"],
    ["has one grace period for all", "soft soft-grace"],
    ["never evicts", "hard minimum-reclaim soft"],
    ["evicts two at a look", "one-a-look"],
    ["ranks by usage alone", "ranking"],
    ["ranks priority before excess", "ranking"],
    ["ranks the other way", "ranking"],
    ["evicts critical pods", "spares-critical"],
    ["acts on old figures", "fresh-figures"],
    ["drops conditions at once", "transition"],
    ["never drops conditions", "cleared"],
    ["raises conditions after grace periods", "raised transition"],
    ["knows no minimum reclaim", "minimum-reclaim"],
    ["reclaims no minimum", "minimum-reclaim"],
    ["sees no inodes and processes", "hard raised soft transition"],
    ["leaves pods all the time they want", "max-pod-grace"],
    ["sets no taints", "taints"],
    ["keeps taints", "taints"],
    ["gives another reason", "status"],
    ["calls it a success", "status"],
    ["shows no disruption", "status"],
    ["names another resource", "message"],
    ["names another quantity", "message"],
    ["tells that enough is available", "message"],
    ["tells what was available before", "message"],
    ["blames nobody", "message"],
    ["names no threshold", "message"],
    ["leaves no time", "max-pod-grace"],
    ["leaves the longer time", "max-pod-grace"],
    ["leaves all their time at once", "hard"],
    ["shows it while containers run", "status"],
    ["acts on the disk first", "message"],
    ["blames who keeps to the request", "message"],
    ["starts it again", "final"],
  ])("reject one that %s", (fault, breaks) => {
    expect([...unbroken(fault, breaks.split(" "))]).toEqual([]);
  });
});
