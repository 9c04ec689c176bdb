import { expect, it } from "vitest";
import { brokenRules, judgeRuled, messageOfRule, ruledSchema, type RuleName, rules } from "./rule-law.ts";

const all = Object.keys(rules) as RuleName[];

it("rules about the old value are broken by a change alone", () => {
  const before = { fixed: "x", count: 2, parts: [{ name: "a", size: 1, kind: "x" }] };
  expect(brokenRules(all, before, before)).toEqual([]);
  expect(brokenRules(all, { count: 1 }, before)).toEqual(["fixed-is-kept", "count-only-grows"]);
  expect(brokenRules(all, { fixed: "y" }, before)).toEqual(["fixed-stays"]);
  expect(brokenRules(all, { fixed: "y", count: 0 }, undefined)).toEqual([]);
});

it("elements are told apart by their keys, wherever they stand", () => {
  const a = { name: "a", size: 1, kind: "x" };
  const before = { parts: [a] };
  expect(brokenRules(all, { parts: [{ name: "b", size: 1, kind: "y" }, a] }, before)).toEqual([]);
  expect(brokenRules(all, { parts: [{ ...a, kind: "y" }] }, before)).toEqual(["kind-of-part-stays"]);
});

it("rules about a value are broken by that value alone", () => {
  const now = {
    low: 3,
    high: 1,
    list: ["bad", "x", "y"],
    parts: [{ name: "a", size: 3, kind: "x" }],
    words: { x: "" },
  };
  const broken = ["low-below-high", "low-is-even", "list-is-good", "list-is-short", "part-is-small", "words-without-x"];
  expect(brokenRules(all, now, undefined)).toEqual(broken);
  expect(brokenRules(["low-is-even"], now, undefined)).toEqual(["low-is-even"]);
});

it("only the rules that are asked for are in the schema", () => {
  expect(JSON.stringify(ruledSchema([], "x-"))).not.toContain("x-validations");
  expect(JSON.stringify(ruledSchema(["fixed-stays"], "x-")).match(/x-validations/g)).toHaveLength(1);
});

it("a refusal is in the words of what was broken", () => {
  expect(judgeRuled([], 200, "")).toBeUndefined();
  expect(judgeRuled([], 422, "")).toBeDefined();
  expect(judgeRuled(["fixed-stays"], 422, messageOfRule("fixed-stays"))).toBeUndefined();
  expect(judgeRuled(["fixed-stays"], 200, "")).toBeDefined();
  expect(judgeRuled(["fixed-stays"], 422, "invalid")).toBeDefined();
  expect(
    judgeRuled(["fixed-stays"], 422, `${messageOfRule("fixed-stays")} ${messageOfRule("list-is-good")}`),
  ).toBeDefined();
});
