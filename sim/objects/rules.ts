/**
 * Rules as tables: what each field of a type must be, a row each, in the order in which causes are told. What crosses
 * fields is a function between the rows. A table is put together once; judging an object walks it.
 */
import type { Dialect } from "../../wire/dialect.ts";
import type { Cause } from "../contract/errors.ts";
import type { Json, JsonObject } from "../contract/http-message.ts";
import { jsonEqual } from "./equality.ts";
import type { KindRules } from "./kind-rules.ts";
import { pacedParts } from "../expressions/pace.ts";
import { valueCount } from "./members.ts";
import { type Check, inParts, longMin, Place, type Rule, ruleOf } from "./place.ts";

/** Fields, or paths of fields (`spec.selector`), of which those on the way may be absent. */
export type Table = Readonly<Record<string, Rule | Check>>;

/** What is asked of one field, or of the whole. All rows are made by `rowOf`, so that reading them is fast. */
interface Row {
  /** Undefined for the whole. */
  readonly field: string | undefined;
  readonly judge: Check;
  readonly holds: Rule["holds"];
  readonly absent: Json | undefined;
  readonly called: string;
}

/** An object: rows of tables and judgements of the whole, one after the other. */
export function struct(...parts: readonly (Table | Rule | Check)[]): Rule {
  const rows = parts.flatMap((part): readonly Row[] => (isRule(part) ? rowsOfPart(part) : rowsOf(part)));
  const judge = judgeOf(rows);
  rowsOfStructs.set(judge, rows);
  if (rows.some(({ holds }) => holds === undefined)) return { zero: {}, judge };
  return { zero: {}, judge, holds: (value: JsonObject) => rowsHold(rows, value) };
}

/** By their judges: a struct that is a part of another lends it its rows. */
const rowsOfStructs = new WeakMap<Check, readonly Row[]>();

const rowsOfPart = (part: Rule | Check): readonly Row[] =>
  rowsOfStructs.get(ruleOf(part).judge) ?? [rowOf(undefined, part)];

function rowsHold(rows: readonly Row[], value: JsonObject): boolean {
  for (let index = 0; index < rows.length; index++) {
    const { field, holds, absent } = rows[index] as Row;
    const found = field === undefined ? value : (value[field] ?? absent);
    if (found !== undefined && holds?.(found as never) !== true) return false;
  }
  return true;
}

/** Rows are as many as bits of a number at most, where an object is looked at by the fields that it has. */
const rowCountMax = 31;
const rowCountMin = 8; // of a short table all are looked at as fast

function judgeOf(rows: readonly Row[]): (value: JsonObject, at: Place) => void {
  if (rows.length < rowCountMin || rows.length > rowCountMax) {
    return (value, at) => {
      for (let index = 0; index < rows.length; index++) judgeRow(rows[index] as Row, value, at);
    };
  }
  const known = new Map(rows.flatMap(({ field }) => (field === undefined ? [] : [[field, rowsOfField(rows, field)]])));
  const always = bits(rows, ({ field, absent }) => field === undefined || absent !== undefined);
  return (value, at) => {
    let left = always;
    for (const field in value) {
      const ofField = known.get(field);
      if (ofField === undefined) continue;
      const found = value[field];
      const isFine = isThere(found) && ofField.holds?.(found as never) === true;
      left = isFine ? left & ~ofField.bits : left | ofField.bits;
    }
    for (; left !== 0; left &= left - 1) judgeRow(rows[31 - Math.clz32(left & -left)] as Row, value, at);
  };
}

function rowsOfField(rows: readonly Row[], name: string): { readonly bits: number; readonly holds: Rule["holds"] } {
  const own = rows.filter(({ field }) => field === name);
  return { bits: bits(rows, ({ field }) => field === name), holds: allHold(own) };
}

/** A bit for each row that is chosen. */
const bits = (rows: readonly Row[], isChosen: (row: Row) => boolean): number =>
  rows.reduce((sum, row, index) => (isChosen(row) ? sum | (1 << index) : sum), 0);

function judgeRow({ field, judge, holds, absent, called }: Row, value: JsonObject, at: Place): void {
  const found = field === undefined ? value : (value[field] ?? absent);
  if (found === undefined || holds?.(found as never) === true) return;
  if (called === "") judge(found as never, at);
  else {
    at.enter(called);
    judge(found as never, at);
    at.leave();
  }
}

const isRule = (part: Table | Rule | Check): part is Rule | Check =>
  typeof part === "function" || typeof part["judge"] === "function";

/** What an absent field is judged as is dropped when nothing is wrong with it: that is known beforehand. */
function rowOf(field: string | undefined, rule: Rule | Check): Row {
  const { judge, holds, absent, called } = ruleOf(rule);
  const isFineAbsent = absent !== undefined && holds?.(absent as never) === true;
  return { field, judge, holds, absent: isFineAbsent ? undefined : absent, called: called ?? field ?? "" };
}

