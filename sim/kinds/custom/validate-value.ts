/**
 * Judges a value by a schema: types, limits, enums, patterns, formats, and the junctions. The order of causes and the
 * texts are the real server's validator's; fields come in byte order, where that server's order is left to chance.
 * Source: recorded answers (create-out-of-range, create-wrong-type); the published validator's texts.
 */
import { sortByBytes, encodeJson, goQuote } from "../../../wire/go-strings.ts";
import { type Cause, toldCharactersMax } from "../../contract/errors.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { forbiddenField, invalidValue, requiredValue, tooLongValue, unsupportedValue } from "../../objects/causes.ts";
import { isObject } from "../../contract/objects.ts";
import { isLargeValue } from "../../objects/value-limit.ts";
import { paced, pacedParts } from "../../expressions/pace.ts";
import { isOfFormat } from "../../expressions/library/formats.ts";
import type { Schema } from "./schema.ts";

/** Causes for refusing `value` at `path` ("" for the root); empty when it may be stored. */
export function validateValue(value: Json, schema: Schema, path = ""): Cause[] {
  const whole = newVerdict({ left: alternativeStepsMax }, isLargeValue(value));
  const judged = (): Verdict => verdictOn(whole, (verdict) => judge(value, schema, path, verdict));
  return said(paced(judged, costOf));
}

/**
 * Values that are judged by schemas in junctions, at any depth, for one object: a hundred thousand items, each by two thousand, would keep
 * everybody waiting. Simplification: the real server has no such bound.
 */
const alternativeStepsMax = 400_000;

interface Steps {
  left: number;
}

/** Put into words when it is told: of most alternatives nothing is. */
type Say = () => Cause;

interface Verdict {
  readonly causes: Say[];
  /** Below zero: enough is told, which is never nothing, and nothing more is looked for. */
  charactersLeft: number;
  /** Judges that found nothing wrong: of several failed alternatives the one with most is told of. */
  matches: number;
  /** Shared by all verdicts on one object. */
  readonly steps: Steps;
  /** By a schema in a junction: each value that it looks at is counted, and nothing is told yet. */
  readonly isInside: boolean;
  /** On a large object: lists and maps are judged some parts at a time, between which the judgement may be broken off. */
  readonly isInParts: boolean;
  /** What it took, without its parts, by the measure of expressions (`pace.ts`). */
  cost: number;
}

/** On a whole object. */
const newVerdict = (steps: Steps, isInParts: boolean): Verdict => ({
  causes: [],
  charactersLeft: toldCharactersMax,
  matches: 0,
  steps,
  isInside: false,
  isInParts,
  cost: 0,
});

const said = ({ causes }: Verdict): Cause[] => causes.map((say) => say());

/** Judges the items of a list, or the members of a map, by their numbers. */
function judgeEach(count: number, verdict: Verdict, judgeOne: (at: number, verdict: Verdict) => void): void {
  if (!verdict.isInParts) {
    for (let at = 0; at < count; at++) judgeOne(at, verdict);
    return;
  }
  const judgeSome = (from: number, end: number): Verdict =>
    verdictOn(verdict, (own) => {
      for (let at = from; at < end; at++) judgeOne(at, own);
    });
  for (const part of pacedParts(count, judgeSome, costOf)) {
    for (const say of part.causes) verdict.causes.push(say);
    verdict.charactersLeft = part.charactersLeft;
    verdict.steps.left = part.steps.left;
    if (verdict.charactersLeft < 0) return;
  }
}

const costOf = ({ cost }: Verdict): number => cost;

/** A verdict that begins with what `outer` has left, and is not changed once it is made. */
function verdictOn(outer: Verdict, judgeIt: (verdict: Verdict) => void): Verdict {
  const verdict = { ...outer, causes: [], matches: 0, steps: { ...outer.steps }, cost: 0 };
  judgeIt(verdict);
  return verdict;
}

/** By a schema in a junction. */
function verdictInside(value: Json, schema: Schema, path: string, outer: Verdict): Verdict {
  const { steps, charactersLeft } = outer;
  const verdict: Verdict = {
    causes: [],
    charactersLeft,
    matches: 0,
    steps,
    isInside: true,
    isInParts: false,
    cost: 0,
  };
  judge(value, schema, path, verdict);
  outer.cost += verdict.cost;
  return verdict;
}

