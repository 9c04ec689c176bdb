import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../contract/http-message.ts";
import { allowedOrNot, BadBudget, expectationOf, failSafe, needsScale, outlook } from "./budget.ts";

const now = 1_893_456_000;
const time = "2030-01-01T00:00:00Z";

function pod(name: string, ready = true, metadata: JsonObject = {}): JsonObject {
  return {
    metadata: { name, ...metadata },
    status: { conditions: [{ type: "Ready", status: ready ? "True" : "False" }] },
  };
}

describe("what must be healthy", () => {
  it.each([
    [{ minAvailable: 2 }, 5, 10, false, 5, 2],
    [{ minAvailable: "50%" }, 5, 7, true, 7, 4],
    [{ minAvailable: "0%" }, 5, 7, true, 7, 0],
    [{ maxUnavailable: 2 }, 5, 7, true, 7, 5],
    [{ maxUnavailable: 9 }, 5, 7, true, 7, 0],
    [{ maxUnavailable: "30%" }, 5, 7, true, 7, 4], // 2.1 is three pods
    [{}, 5, 7, false, 0, 0],
  ])("is, for %j with %i pods of %i wanted", (spec, podCount, scale, scaled, expectedPods, desiredHealthy) => {
    expect(needsScale(spec)).toBe(scaled);
    expect(expectationOf(spec, podCount, scale)).toEqual({ expectedPods, desiredHealthy });
  });

  it("cannot be told from a text that is no percentage", () => {
    expect(() => expectationOf({ minAvailable: "half" }, 1, 1)).toThrow(BadBudget);
  });
});

describe("a budget's status", () => {
  const budget = (status: JsonObject = {}): JsonObject => ({
    metadata: { name: "b", generation: 3 },
    spec: {},
    status,
  });

  it("counts pods that are ready and not going", () => {
    const pods = [pod("a"), pod("b"), pod("c", false), pod("d", true, { deletionTimestamp: time })];
    const { status } = outlook(budget(), pods, { expectedPods: 4, desiredHealthy: 1 }, now);
    expect(status).toEqual({
      conditions: [
        {
          type: "DisruptionAllowed",
          status: "True",
          observedGeneration: 3,
          lastTransitionTime: time,
          reason: "SufficientPods",
          message: "",
        },
      ],
      currentHealthy: 2,
      desiredHealthy: 1,
      disruptionsAllowed: 1,
      expectedPods: 4,
      observedGeneration: 3,
    });
  });

  it("allows nothing below zero, and nothing while no pods are expected", () => {
    expect(
      outlook(budget(), [pod("a")], { expectedPods: 3, desiredHealthy: 3 }, now).status["disruptionsAllowed"],
    ).toBe(0);
    expect(
      outlook(budget(), [pod("a")], { expectedPods: 0, desiredHealthy: 0 }, now).status["disruptionsAllowed"],
    ).toBe(0);
  });

  it("takes a pod whose eviction was granted for gone, for two minutes", () => {
    const granted = budget({ disruptedPods: { a: time, gone: time, going: time } });
    const pods = [pod("a"), pod("b"), pod("going", true, { deletionTimestamp: time })];
    const expectation = { expectedPods: 2, desiredHealthy: 1 };
    const early = outlook(granted, pods, expectation, now + 30);
    expect(early.status).toMatchObject({ currentHealthy: 1, disruptionsAllowed: 0, disruptedPods: { a: time } });
    expect([early.recheckSeconds, early.overdue]).toEqual([90, []]);
    const late = outlook(granted, pods, expectation, now + 120);
    expect(late.status).toMatchObject({ currentHealthy: 2, disruptionsAllowed: 1 });
    expect(late.status["disruptedPods"]).toBeUndefined();
    expect([late.recheckSeconds, late.overdue]).toEqual([undefined, [pods[0]]]);
  });

  it("keeps the time of a transition that did not happen, and the conditions of others", () => {
    const other = { type: "Other", status: "True" };
    const before = budget({ conditions: [other, ...allowedOrNot(budget(), 1, 3, now)] });
    expect(allowedOrNot(before, 2, 4, now + 60)).toMatchObject([
      other,
      { lastTransitionTime: time, observedGeneration: 4 },
    ]);
    expect(allowedOrNot(before, 0, 4, now + 60)).toMatchObject([
      other,
      { lastTransitionTime: "2030-01-01T00:01:00Z", reason: "InsufficientPods", status: "False" },
    ]);
  });

  it("allows nothing when it cannot be reckoned, and says why", () => {
    const before = budget({ observedGeneration: 2, disruptionsAllowed: 3, expectedPods: 5 });
    expect(failSafe(before, "found no controllers", now)).toMatchObject({
      disruptionsAllowed: 0,
      expectedPods: 5,
      observedGeneration: 2,
      conditions: [{ status: "False", reason: "SyncFailed", message: "found no controllers", observedGeneration: 2 }],
    });
  });
});