const rowsOf = (table: Table): readonly Row[] => withoutDots(table).map(([field, rule]) => rowOf(field, rule));

/** Neighbours on one path (`spec.a`, `spec.b`) are rows of one table below it. */
function withoutDots(table: Table): readonly (readonly [field: string, rule: Rule | Check])[] {
  const groups: { readonly field: string; readonly below: Record<string, Rule | Check>; rule?: Rule | Check }[] = [];
  for (const [path, rule] of Object.entries(table)) {
    const [field = "", ...rest] = path.split(".");
    const last = groups.at(-1);
    if (rest.length === 0) groups.push({ field, below: {}, rule });
    else if (last !== undefined && last.rule === undefined && last.field === field) last.below[rest.join(".")] = rule;
    else groups.push({ field, below: { [rest.join(".")]: rule } });
  }
  return groups.map(({ field, below, rule = always(struct(below)) }) => [field, rule]);
}

/** Each item of a list. */
export function each(item: Rule | Check): Rule {
  const { judge, holds } = ruleOf(item);
  return {
    zero: [],
    ...holding(holds && ((list: readonly never[]) => allItemsHold(list, holds))),
    judge: (list: readonly Json[], at) => at.eachInParts(list, judge, holds),
  };
}

function allItemsHold(list: readonly never[], holds: NonNullable<Rule["holds"]>): boolean {
  if (list.length < longMin) return list.every((one) => holds(one));
  const part = (from: number, end: number): HeldPart => {
    let isFine = true;
    for (let at = from; at < end && isFine; at++) isFine = holds(list[at] as never);
    return { isFine, from };
  };
  const costOf = ({ from }: HeldPart, length: number): number => heldCost * valueCount(list, from, length);
  for (const { isFine } of pacedParts(list.length, part, costOf)) if (!isFine) return false;
  return true;
}

interface HeldPart {
  readonly isFine: boolean;
  readonly from: number;
}

/** Of a value, by the measure of expressions. */
const heldCost = 2;

/** Each item of a list, told as if it were the list. */
export function eachUnnumbered(item: Rule | Check): Rule {
  const { judge, holds } = ruleOf(item);
  return {
    ...each(item),
    judge(list: readonly Json[], at) {
      const some = (from: number, end: number): void => {
        for (let index = from; index < end; index++) {
          if (holds?.(list[index] as never) !== true) judge(list[index] as never, at);
        }
      };
      // By what is asked of one alone: what is told once of a list would have to be told by its parts.
      if (at.itemCount > 1) some(0, list.length);
      else inParts(at.causes, list.length, unnumberedCost, some);
    },
  };
}

/** Of an item that is told as the list, by the measure of expressions. */
const unnumberedCost = 12;

/** More rows, by what a field says; `others` for words that are not in `tables`. */
export function caseOf(field: string, tables: Readonly<Record<string, Table>>, others: Table = {}): Rule {
  const cases = new Map(Object.entries(tables).map(([word, table]) => [word, struct(table)]));
  const otherCase = struct(others);
  const caseFor = (value: JsonObject): Rule => cases.get((value[field] ?? "") as string) ?? otherCase;
  return {
    zero: {},
    ...holding(
      allHold([otherCase, ...cases.values()]) &&
        ((value: JsonObject) => caseFor(value).holds?.(value as never) === true),
    ),
    judge: (value: JsonObject, at) => caseFor(value).judge(value as never, at),
  };
}

/**
 * One of some members, each an object. The first that is there is judged, any other is one too many; causes of those may
 * know a member by yet another name.
 */
export function oneMember(
  members: Readonly<Record<string, Rule>>,
  texts: { readonly none: string; readonly more: string },
  calledAsMore: Readonly<Record<string, string>> = {},
): Check {
  const rules = new Map(Object.entries(members));
  return (value: JsonObject, at: Place) => {
    let [count, first] = [0, ""];
    for (const field in value) if (rules.has(field) && isThere(value[field])) [count, first] = [count + 1, field];
    if (count === 0) at.required(texts.none);
    const given = count > 1 ? [...rules.keys()].filter((field) => isThere(value[field])) : undefined;
    if (given !== undefined) first = given[0] as string;
    const rule = rules.get(first);
    if (rule !== undefined) at.judge(rule.called ?? first, value[first], rule);
    for (const field of given?.slice(1) ?? []) at.of(calledAsMore[field] ?? field).forbidden(texts.more);
  };
}

const isThere = (value: Json | undefined): boolean => value !== undefined && value !== null;

