/**
 * Values and sets of their paths: which paths a value has, and a value without the paths of a set.
 * Source: the facts, section 4; recorded managed fields of appliers: a map is a path of its own when it is empty or
 * its key is the client's, an element of a keyed list always is, an empty list never.
 */
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { type FieldSet, holdsItself, leaf, makeNode } from "../field-set.ts";
import { isObject } from "../../contract/objects.ts";
import { askedOnce, paced, pacedParts } from "../../expressions/pace.ts";
import { forgetLargeChange, type LeafChange, largeChange } from "../large-leaves.ts";
import { valueCount } from "../members.ts";
import { setKey } from "../walker.ts";
import { resolve, type Typed, type TypedList, type TypedMap } from "./typed.ts";

/** The paths of `value`; undefined when it has none. `self` says that the place of the value is one. */
export function fieldSetOf(place: Typed | undefined, value: Json, self = false): FieldSet | undefined {
  const typed = resolve(place, value);
  if (typed.is === "scalar") return leaf;
  if (typed.is === "list") return setOfList(typed, value, self);
  if (typed.atomic) return leaf;
  return isObject(value) ? setOfMap(typed, value, self) : self ? leaf : undefined;
}

/** What a container that is new has become, where that was found; only of one that has many members. */
function takenChange(value: JsonObject | readonly Json[], self: boolean, size: number): LeafChange | undefined {
  if (size < longMin) return undefined;
  return askedOnce(() => {
    const known = largeChange(undefined, value, self);
    if (known !== undefined) forgetLargeChange(value, self);
    return known;
  });
}

/** From here on the paths of a list are found in parts. */
const longMin = 128;
/** Of a value whose path is found, by the measure of expressions (`pace.ts`). */
const valueCost = 10;

function setOfMap(typed: TypedMap, value: JsonObject, self: boolean): FieldSet | undefined {
  const keys = Object.keys(value);
  const known = takenChange(value, self, keys.length);
  if (known !== undefined) return known.changed;
  const steps: string[] = [];
  const nodes: FieldSet[] = [];
  for (const key of keys) {
    const item = value[key] as Json;
    const empty = item === null || (isObject(item) && Object.keys(item).length === 0);
    const node = fieldSetOf(typed.at(key), item, empty || !typed.declares(key));
    if (node === undefined) continue;
    steps.push(`f:${key}`);
    nodes.push(node);
  }
  return makeNode(self, steps, nodes);
}

function setOfList(typed: TypedList, value: Json, self: boolean): FieldSet | undefined {
  if (typed.relation === "atomic") return leaf;
  if (!Array.isArray(value)) return self ? leaf : undefined;
  const list = value as readonly Json[];
  const known = typed.relation === "set" ? takenChange(list, self, list.length) : undefined;
  if (known !== undefined) return known.changed;
  const found = new Map<string, FieldSet>();
  if (list.length < longMin) {
    file(found, setsOf(typed, list));
    return makeNode(self, [...found.keys()], [...found.values()]);
  }
  const part = (from: number, end: number): SetsPart => ({ from, sets: setsOf(typed, list.slice(from, end)) });
  const costOf = ({ from }: SetsPart, length: number): number => valueCost * valueCount(list, from, length);
  for (const { sets } of pacedParts(list.length, part, costOf)) file(found, sets);
  const make = (): FieldSet | undefined => makeNode(self, [...found.keys()], [...found.values()]);
  return paced(make, () => valueCost * found.size);
}

interface SetsPart {
  readonly from: number;
  readonly sets: Sets;
}

/** Elements' steps, each with what is below it. */
type Sets = readonly (readonly [step: string, node: FieldSet])[];

const setsOf = (typed: TypedList, items: readonly Json[]): Sets =>
  items.flatMap((item) => {
    const step = typed.stepOf(item);
    return step === undefined ? [] : [[step, fieldSetOf(typed.items, item, true) as FieldSet] as const];
  });

/** Elements of one key cannot be told apart: they are owned together, and nothing inside them is. */
function file(found: Map<string, FieldSet>, sets: Sets): void {
  for (const [step, node] of sets) found.set(step, found.has(step) ? leaf : node);
}

/** `value` without the paths of `set` and all below them; null when nothing of a map or list is left. */
export function withoutPaths(place: Typed | undefined, value: Json, set: FieldSet | undefined): Json {
  if (set === undefined) return value;
  const typed = resolve(place, value);
  if (typed.is === "scalar") return value;
  if (typed.is === "list") return listWithout(typed, value, set);
  if (typed.atomic || !isObject(value)) return null;
  const rest: Record<string, Json> = {};
  let left = 0;
  for (const key of Object.keys(value)) {
    const node = set[`f:${key}`];
    if (node !== undefined && holdsItself(node)) continue;
    setKey(rest, key, withoutPaths(typed.at(key), value[key] as Json, node));
    left++;
  }
  return left === 0 ? null : rest;
}

function listWithout(typed: TypedList, value: Json, set: FieldSet): Json {
  if (typed.relation === "atomic" || !Array.isArray(value)) return null;
  const rest: Json[] = [];
  for (const item of value as readonly Json[]) {
    const step = typed.stepOf(item);
    const node = step === undefined ? undefined : set[step];
    if (node === undefined || !holdsItself(node)) rest.push(withoutPaths(typed.items, item, node));
  }
  return rest.length === 0 ? null : rest;
}

/** The same set, in which every field with a name of the type's own is a path when one below it is. */
export function withNamedFields(typed: Typed | undefined, set: FieldSet | undefined): FieldSet | undefined {
  if (set === undefined || set === leaf) return set;
  const steps: string[] = [];
  const nodes: FieldSet[] = [];
  for (const step in set) {
    if (step === ".") continue;
    steps.push(step);
    nodes.push(namedNode(typed, step, set[step] as FieldSet));
  }
  return makeNode(holdsItself(set), steps, nodes);
}

function namedNode(typed: Typed | undefined, step: string, node: FieldSet): FieldSet {
  const isField = typed?.is === "map" && step.startsWith("f:");
  const below = typed?.is === "list" ? typed.items : isField ? typed.at(step.slice(2)) : undefined;
  const named = withNamedFields(below, node) as FieldSet;
  if (!isField || !typed.declares(step.slice(2)) || holdsItself(named)) return named;
  const steps = Object.keys(named);
  return makeNode(
    true,
    steps,
    steps.map((each) => named[each] as FieldSet),
  ) as FieldSet;
}
