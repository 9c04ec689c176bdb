/**
 * Is an applied configuration of its type? Unknown fields, values of the wrong type, elements without their key or with
 * a key that another element has. Texts as the observed server gives them; it looks no further into a map with a field that
 * it does not know, nor into a list behind an element without its key.
 * Source: recorded answers (05-patch/apply-unknown-field); the published validation's texts.
 */
import { append } from "../../../wire/lists.ts";
import { toldCharactersMax } from "../../contract/errors.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { goSyntax, goType, goValue } from "../go-values.ts";
import { isObject } from "../../contract/objects.ts";
import { askedOnce, pacedParts } from "../../expressions/pace.ts";
import { valueCount } from "../members.ts";
import { pathText } from "./path-text.ts";
import { isUnknown, resolve, type Typed, type TypedList, type TypedMap } from "./typed.ts";

/** What is wrong with `config`, each with its path, in document order; empty when nothing is. */
export function typedErrors(typed: TypedMap, config: JsonObject): readonly string[] {
  const walk: Walk = { path: [], errors: [], charactersLeft: toldCharactersMax };
  check(typed, config, walk);
  return walk.errors;
}

/** Several errors in one text, as the server joins them. */
export function joinErrors(errors: readonly string[]): string {
  return errors.length === 1 ? (errors[0] as string) : ["errors:", ...errors.map((error) => `  ${error}`)].join("\n");
}

interface Walk {
  readonly path: string[];
  readonly errors: string[];
  charactersLeft: number;
}

/** `at`: the text of the walk's path, by whoever has it already. */
function complain(walk: Walk, text: string, at = pathText(walk.path)): void {
  if (walk.charactersLeft < 0) return;
  const error = walk.path.length === 0 ? text : `${at}: ${text}`;
  walk.charactersLeft -= error.length;
  walk.errors.push(error);
}

function check(place: Typed | undefined, value: Json, walk: Walk): void {
  const typed = resolve(place, value);
  if (value === null) return;
  if (typed.is === "map") checkMap(typed, value, walk);
  else if (typed.is === "list") checkList(typed, value, walk);
  else checkScalar(typed.scalar, value, walk);
}

function below(step: string, place: Typed | undefined, value: Json, walk: Walk): void {
  walk.path.push(step);
  check(place, value, walk);
  walk.path.pop();
}

function checkMap(typed: TypedMap, value: Json, walk: Walk): void {
  if (!isObject(value)) return complain(walk, `expected map, got &{${goValue(value)}}`);
  for (const key of Object.keys(value)) {
    const place = typed.at(key);
    if (place !== undefined || isUnknown(typed)) {
      below(`f:${key}`, place, value[key] as Json, walk);
      continue;
    }
    walk.path.push(`f:${key}`);
    complain(walk, "field not declared in schema");
    walk.path.pop();
    return; // one is told; the real server's is any of them
  }
}

function checkList(typed: TypedList, value: Json, walk: Walk): void {
  if (!Array.isArray(value)) return complain(walk, `expected list, got &{${goValue(value)}}`);
  if (value.length > manyMin && checkMany(typed, value as readonly Json[], walk)) return;
  const seen = new Set<string>();
  let place: string | undefined;
  /** The last that was there twice: where many are, most are the same one. */
  let twice = { step: "", text: "" };
  for (const [at, item] of (value as readonly Json[]).entries()) {
    if (walk.charactersLeft < 0) return;
    const step = typed.relation === "atomic" ? `i:${at}` : typed.stepOf(item);
    if (step === undefined) return complain(walk, `element ${at}: ${namelessText(typed, item)}`);
    if (seen.has(step)) {
      place ??= pathText(walk.path);
      if (twice.step !== step) twice = { step, text: pathText([step]) };
      complain(walk, `duplicate entries for key ${twice.text}`, place);
    }
    seen.add(step);
    below(step, typed.items, item, walk);
  }
}

/** Whether all could be told from one another and were looked at, in parts: nothing is wrong but what is within them. */
function checkMany(typed: TypedList, list: readonly Json[], walk: Walk): boolean {
  if (typed.relation === "set" && areTexts(typed.items) && areDistinctTexts(list)) return true;
  if (typed.relation !== "map") return false;
  const seen = askedOnce(() => new Set<string>());
  const steps: string[] = [];
  const named = (from: number, end: number): readonly string[] | undefined => {
    const part: string[] = [];
    for (let at = from; at < end; at++) {
      const step = typed.stepOf(list[at] as Json);
      if (step === undefined || seen.has(step)) return undefined;
      seen.add(step);
      part.push(step);
    }
    return part;
  };
  for (const part of pacedParts(list.length, named, (_, length) => valueCost * length)) {
    if (part === undefined) return false;
    append(steps, part);
  }
  const look = (from: number, end: number): Looked => {
    const within: Walk = { ...walk, errors: [] };
    for (let at = from; at < end && within.charactersLeft >= 0; at++) {
      below(steps[at] as string, typed.items, list[at] as Json, within);
    }
    return { from, errors: within.errors, charactersLeft: within.charactersLeft };
  };
  const costOf = ({ from }: Looked, length: number): number => valueCost * valueCount(list, from, length);
  for (const { errors, charactersLeft } of pacedParts(list.length, look, costOf)) {
    append(walk.errors, errors);
    walk.charactersLeft = charactersLeft;
    if (charactersLeft < 0) break;
  }
  return true;
}

/** What was found in some elements. */
interface Looked {
  readonly from: number;
  readonly errors: readonly string[];
  readonly charactersLeft: number;
}

/** Of a value that is looked at, by the measure of expressions (`pace.ts`). */
const valueCost = 4;

/** From here on elements are first looked at all together: mostly nothing is wrong with them. */
const manyMin = 1_000;

function areTexts(items: Typed | undefined): boolean {
  const typed = resolve(items, "");
  return typed.is === "scalar" && (typed.scalar === "string" || typed.scalar === "any");
}

const areDistinctTexts = (items: readonly Json[]): boolean =>
  items.every((item) => typeof item === "string") && new Set(items).size === items.length;

/** Why an element cannot be told from the others. */
function namelessText({ relation, keys, defaults }: TypedList, item: Json): string {
  if (relation === "set") {
    if (item === null) return "associative list without keys has an element that's an explicit null";
    if (Array.isArray(item)) return "not supported: associative list with lists as elements";
    return "associative list without keys has an element that's a map type";
  }
  if (item === null) return "associative list with keys may not have a null element";
  if (!isObject(item)) return "associative list with keys may not have non-map elements";
  const key = keys.find((name, at) => (item[name] ?? defaults[at] ?? null) === null);
  return `associative list with keys has an element that omits key field "${key}" (and doesn't have default value)`;
}

const scalarTests = {
  string: (value: Json) => typeof value === "string",
  numeric: (value: Json) => typeof value === "number" || typeof (value as unknown) === "bigint",
  boolean: (value: Json) => typeof value === "boolean",
  any: (value: Json) => typeof value !== "object",
} as const;

const scalarTexts = {
  string: (value: Json) => `expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`,
  numeric: (value: Json) => `expected numeric (int or float), got ${goType(value)}`,
  boolean: (value: Json) => `expected boolean, got &{${goValue(value)}}`,
  any: (value: Json) => `expected any scalar, got &{${goValue(value)}}`,
} as const;

function checkScalar(scalar: keyof typeof scalarTests, value: Json, walk: Walk): void {
  if (!scalarTests[scalar](value)) complain(walk, scalarTexts[scalar](value));
}