/** Several rules for one value. */
export function all(first: Rule | Check, ...more: readonly (Rule | Check)[]): Rule {
  const rules = [first, ...more].map(ruleOf);
  const [{ zero, absent }] = rules as [Rule];
  return {
    zero,
    ...(absent === undefined ? undefined : { absent }),
    ...holding(allHold(rules)),
    judge(value, at) {
      for (let index = 0; index < rules.length; index++) rules[index]?.judge(value, at);
    },
  };
}

const holding = (holds: Rule["holds"]): Pick<Rule, "holds"> => (holds === undefined ? {} : { holds });

/** Undefined unless all can tell. */
function allHold(rules: readonly { readonly holds?: Rule["holds"] }[]): Rule["holds"] {
  const tests = rules.flatMap(({ holds }) => holds ?? []);
  if (tests.length < rules.length) return undefined;
  if (tests.length === 1) return tests[0];
  return (value) => {
    for (let index = 0; index < tests.length; index++) if (tests[index]?.(value) !== true) return false;
    return true;
  };
}

/** As `all`, up to the first that finds something wrong. */
export function firstOf(...rules: readonly [Rule | Check, ...(Rule | Check)[]]): Rule {
  const parts = rules.map(ruleOf);
  return {
    ...all(...rules),
    judge(value, at) {
      const countBefore = at.causes.length;
      for (let index = 0; index < parts.length && at.causes.length === countBefore; index++) {
        const { judge, holds } = parts[index] as Rule;
        if (holds?.(value) !== true) judge(value, at);
      }
    },
  };
}

/** An absent field is judged as its zero. */
export const always = (rule: Rule): Rule => ({ ...rule, absent: rule.zero });

/** An absent field is not judged after all. */
export function whenGiven({ absent: _, ...rule }: Rule): Rule {
  return rule;
}

/** The field is there, and no zero; then it is judged by `rule`. */
export function required(rule: Rule | Check = fine, detail?: string): Rule {
  return { ...unless(isZero, rule, (at) => at.required(detail)), absent: null };
}

/** Anything that is there will do. */
export const fine: Rule = { zero: null, holds: () => true, judge() {} };
export const anyText: Rule = { ...fine, zero: "" };

/** `tell` is told of values that are `excepted`, all others are judged. Without it nothing is wrong with them. */
function unless(excepted: (value: Json) => boolean, rule: Rule | Check, tell?: (at: Place) => void): Rule {
  const inner = ruleOf(rule);
  const { judge, holds } = inner;
  return {
    ...inner,
    holds: (value: Json) => (excepted(value) ? tell === undefined : holds?.(value as never) === true),
    judge(value: Json, at) {
      if (!excepted(value)) judge(value as never, at);
      else tell?.(at);
    },
  };
}

const isZero = (value: Json): boolean =>
  value === null || value === "" || value === 0 || (Array.isArray(value) && value.length === 0);

/** The field is there, be it a zero. */
export const present = (rule: Rule | Check = fine, detail?: string): Rule => ({
  ...unless(
    (value) => value === null,
    rule,
    (at) => at.required(detail),
  ),
  absent: null,
});

/** An absent field is judged as Go's nil. */
export const orNil = (rule: Rule): Rule => ({ ...rule, absent: null });

/** The field may not be there. */
export const forbidden =
  (detail: string): Check =>
  (_value, at) =>
    at.forbidden(detail);

/** A text or a list that says nothing is as good as none. */
export const unlessEmpty = (rule: Rule | Check): Rule => unless(isZero, rule);

/** Judged in new objects alone. */
export function whenNew(rule: Rule | Check): Rule {
  const inner = ruleOf(rule);
  const { judge } = inner;
  return {
    ...inner,
    judge(value, at) {
      if (at.live === undefined) judge(value, at);
    },
  };
}

/** Causes call the field so; by nothing when it is "". */
export const called = (name: string, rule: Rule | Check): Rule => ({ ...ruleOf(rule), called: name });

/** A text of a form; `errors` say what is wrong with it, and are asked once: the text may be long. */
export function format(errors: (text: string) => readonly string[]): Rule {
  /** What is not well, until it is told. */
  let refused: { readonly text: string; readonly found: readonly string[] } | undefined;
  const errorsOf = (text: string): readonly string[] => (refused?.text === text ? refused.found : errors(text));
  return {
    zero: "",
    holds(text: string) {
      const found = errorsOf(text);
      refused = found.length === 0 ? undefined : { text, found };
      return found.length === 0;
    },
    judge(text: string, at) {
      const found = errorsOf(text);
      refused = undefined;
      at.invalidFor(text, found);
    },
  };
}

/** One of some words. */
export const oneOf = (supported: readonly string[]): Rule => ({
  zero: "",
  holds: (text: string) => supported.includes(text),
  judge(text: string, at) {
    if (!supported.includes(text)) at.unsupported(text, supported);
  },
});

