import { describe, expect, it } from "vitest";
import { profiles } from "../../sim/contract/profile.ts";
import { withEmbeddedServer } from "../../sim/http/embedded-server.ts";
import type { ServerBugName } from "../../sim/planted/server-bugs.ts";
import { runSuite } from "../../conformance/run-suite.ts";

/** The suite's nodes, run by real agents with simulated runtimes on the embedded cluster, and an agent that lives there. */
const judge = (
  profile: "svc" | "kubernetes",
  only: readonly string[],
  runs: number,
  bugs: readonly ServerBugName[] = [],
) =>
  withEmbeddedServer({ seed: "agents", profile: profiles[profile], bugs, hasAgent: true }, (ports) =>
    runSuite({ ...ports, profile, targetKind: "embedded", only, runs }),
  );

describe.each(["svc", "kubernetes"] as const)("agents of the embedded cluster, %s", (profile) => {
  it("pass in every requirement of evictions, and none is unsupported", async () => {
    const only = ["joined-nodes-evict-lawfully", "agents-keep-to-their-thresholds"];
    const { requirements, leftovers } = await judge(profile, only, 3);
    const wrong = requirements.filter(({ outcome }) => outcome.status !== "passed");
    expect(wrong.map(({ id, outcome }) => `${id}: ${JSON.stringify(outcome)}`)).toEqual([]);
    expect(requirements.filter(({ id }) => id.startsWith("agent-eviction.")).length).toBeGreaterThan(16);
    expect(leftovers).toEqual([]);
  }, 120_000);
});

describe("planted bugs of thresholds", () => {
  it.each<[bug: ServerBugName, requirement: string]>([
    ["evict-two-a-look", "one-a-look"],
    ["evict-pressure-flap", "transition"],
    ["evict-min-reclaim-too-little", "minimum-reclaim"],
    ["evict-soft-without-grace", "soft"],
  ])(
    "%s fails the suite",
    async (bug, requirement) => {
      const { checks } = await judge("svc", ["joined-nodes-evict-lawfully"], 1, [bug]);
      expect(checks[0]?.failure?.requirement).toBe(`agent-eviction.${requirement}`);
    },
    120_000,
  );
});
