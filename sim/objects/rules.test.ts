import { describe, expect, it } from "vitest";
import { svcDialect } from "../../wire/dialect.ts";
import { type Cause, toldCharactersMax } from "../contract/errors.ts";
import type { JsonObject } from "../contract/http-message.ts";
import { inTurns } from "../expressions/pace.ts";
import type { Check, Place, Rule } from "./place.ts";
import {
  all,
  always,
  atLeast,
  atMost,
  atMostItems,
  between,
  called,
  caseOf,
  distinct,
  each,
  eachUnnumbered,
  fieldRules,
  firstOf,
  fixed,
  forbidden,
  format,
  immutable,
  nonNegative,
  oneMember,
  oneOf,
  orNil,
  present,
  required,
  stepRules,
  type Table,
  struct,
  textThat,
  unlessEmpty,
  whenGiven,
  whenNew,
} from "./rules.ts";

const told = (causes: readonly Cause[]): readonly string[] =>
  causes.map(({ field, message }) => `${field}: ${message}`);

function found(object: JsonObject, parts: readonly (Table | Rule | Check)[], live?: JsonObject): readonly string[] {
  const causes: Cause[] = [];
  fieldRules(...parts)(object, causes, svcDialect, live);
  return told(causes);
}

const short = textThat((text) => text.length < 3, "too long");

it("Rows are judged in their order, and an absent field only by those that ask for it", () => {
  const table = {
    "spec.b": nonNegative,
    "spec.a": required(short),
    "spec.c": always(atLeast(1)),
    "spec.d": orNil(oneOf(["x"])),
    "spec.e": short,
  };
  expect(found({}, [table])).toEqual([
    "spec.a: Required value",
    "spec.c: Invalid value: 0: must be greater than or equal to 1",
    'spec.d: Unsupported value: "null": supported values: "x"',
  ]);
  expect(found({ spec: { a: "abc", b: -1, c: 1, d: "x", e: "long" } }, [table])).toEqual([
    "spec.b: Invalid value: -1: must be greater than or equal to 0",
    'spec.a: Invalid value: "abc": too long',
    'spec.e: Invalid value: "long": too long',
  ]);
});

it("A zero is as good as absent where a field is required, and not where it must be present", () => {
  expect(found({ a: "", b: [], c: 0, d: "" }, [{ a: required(), b: required(), c: required(), d: present() }])).toEqual(
    ["a: Required value", "b: Required value", "c: Required value"],
  );
  expect(found({ a: "" }, [{ a: unlessEmpty(forbidden("no")) }])).toEqual([]);
  expect(found({ a: "x" }, [{ a: unlessEmpty(forbidden("no")) }])).toEqual(["a: Forbidden: no"]);
});

it("Items are named by their place, and repeated ones are told within one list", () => {
  const item = struct({ name: all(short, distinct), inner: each(distinct) });
  const object = {
    list: [
      { name: "a", inner: [1, 1] },
      { name: "a", inner: [1] },
    ],
    map: { "a/b": "long" },
  };
  expect(found(object, [{ list: each(item) }])).toEqual([
    "list[0].inner[1]: Duplicate value: 1",
    'list[1].name: Duplicate value: "a"',
  ]);
  expect(found(object, [{ list: atMostItems(1), map: atMostItems(1) }])).toEqual([
    "list: Too many: 2: must have at most 1 items",
  ]);
});

it("What crosses fields stands between the rows", () => {
  const check = ({ low = 0, high = 0 }: Readonly<Record<string, number>>, at: Place): void => {
    if (low > high) at.of("low").invalid(low, "above high");
  };
  const range = struct({ low: between(0, 9) }, check, { high: between(0, 9) });
  expect(found({ spec: { range: { low: 12, high: 11 } } }, [{ "spec.range": range }])).toEqual([
    "spec.range.low: Invalid value: 12: must be between 0 and 9, inclusive",
    "spec.range.low: Invalid value: 12: above high",
    "spec.range.high: Invalid value: 11: must be between 0 and 9, inclusive",
  ]);
});

it("A union asks for what its word stands for; an inherited name is no word", () => {
  const union = caseOf("type", { A: { a: required(), b: forbidden("not with A") } });
  expect(found({ type: "A", b: "x" }, [union])).toEqual(["a: Required value", "b: Forbidden: not with A"]);
  expect(found({ type: "constructor", b: "x" }, [union])).toEqual([]);
});

it("Causes may know a field by another name, or pass over it", () => {
  const table = { metadata: called("", struct({ labels: called("tags", forbidden("no")) })) };
  expect(found({ metadata: { labels: {} } }, [{ template: struct(table) }])).toEqual([]);
  expect(found({ template: { metadata: { labels: {} } } }, [{ template: struct(table) }])).toEqual([
    "template.tags: Forbidden: no",
  ]);
});

it("The first that finds something is the last; some only look at what is new", () => {
  const rule = firstOf(
    short,
    format((text) => (text.includes("a") ? ["has an a"] : [])),
  );
  expect(found({ a: "aaa" }, [{ a: rule }])).toEqual(['a: Invalid value: "aaa": too long']);
  expect(found({ a: "a" }, [{ a: whenNew(rule) }])).toEqual(['a: Invalid value: "a": has an a']);
  expect(found({ a: "a" }, [{ a: whenNew(rule) }], {})).toEqual([]);
});