/** Of a cause that is put into words. */
const causeCost = 8;

function blame(verdict: Verdict, say: Say): void {
  if (verdict.isInside) {
    verdict.causes.push(say);
    return;
  }
  const cause = say();
  verdict.cost += causeCost;
  verdict.causes.push(() => cause);
  verdict.charactersLeft -= cause.message.length + (cause.field?.length ?? 0);
}

type Judge = (value: Json, schema: Schema, path: string, verdict: Verdict) => void;

/** An item or a field. */
function judgePart(value: Json, schema: Schema, path: string, verdict: Verdict): void {
  if (verdict.isInside && isSpent(verdict, value, path)) return;
  judge(value, schema, path, verdict);
}

function judge(value: Json, schema: Schema, path: string, verdict: Verdict): void {
  if (value === null && schema.nullable) return;
  const judges = value === null ? judgesOfNull : judgesOfAll;
  for (const each of judges) {
    if (verdict.charactersLeft < 0) return;
    const before = verdict.causes.length;
    each(value, schema, path, verdict);
    if (verdict.causes.length === before) verdict.matches++;
  }
  verdict.cost += judges.length;
}

function judgeType(value: Json, schema: Schema, path: string, verdict: Verdict): void {
  const found = typeOf(value);
  if (schema.intOrString) {
    if (found !== "integer" && found !== "string") blame(verdict, () => wrongType(path, "integer,string", found));
    return;
  }
  const { type } = schema;
  if (type === "" || type === found || (type === "number" && found === "integer")) return;
  blame(verdict, () => wrongType(path, type, found));
}

const int64Bound = Number(9_223_372_036_854_775_808n);

function typeOf(value: Json): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  // What is beyond 64 bits is no integer, whether it has a fraction or not.
  if (typeof value === "number") return Number.isInteger(value) && Math.abs(value) < int64Bound ? "integer" : "number";
  return typeof (value as unknown) === "bigint" ? "integer" : typeof value;
}

const inBody = (path: string): string => `${path} in body`;

function wrongType(path: string, wanted: string, found: string): Cause {
  return {
    reason: "FieldValueTypeInvalid",
    message: `Invalid value: ${goQuote(found)}: ${inBody(path)} must be of type ${wanted}: ${goQuote(found)}`,
    field: fieldOf(path),
  };
}

/** A failure of the whole object has no field. */
const fieldOf = (path: string): string => (path === "" ? "<nil>" : path);

function fail(verdict: Verdict, path: string, value: Json, text: string): void {
  blame(verdict, () => invalidValue(fieldOf(path), value, `${inBody(path)} ${text}`));
}

function judgeJunctions(value: Json, schema: Schema, path: string, verdict: Verdict): void {
  const { anyOf, oneOf, allOf, not } = schema;
  if (anyOf.length > 0) {
    const { accepted, best } = alternatives(value, anyOf, path, verdict);
    if (accepted === 0) disjoined(verdict, path, "must validate at least one schema (anyOf)", best);
  }
  if (oneOf.length > 0) {
    const { accepted, best } = alternatives(value, oneOf, path, verdict);
    if (accepted !== 1) {
      const found = accepted === 0 ? "Found none valid" : `Found ${accepted} valid alternatives`;
      disjoined(verdict, path, `must validate one and only one schema (oneOf). ${found}`, accepted === 0 ? best : []);
    }
  }
  if (allOf.length > 0) {
    const before = verdict.causes.length;
    let accepted = 0;
    for (const each of allOf) {
      if (isSpent(verdict, value, path)) break;
      const { causes } = verdictInside(value, each, path, verdict);
      if (causes.length === 0) accepted++;
      for (const say of causes) blame(verdict, say);
      if (verdict.charactersLeft < 0) break;
    }
    if (verdict.causes.length > before) {
      disjoined(verdict, path, `must validate all the schemas (allOf)${accepted === 0 ? ". None validated" : ""}`, []);
    }
  }
  if (not === undefined || isSpent(verdict, value, path)) return;
  const { causes } = verdictInside(value, not, path, verdict);
  if (!isOut(verdict, path) && causes.length === 0) {
    disjoined(verdict, path, "must not validate the schema (not)", []);
  }
}

