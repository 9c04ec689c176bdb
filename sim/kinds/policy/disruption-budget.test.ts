import { expect, it } from "vitest";
import type { JsonObject } from "../../contract/http-message.ts";
import { create, endpoint } from "../../objects/objects.fixture.ts";
import { validateCreate } from "../../objects/validation.ts";

const budgets = endpoint("policy/v1/poddisruptionbudgets");
const texts = (spec: JsonObject): readonly string[] =>
  validateCreate(create({ metadata: { name: "b" }, spec }, budgets), budgets.strategy).map(
    ({ field, message }) => `${field}: ${message}`,
  );

it("A budget says one amount, as a count or a share", () => {
  expect(texts({ minAvailable: 1, selector: { matchLabels: { a: "b" } } })).toEqual([]);
  expect(texts({ maxUnavailable: "50%" })).toEqual([]);
  expect(texts({ minAvailable: 1, maxUnavailable: 1 })[0]).toContain("cannot be both set");
  expect(texts({ minAvailable: -1 })).toEqual([
    "spec.minAvailable: Invalid value: -1: must be greater than or equal to 0",
  ]);
  expect(texts({ maxUnavailable: "101%" })[0]).toContain("must not be greater than 100%");
});

it("Its selector is one, and its policy is known", () => {
  expect(texts({ selector: { matchExpressions: [{ key: "a", operator: "Foo" }] } })).toEqual([
    'spec.selector.matchExpressions[0].operator: Invalid value: "Foo": not a valid selector operator',
  ]);
  expect(texts({ unhealthyPodEvictionPolicy: "X" })).toEqual([
    'spec.unhealthyPodEvictionPolicy: Unsupported value: "X": supported values: "AlwaysAllow", "IfHealthyBudget"',
  ]);
});