it("What holds is not judged, and what is fine when absent is not looked at", () => {
  const counts = { tests: 0, judgements: 0 };
  const even: Rule = {
    zero: 0,
    holds: (number: number) => ++counts.tests > 0 && number % 2 === 0,
    judge(number: number, at) {
      counts.judgements++;
      at.invalid(number, "is odd");
    },
  };
  const table = { "spec.a": always(even), list: each(struct({ b: even })), c: unlessEmpty(even) };
  const judge = fieldRules(table);
  const judged = (object: JsonObject): readonly string[] => {
    Object.assign(counts, { tests: 0, judgements: 0 });
    const causes: Cause[] = [];
    judge(object, causes, svcDialect);
    return told(causes);
  };
  expect(judged({})).toEqual([]);
  expect(counts).toEqual({ tests: 0, judgements: 0 });
  expect(judged({ spec: { a: 2 }, list: [{ b: 4 }, {}], c: 0 })).toEqual([]);
  expect(counts.judgements).toBe(0);
  expect(judged({ spec: { a: 1 }, list: [{ b: 2 }, { b: 3 }], c: 9 })).toEqual([
    "spec.a: Invalid value: 1: is odd",
    "list[1].b: Invalid value: 3: is odd",
    "c: Invalid value: 9: is odd",
  ]);
  expect(counts.judgements).toBe(3);
});

it("Of a wide table rows are told in their order, whatever the order of the fields", () => {
  const names = [..."abcdefgh"];
  const counts = Object.fromEntries(names.map((name) => [name, atLeast(1)]));
  const wide = [counts, { c: required(atMost(5)), i: required(), j: always(oneOf(["x"])) }];
  expect(found({ h: 0, x: 1, b: 2, a: 0, c: null }, wide)).toEqual([
    "a: Invalid value: 0: must be greater than or equal to 1",
    "h: Invalid value: 0: must be greater than or equal to 1",
    "c: Required value",
    "i: Required value",
    'j: Unsupported value: "": supported values: "x"',
  ]);
  expect(found({ j: "x", i: "y", c: 6, a: undefined as unknown as number }, wide)).toEqual([
    "c: Invalid value: 6: must be less than or equal to 5",
  ]);
  expect(found({ j: "x", i: "y", c: 5 }, wide)).toEqual([]);
});

it("Of members that exclude each other the first is judged, and more are told; a list may stand for its items", () => {
  const members = { a: struct({ x: required() }), b: called("B", struct({ y: short })), c: struct() };
  const union = oneMember(members, { none: "one of them", more: "only one" }, { c: "C" });
  expect(found({}, [{ it: struct(union) }])).toEqual([]);
  expect(found({ it: { z: 1 } }, [{ it: struct(union) }])).toEqual(["it: Required value: one of them"]);
  expect(found({ c: {}, b: { y: "long" } }, [union])).toEqual([
    'B.y: Invalid value: "long": too long',
    "C: Forbidden: only one",
  ]);
  expect(found({ list: ["a", "long"] }, [{ list: eachUnnumbered(short) }])).toEqual([
    'list: Invalid value: "long": too long',
  ]);
  expect(found({}, [{ a: whenGiven(required()) }])).toEqual([]);
});

it("Steps are judged from what was there before", () => {
  const causes: Cause[] = [];
  const steps = stepRules({
    "spec.a": immutable(""),
    "spec.b": immutable(),
    "spec.c": fixed((at) => at.forbidden("stays")),
  });
  steps({ spec: { a: "", c: [1] } }, { spec: { b: "x", c: [1] } }, causes, "", svcDialect);
  steps({ spec: { a: "y", c: [2] } }, {}, causes, "", svcDialect);
  expect(told(causes)).toEqual([
    'spec.b: Invalid value: "null": field is immutable',
    'spec.a: Invalid value: "y": field is immutable',
    "spec.c: Forbidden: stays",
  ]);
});

it("What is wrong with a text is looked for once, and again in the next object", () => {
  let askedCount = 0;
  const form = format((text) => {
    askedCount++;
    return text === "" ? [] : [`not ${text}`];
  });
  const rules = fieldRules({ name: required(form) });
  const textsOf = (name: string): readonly string[] => {
    const causes: Cause[] = [];
    rules({ name }, causes, svcDialect);
    return told(causes);
  };
  expect([textsOf("b"), askedCount]).toEqual([['name: Invalid value: "b": not b'], 1]);
  expect([textsOf("b"), askedCount]).toEqual([['name: Invalid value: "b": not b'], 2]);
});

describe("a long list", () => {
  const item = struct({ name: all(short, distinct) as Rule, names: each(all(short, distinct)) });
  const rules = fieldRules({ items: each(item), others: required(each(all(short, distinct))) });
  const causesOf = (object: JsonObject): readonly Cause[] => {
    const causes: Cause[] = [];
    rules(object, causes, svcDialect);
    return causes;
  };
  const names = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `${at % (count - 30)}`);
  const wide: JsonObject = {
    items: names(2_000).map((name) => ({ name })),
    others: names(50_000),
  };
  const deep: JsonObject = { items: [{ names: names(40_000) }, ...names(300).map((name) => ({ name }))] };

  it.each([
    ["wide", wide],
    ["deep", deep],
  ])("is judged in turns as at once: %s", (_, object) => {
    const judged = inTurns(() => causesOf(object));
    let turnCount = 1;
    let step = judged.next();
    for (; step.done !== true; step = judged.next()) turnCount++;
    expect(step.value).toEqual(causesOf(object));
    expect(turnCount).toBeGreaterThanOrEqual(2);
  });

  it("is judged no further when nobody would be told", () => {
    let judgedCount = 0;
    const check: Check = (text: string, at) => {
      judgedCount++;
      at.invalid(text, "wrong".repeat(1_000));
    };
    const causes: Cause[] = [];
    fieldRules({ items: each(check) })({ items: names(50_000) }, causes, svcDialect);
    expect(judgedCount).toBeLessThan(300);
    expect(causes).toHaveLength(judgedCount);
    expect(causes.reduce((sum, { message }) => sum + message.length, 0)).toBeGreaterThan(toldCharactersMax);
  });
});