/** Takes one step, of more for a text; without any left the object is refused, and nothing more is looked for. */
function isSpent(verdict: Verdict, value: Json, path: string): boolean {
  const { steps } = verdict;
  if (steps.left >= 0) steps.left -= 1 + (typeof value === "string" ? value.length >> 4 : 0);
  return isOut(verdict, path);
}

function isOut(verdict: Verdict, path: string): boolean {
  if (verdict.steps.left >= 0) return false;
  if (verdict.charactersLeft >= 0) {
    const text = `takes more than ${alternativeStepsMax} comparisons with alternatives`;
    blame(verdict, () => forbiddenField(fieldOf(path), text));
    verdict.charactersLeft = -1;
  }
  return true;
}

function alternatives(
  value: Json,
  schemas: readonly Schema[],
  path: string,
  outer: Verdict,
): { readonly accepted: number; readonly best: readonly Say[] } {
  let accepted = 0;
  let best: Verdict | undefined;
  for (const schema of schemas) {
    if (isSpent(outer, value, path)) break;
    const verdict = verdictInside(value, schema, path, outer);
    if (isOut(outer, path)) break;
    if (verdict.causes.length === 0) accepted++;
    else if (best === undefined || verdict.matches > best.matches) best = verdict;
  }
  return { accepted, best: best?.causes ?? [] };
}

/** Here the real server names the place in the text and not in the field. */
function disjoined(verdict: Verdict, path: string, text: string, more: readonly Say[]): void {
  blame(verdict, () => invalidValue("<nil>", "", `${goQuote(path)} ${text}`));
  for (const say of more) blame(verdict, say);
}

function judgeString(value: Json, schema: Schema, path: string, verdict: Verdict): void {
  if (typeof value !== "string") return;
  const { maxLength, minLength } = schema.limits;
  if (maxLength !== undefined || minLength !== undefined) {
    let length = 0;
    for (const _ of value) length++;
    if (maxLength !== undefined && length > maxLength) {
      blame(verdict, () => tooLongValue(fieldOf(path), maxLength));
      return;
    }
    if (minLength !== undefined && length < minLength) {
      fail(verdict, path, value, `should be at least ${minLength} chars long`);
      return;
    }
  }
  const { pattern } = schema;
  if (pattern === undefined) return;
  const isFound = paced(
    () => pattern.test(value),
    () => characterCost * value.length,
  );
  if (!isFound) fail(verdict, path, value, `should match '${pattern.source}'`);
}

/** Of a text in which a pattern is looked for, by the measure of expressions (`pace.ts`). */
const characterCost = 3;

function judgeFormat(value: Json, schema: Schema, path: string, verdict: Verdict): void {
  const { format } = schema;
  if (typeof value !== "string" || format === "" || isOfFormat(value, format)) return;
  blame(verdict, () => ({
    reason: "FieldValueTypeInvalid",
    message: `Invalid value: ${goQuote(value)}: ${inBody(path)} must be of type ${format}: ${goQuote(value)}`,
    field: fieldOf(path),
  }));
}

function judgeNumber(value: Json, schema: Schema, path: string, verdict: Verdict): void {
  if (typeof value !== "number" && typeof (value as unknown) !== "bigint") return;
  judgeAmount(value as number, schema, path, verdict);
}

/** `value` may be a bigint, which compares with a number as if it were one. */
function judgeAmount(value: number, schema: Schema, path: string, verdict: Verdict): void {
  const { multipleOf, maximum, minimum, exclusiveMaximum, exclusiveMinimum } = schema.limits;
  if (multipleOf !== undefined && !isMultiple(value, multipleOf)) {
    fail(verdict, path, value, `should be a multiple of ${multipleOf}`);
  }
  if (maximum !== undefined && (value > maximum || (exclusiveMaximum && value >= maximum))) {
    fail(verdict, path, value, `should be less than ${exclusiveMaximum ? "" : "or equal to "}${maximum}`);
  }
  if (minimum !== undefined && (value < minimum || (exclusiveMinimum && value <= minimum))) {
    fail(verdict, path, value, `should be greater than ${exclusiveMinimum ? "" : "or equal to "}${minimum}`);
  }
  for (const [format, [least, most]] of integerRanges) {
    if (schema.format !== format || (value >= least && value <= most)) continue;
    fail(verdict, path, value, `must be a number within the range of ${format}`);
  }
}

