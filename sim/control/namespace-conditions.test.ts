import { describe, expect, it } from "vitest";
import type { JsonObject } from "../contract/http-message.ts";
import { conditionsAfter, Remainder } from "./namespace-conditions.ts";

const held = (...finalizers: string[]): JsonObject => ({ metadata: { name: "a", finalizers } });
const statuses = (conditions: readonly JsonObject[]): unknown[] =>
  conditions.map(({ status, lastTransitionTime }) => [status, lastTransitionTime]);

describe("conditions of a namespace that goes", () => {
  it("say that all is well when nothing is left", () => {
    const conditions = conditionsAfter([], new Remainder(), "t1");
    expect(conditions.map(({ type }) => type)).toEqual([
      "NamespaceDeletionDiscoveryFailure",
      "NamespaceDeletionGroupVersionParsingFailure",
      "NamespaceDeletionContentFailure",
      "NamespaceContentRemaining",
      "NamespaceFinalizersRemaining",
    ]);
    expect(new Set(conditions.map(({ status }) => status))).toEqual(new Set(["False"]));
    expect(conditionsAfter(conditions, new Remainder(), "t2")).toBe(conditions);
  });

  it("count what is left and what it waits for, and turn when it has gone", () => {
    const remainder = new Remainder();
    remainder.add("pods.", [held()]);
    remainder.add("configmaps.", [held("x/y"), held("x/y", "b/c")]);
    remainder.add("secrets.", []);
    const other = { type: "Other", status: "True" };
    const conditions = conditionsAfter([other], remainder, "t1");
    expect(remainder.isEmpty).toBe(false);
    expect(conditions[0]).toBe(other);
    expect(conditions.slice(4).map(({ reason, message }) => [reason, message])).toEqual([
      [
        "SomeResourcesRemain",
        "Some resources are remaining: configmaps. has 2 resource instances, pods. has 1 resource instances",
      ],
      [
        "SomeFinalizersRemain",
        "Some content in the namespace has finalizers remaining: b/c in 1 resource instances, x/y in 2 resource instances",
      ],
    ]);
    const after = conditionsAfter(conditions, new Remainder(), "t2");
    expect(statuses(after.slice(3))).toEqual([
      ["False", "t1"],
      ["False", "t2"],
      ["False", "t2"],
    ]);
  });

  it("tell why a collection could not be emptied", () => {
    const remainder = new Remainder();
    remainder.failures.push("no way");
    expect(conditionsAfter([], remainder, "t")[2]).toMatchObject({
      status: "True",
      message: "Failed to delete all resource types, 1 remaining: no way",
    });
    expect(remainder.isEmpty).toBe(false);
  });
});