const must = <Value>(holds: (value: Value) => boolean, detail: string, zero: Json): Rule => ({
  zero,
  holds,
  judge(value: Value, at) {
    if (!holds(value)) at.invalid(value, detail);
  },
});

export const textThat = (holds: (text: string) => boolean, detail: string): Rule => must(holds, detail, "");

const numberThat = (holds: (number: number) => boolean, detail: string): Rule => must(holds, detail, 0);

export const atLeast = (min: number, detail = `must be greater than or equal to ${min}`): Rule =>
  numberThat((number) => number >= min, detail);

export const atMost = (max: number, detail = `must be less than or equal to ${max}`): Rule =>
  numberThat((number) => number <= max, detail);

export const between = (min: number, max: number, detail = `must be between ${min} and ${max}, inclusive`): Rule =>
  numberThat((number) => number >= min && number <= max, detail);

/** Counts and durations. */
export const nonNegative = atLeast(0);

/** No longer text. */
export const atMostLength = (max: number): Rule => ({
  zero: "",
  holds: (text: string) => text.length <= max,
  judge(text: string, at) {
    if (text.length > max) at.tooLong(max);
  },
});

/** A list, or the keys of a map: no more of them. */
export const atMostItems = (max: number): Rule => ({
  zero: null,
  holds: (items: readonly Json[] | JsonObject) => countOf(items) <= max,
  judge(items: readonly Json[] | JsonObject, at) {
    const count = countOf(items);
    if (count > max) at.tooMany(count, max);
  },
});

const countOf = (items: readonly Json[] | JsonObject): number =>
  Array.isArray(items) ? items.length : Object.keys(items).length;

/** No two items of the list in which this is have the same here. */
export const distinct: Rule = {
  zero: "",
  judge(value: Json, at) {
    if (at.isAgain(distinct, value)) at.duplicate(value);
  },
};

/** Those fields, all by one rule. */
export const fields = (names: readonly string[], rule: Rule | Check): Table =>
  Object.fromEntries(names.map((name) => [name, rule]));

/** Causes of an object by itself. */
export function fieldRules(...parts: readonly (Table | Rule | Check)[]): NonNullable<KindRules["validate"]> {
  const judge = judgeWhole(parts);
  return (object, causes, dialect, live) => judge(object, causes, dialect, live);
}

/** Causes of a write of the status alone. */
export function statusFieldRules(
  ...parts: readonly (Table | Rule | Check)[]
): NonNullable<KindRules["validateStatus"]> {
  const judge = judgeWhole(parts);
  return (object, live, causes, dialect) => judge(object, causes, dialect, live);
}

/** The place of one judgement serves the next: small objects are judged faster than a place is made. */
function judgeWhole(parts: readonly (Table | Rule | Check)[]) {
  const { judge, holds } = struct(...parts);
  let spare: Place | undefined;
  return (object: JsonObject, causes: Cause[], dialect: Dialect, live: JsonObject | undefined): void => {
    if (holds?.(object as never) === true) return;
    const at = spare ?? new Place(causes, dialect, live);
    spare = undefined; // until this judgement has ended well
    at.begin(causes, dialect, live);
    judge(object as never, at);
    spare = at;
  };
}

/** Judges how a field changes: to what it is now, from what it was before. */
export type Step = (now: Json | undefined, before: Json | undefined, at: Place) => void;

/** Causes of the step from what an object replaces, by fields or paths of fields. */
export function stepRules(table: Readonly<Record<string, Step>>): NonNullable<KindRules["validateUpdate"]> {
  const rows = Object.entries(table).map(([path, step]) => ({ steps: path.split("."), path, step }));
  return (object, live, causes, _subresource, dialect) => {
    for (let index = 0; index < rows.length; index++) {
      const { steps, path, step } = rows[index] as (typeof rows)[number];
      const now = valueAt(object, steps);
      const before = valueAt(live, steps);
      if (now !== before) step(now, before, new Place(causes, dialect, live, path));
    }
  };
}

function valueAt(object: JsonObject, path: readonly string[]): Json | undefined {
  let value: Json | undefined = object;
  for (const field of path) value = (value as JsonObject | undefined)?.[field];
  return value;
}

/** A field that stays as it is; an absent one is as good as `zero`. `tell` is told of a change, and what it is now. */
export function fixed(tell: (at: Place, now: Json | undefined) => void, zero?: Json): Step {
  return (now = zero, before = zero, at) => {
    if (!jsonEqual(now, before)) tell(at, now);
  };
}

const immutableDetail = "field is immutable";

export const immutable = (zero?: Json): Step => fixed((at, now) => at.invalid(now, immutableDetail), zero);

/** `shown` says how Go prints it. */
export const immutableAs = (shown: (now: Json | undefined) => string, zero?: Json): Step =>
  fixed((at, now) => at.invalidText(shown(now), immutableDetail), zero);