/** A quotient that is whole, as the real validator asks. */
const isMultiple = (value: number, of: number): boolean => Number.isInteger(Number(value) / of);

const integerRanges: ReadonlyMap<string, readonly [number, number]> = new Map([
  ["int32", [-2_147_483_648, 2_147_483_647]],
]);

function judgeList(value: Json, schema: Schema, path: string, verdict: Verdict): void {
  if (!Array.isArray(value)) return;
  const list = value as readonly Json[];
  const { items, limits } = schema;
  if (items !== undefined) {
    judgeEach(list.length, verdict, (at, own) => judgePart(list[at] as Json, items, `${path}[${at}]`, own));
  }
  const { minItems, maxItems } = limits;
  if (minItems !== undefined && list.length < minItems) {
    fail(verdict, path, list.length, `should have at least ${minItems} items`);
  }
  if (maxItems !== undefined && list.length > maxItems) blame(verdict, () => tooMany(path, list.length, maxItems));
}

const tooMany = (path: string, found: number, most: number): Cause => ({
  reason: "FieldValueTooMany",
  message: `Too many: ${found}: must have at most ${most} items`,
  field: fieldOf(path),
});

function judgeEnum(value: Json, schema: Schema, path: string, verdict: Verdict): void {
  if (schema.enum === undefined) return;
  const { values, shown } = enumOf(schema.enum);
  if (!values.has(canonical(value))) blame(verdict, () => unsupportedValue(fieldOf(path), value, shown));
}

interface EnumIndex {
  readonly values: ReadonlySet<string>;
  readonly shown: readonly string[];
}

const enums = new WeakMap<readonly Json[], EnumIndex>();

function enumOf(list: readonly Json[]): EnumIndex {
  let index = enums.get(list);
  if (index === undefined) {
    const shown = list.map((each) => (typeof each === "string" ? each : encodeJson(each)));
    enums.set(list, (index = { values: new Set(list.map(canonical)), shown }));
  }
  return index;
}

function judgeObject(value: Json, schema: Schema, path: string, verdict: Verdict): void {
  if (!isObject(value)) return;
  const { minProperties, maxProperties } = schema.limits;
  const keys = keysOf(value, verdict);
  if (minProperties !== undefined && keys.length < minProperties) {
    fail(verdict, path, keys.length, `should have at least ${minProperties} properties`);
    return;
  }
  if (maxProperties !== undefined && keys.length > maxProperties) {
    blame(verdict, () => tooMany(path, keys.length, maxProperties));
    return;
  }
  judgeEach(keys.length, verdict, (at, own) => {
    const key = keys[at] as string;
    const inner = fieldSchema(schema, key);
    if (inner !== undefined) judgePart(value[key] as Json, inner, childPath(path, key), own);
  });
  for (const key of schema.required) {
    if (!Object.hasOwn(value, key)) blame(verdict, () => requiredValue(childPath(path, key)));
  }
}

/** In byte order: of a large object listed once, however often the judgement is broken off. */
function keysOf(value: JsonObject, { isInParts }: Verdict): readonly string[] {
  const list = (): readonly string[] => sortByBytes(Object.keys(value));
  return isInParts ? paced(list, ({ length }) => keyCost * length) : list();
}

/** Of a key that is listed, by the measure of expressions (`pace.ts`). */
const keyCost = 2;

function fieldSchema(schema: Schema, key: string): Schema | undefined {
  const property = schema.properties.get(key);
  if (property !== undefined) return property;
  return schema.additional === "any" ? undefined : schema.additional;
}

export const childPath = (path: string, key: string): string => (path === "" ? key : `${path}.${key}`);

