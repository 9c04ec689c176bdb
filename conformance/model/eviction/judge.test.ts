import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { anyNodeScenario, type NodeScenario } from "../../arbitraries/node-scenarios.ts";
import { type EvictorFault, playEvictions } from "../../testing/naive-evictor.ts";
import { evictionLaws, judgeEvictions } from "./judge.ts";

const scenarios = fc.sample(anyNodeScenario, { seed: 12, numRuns: 200 });

/** The requirements that the histories of an evictor break, in at least one scenario each. */
function broken(fault?: EvictorFault): Set<string> {
  const found = new Set<string>();
  for (const scenario of scenarios) {
    for (const { requirement, violation } of judgeEvictions(playEvictions(scenario, fault))) {
      if (violation !== undefined) found.add(requirement.replace("agent-eviction.", ""));
    }
  }
  return found;
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

  // What follows from a fault breaks further laws: who goes too early goes by the wrong threshold, too.
  it.each<[fault: EvictorFault, breaks: string]>([
    ["takes equality for less", "cleared hard message soft soft-grace"],
    ["takes a percentage for half of it", "hard raised soft transition"],
    ["evicts far above the threshold", "cleared fresh-figures hard message one-a-look soft soft-grace"],
    ["ignores grace periods", "cleared fresh-figures hard max-pod-grace soft soft-grace"],
    ["keeps grace periods over gaps", "soft soft-grace"],
    ["has one grace period for all", "soft soft-grace"],
    ["never evicts", "hard minimum-reclaim soft"],
    ["evicts two at a look", "one-a-look"],
    ["ranks by usage alone", "ranking"],
    ["ranks priority before excess", "ranking"],
    ["ranks the other way", "ranking"],
    ["evicts critical pods", "spares-critical"],
    ["acts on old figures", "fresh-figures max-pod-grace one-a-look"],
    ["drops conditions at once", "transition"],
    ["never drops conditions", "cleared"],
    ["raises conditions after grace periods", "raised transition"],
    ["knows no minimum reclaim", "minimum-reclaim raised transition"],
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
    ["blames who keeps to the request", "message"],
    ["starts it again", "final"],
  ])("reject one that %s", (fault, breaks) => {
    expect([...broken(fault)].sort()).toEqual(breaks.split(" "));
  });
});
