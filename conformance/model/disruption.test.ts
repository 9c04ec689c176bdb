import { describe, expect, it } from "vitest";
import { type Budget, type Eviction, judgeAtOnce, judgeEvictions, type PodHealth } from "./disruption.ts";

const budget: Budget = { minAvailable: 1, policy: "IfHealthyBudget" };
const none: Budget = { ...budget, minAvailable: 0 };
const eviction = (status: number, health: PodHealth = "ready", dryRun = false): Eviction => ({
  health,
  dryRun,
  status,
  causes: status === 429 ? ["DisruptionBudget"] : [],
});

describe("evictions one after another", () => {
  it.each<[string, Budget, PodHealth[], Eviction[]]>([
    ["as many as are spare", budget, ["ready", "ready"], [eviction(201), eviction(429)]],
    ["one after another of three", budget, ["ready", "ready", "ready"], [eviction(201), eviction(201), eviction(429)]],
    ["a pending pod while none serves", budget, ["pending"], [eviction(201, "pending")]],
    ["a dry one that spends nothing", budget, ["ready", "ready"], [eviction(201, "ready", true), eviction(201)]],
    ["a pending pod at any time", budget, ["ready", "pending"], [eviction(429), eviction(201, "pending")]],
    ["an unready pod while enough serve", budget, ["ready", "unready"], [eviction(429), eviction(201, "unready")]],
    ["an unready pod that is kept while too few serve", budget, ["unready"], [eviction(429, "unready")]],
    ["an unready pod by policy", { ...budget, policy: "AlwaysAllow" }, ["unready"], [eviction(201, "unready")]],
    ["none to spare of no pods", { ...budget, minAvailable: 0 }, ["unready"], [eviction(429, "unready")]],
    [
      "a budget of none, spent by an unready pod",
      none,
      ["unready", "ready"],
      [eviction(201, "unready"), eviction(429)],
    ],
    ["the same, counted again", none, ["unready", "ready"], [eviction(201, "unready"), eviction(201)]],
  ])("accepts %s", (_what, of, pods, evictions) => {
    expect(judgeEvictions(of, pods, evictions)).toBeUndefined();
  });

  it.each<[string, Budget, PodHealth[], Eviction[]]>([
    ["one too many", budget, ["ready", "ready"], [eviction(201), eviction(201)]],
    ["a refusal with one to spare", budget, ["ready", "ready"], [eviction(429)]],
    ["a dry one that spends", budget, ["ready", "ready"], [eviction(201, "ready", true), eviction(429)]],
    ["a pending pod refused", budget, ["ready", "pending"], [eviction(429, "pending")]],
    ["an unready pod let go while too few serve", budget, ["unready"], [eviction(201, "unready")]],
    [
      "an unready pod refused against the policy",
      { ...budget, policy: "AlwaysAllow" },
      ["unready"],
      [eviction(429, "unready")],
    ],
    ["a refusal without its cause", budget, ["ready"], [{ ...eviction(429), causes: [] }]],
    ["another refusal", budget, ["ready"], [{ ...eviction(429), status: 403 }]],
    [
      "a pending pod refused when a budget of none is spent",
      none,
      ["unready", "ready", "pending"],
      [eviction(201, "unready"), eviction(429, "pending")],
    ],
    [
      "something else than a refusal when it is spent",
      none,
      ["unready", "ready"],
      [eviction(201, "unready"), eviction(500)],
    ],
    [
      "a budget that always allows, spent by an unready pod",
      { ...none, policy: "AlwaysAllow" },
      ["unready", "ready"],
      [eviction(201, "unready"), eviction(429)],
    ],
    [
      "a budget of one, spent by an unready pod",
      budget,
      ["unready", "ready", "ready"],
      [eviction(201, "unready"), eviction(429)],
    ],
    ["a budget of none, spent by a pending pod", none, ["pending", "ready"], [eviction(201, "pending"), eviction(429)]],
    [
      "a budget of none, refused with one to spare",
      none,
      ["unready", "ready", "ready"],
      [eviction(201, "unready"), eviction(429)],
    ],
  ])("rejects %s", (_what, of, pods, evictions) => {
    expect(judgeEvictions(of, pods, evictions)).toBeDefined();
  });
});

describe("evictions at once", () => {
  it("accepts as many as are spare, or fewer", () => {
    expect(judgeAtOnce(budget, 3, [eviction(201), eviction(429), eviction(201)])).toBeUndefined();
    expect(judgeAtOnce(budget, 3, [eviction(201), eviction(429), eviction(429)])).toBeUndefined();
  });

  it("rejects more, and a refusal of another kind", () => {
    expect(judgeAtOnce(budget, 3, [eviction(201), eviction(201), eviction(201)])).toBeDefined();
    expect(judgeAtOnce(budget, 3, [eviction(500)])).toBeDefined();
    expect(judgeAtOnce(budget, 1, [eviction(201)])).toBeDefined();
    expect(judgeAtOnce(budget, 0, [eviction(201)])).toBeDefined();
  });
});
