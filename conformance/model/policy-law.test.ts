import { expect, it } from "vitest";
import { failedBy, judgeDenial, judgePolicyWarnings, messageOfValidation, type ModelPolicy } from "./policy-law.ts";

const policy: ModelPolicy = {
  operations: ["CREATE", "UPDATE", "DELETE"],
  unless: undefined,
  team: undefined,
  validations: ["no-bad-value", "value-stays", "good-is-kept"],
};
const state = (value: string, team = "red") => ({ value, team });

it("a policy is about the operations, conditions and objects that it names", () => {
  const change = { before: state("good"), after: state("bad", "blue") };
  expect(failedBy(policy, change)).toEqual(["no-bad-value", "value-stays"]);
  expect(failedBy({ ...policy, operations: ["CREATE"] }, change)).toEqual([]);
  expect(failedBy({ ...policy, unless: "UPDATE" }, change)).toEqual([]);
  expect(failedBy({ ...policy, team: "green" }, change)).toEqual([]);
  expect(failedBy({ ...policy, team: "red" }, change)).toHaveLength(2); // it was red before
});

it("a creation has nothing before it, and a deletion nothing after", () => {
  expect(failedBy(policy, { before: undefined, after: state("bad") })).toEqual(["no-bad-value"]);
  expect(failedBy(policy, { before: state("good"), after: undefined })).toEqual(["good-is-kept"]);
  expect(failedBy(policy, { before: state("bad"), after: undefined })).toEqual([]);
});

it("a denial is a refusal in the words of what failed", () => {
  const words = `denied request: ${messageOfValidation("value-stays")}`;
  expect(judgeDenial(["value-stays"], 422, words)).toBeUndefined();
  expect(judgeDenial(["value-stays"], 200, "")).toBeDefined();
  expect(judgeDenial(["value-stays"], 500, words)).toBeDefined();
  expect(judgeDenial(["value-stays"], 422, "denied request")).toBeDefined();
  expect(judgeDenial(["no-bad-value"], 422, words)).toBeDefined();
});

it("a warning is told of each that failed, and of no other", () => {
  const warning = `Validation failed: ${messageOfValidation("no-bad-value")}`;
  expect(judgePolicyWarnings(["no-bad-value"], [warning, "of something else"])).toBeUndefined();
  expect(judgePolicyWarnings([], [])).toBeUndefined();
  expect(judgePolicyWarnings(["no-bad-value"], [])).toBeDefined();
  expect(judgePolicyWarnings([], [warning])).toBeDefined();
  expect(judgePolicyWarnings(["no-bad-value"], [warning, warning])).toBeDefined();
});