const judgesOfAll: readonly Judge[] = [
  judgeType,
  judgeJunctions,
  judgeString,
  judgeFormat,
  judgeNumber,
  judgeList,
  judgeEnum,
  judgeObject,
];
const judgesOfNull: readonly Judge[] = [judgeType, judgeEnum];

/** Lists that promise distinct elements or distinct keys, at every depth. */
export function validateListTypes(value: Json, schema: Schema): readonly Cause[] {
  const whole = newVerdict({ left: 0 }, isLargeValue(value));
  const judged = (): Verdict => verdictOn(whole, (verdict) => judgeListTypes(value, schema, "", verdict));
  return said(paced(judged, costOf));
}

function judgeListTypes(value: Json, schema: Schema, path: string, verdict: Verdict): void {
  if (verdict.charactersLeft < 0) return;
  verdict.cost++;
  if (Array.isArray(value)) {
    const list = value as readonly Json[];
    const { items, listType, listMapKeys } = schema;
    if (listType === "set") duplicates(list, (item) => item, path, verdict);
    if (listType === "map") duplicates(list, (item) => keysOnly(item, listMapKeys, items), path, verdict);
    if (items === undefined) return;
    judgeEach(list.length, verdict, (at, own) => judgeListTypes(list[at] as Json, items, `${path}[${at}]`, own));
  } else if (isObject(value)) {
    const keys = keysOf(value, verdict);
    judgeEach(keys.length, verdict, (at, own) => {
      const key = keys[at] as string;
      const inner = fieldSchema(schema, key);
      if (inner !== undefined) judgeListTypes(value[key] as Json, inner, childPath(path, key), own);
    });
  }
}

function duplicates(list: readonly Json[], keyOf: (item: Json) => Json, path: string, verdict: Verdict): void {
  const places = placesOfDuplicates(list, keyOf);
  judgeEach(places.length, verdict, (index, own) => {
    if (own.charactersLeft < 0) return;
    const at = places[index] as number;
    blame(own, () => ({
      reason: "FieldValueDuplicate",
      message: `Duplicate value: ${goLiteral(keyOf(list[at] as Json))}`,
      field: `${path}[${at}]`,
    }));
  });
}

/** Of an item that is put into words, and then held against the others, by the measure of expressions (`pace.ts`). */
const [wordsCost, itemCost] = [5, 2];

function placesOfDuplicates(list: readonly Json[], keyOf: (item: Json) => Json): readonly number[] {
  const words = (from: number, end: number): readonly string[] =>
    list.slice(from, end).map((item) => canonical(keyOf(item)));
  const texts = [...pacedParts(list.length, words, (_, length) => wordsCost * length)];
  const find = (): readonly number[] => {
    const seen = new Set<string>();
    const places: number[] = [];
    for (const [at, text] of texts.flat().entries()) {
      if (seen.has(text)) places.push(at);
      seen.add(text);
    }
    return places;
  };
  return paced(find, () => itemCost * list.length);
}

function keysOnly(item: Json, keys: readonly string[], items: Schema | undefined): Json {
  const found: Record<string, Json> = {};
  if (!isObject(item)) return item;
  for (const key of sortByBytes([...keys])) {
    const value = item[key] ?? items?.properties.get(key)?.default;
    if (value !== undefined && value !== null) found[key] = value;
  }
  return found;
}

/** Equal values, equal texts. */
export function canonical(value: Json): string {
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map(canonical).join()}]`;
  if (!isObject(value)) return encodeJson(value);
  const keys = sortByBytes(Object.keys(value));
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key] as Json)}`).join()}}`;
}

/** As Go prints a value with its type: what an error shows of an object. */
function goLiteral(value: Json): string {
  if (typeof value === "string") return goQuote(value);
  if (Array.isArray(value)) return `[]interface {}{${(value as readonly Json[]).map(goLiteral).join(", ")}}`;
  if (!isObject(value)) return String(value);
  const entries = Object.entries(value as JsonObject).map(
    ([key, each]) => `${goQuote(key)}:${goLiteral(each as Json)}`,
  );
  return `map[string]interface {}{${entries.join(", ")}}`;
}
