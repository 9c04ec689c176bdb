/**
 * The merge of an applied configuration into the stored object. What the configuration does not name stays, by
 * identity; a configuration never takes anything away here (that is `prune`'s).
 * Source: the facts, section 4; the published merge for the order of lists.
 */
import { append } from "../../../wire/lists.ts";
import type { Json } from "../../contract/http-message.ts";
import { paced, pacedParts, turnCostMax } from "../../expressions/pace.ts";
import { jsonEqual } from "../equality.ts";
import { isObject } from "../../contract/objects.ts";
import { valueCount } from "../members.ts";
import { copiedMap, setKey } from "../walker.ts";
import { resolve, type Typed, type TypedList, type TypedMap } from "./typed.ts";

/** Neither side is changed; the result may contain parts of both, and is `live` itself when nothing is new. */
export function mergeTyped(place: Typed | undefined, live: Json | undefined, config: Json | undefined): Json {
  if (config === undefined) return live as Json;
  if (live === undefined) return config;
  const typed = resolve(place, config);
  if (typed.is === "map" && !typed.atomic && !(isVoid(live) && isVoid(config))) return mergeMaps(typed, live, config);
  if (typed.is === "list" && typed.relation !== "atomic" && !(isVoid(live) && isVoid(config))) {
    return mergeLists(typed, live, config);
  }
  return jsonEqual(live, config) ? live : config;
}

/** Null, or nothing inside: which of the two it is, the configuration decides. */
function isVoid(value: Json): boolean {
  if (Array.isArray(value)) return value.length === 0;
  return value === null || (isObject(value) && Object.keys(value).length === 0);
}

function mergeMaps(typed: TypedMap, live: Json, config: Json): Json {
  if (!isObject(config)) return isObject(live) ? live : config; // a null takes no fields away
  if (!isObject(live)) return config;
  const keys = Object.keys(config);
  const present = (key: string): Json | undefined => (Object.hasOwn(live, key) ? live[key] : undefined);
  const values = inParts(keys, (key) => mergeTyped(typed.at(key), present(key), config[key]));
  const has = (at: number): boolean => present(keys[at] as string) === values[at];
  const part = <Made>(make: () => Made): Made => partOf(keys.length, make);
  if (part(() => keys.every((_, at) => has(at)))) return live;
  const copy = part(() => copiedMap(live)); // nobody's but the next part's
  return part(() => {
    for (let at = 0; at < keys.length; at++) if (!has(at)) setKey(copy, keys[at] as string, values[at]);
    return copy;
  });
}

/**
 * Elements that both have are merged and come in the order of the configuration; the stored ones that it does not name
 * keep their place before, between and behind them.
 */
function mergeLists(typed: TypedList, live: Json, config: Json): Json {
  if (!Array.isArray(config)) return live;
  if (!Array.isArray(live)) return config;
  const stored = live as readonly Json[];
  const wanted = config as readonly Json[];
  const part = <Made>(make: () => Made): Made => partOf(stored.length + wanted.length, make);
  const isOfTexts = typed.relation === "set" && areTexts(stored) && areTexts(wanted);
  const storedSteps = isOfTexts ? stored : part(() => namesOf(stored, typed));
  const wantedSteps = isOfTexts ? wanted : part(() => namesOf(wanted, typed));
  const applied = part(() => indexed(wanted, wantedSteps));
  const present = part(() => indexed(stored, storedSteps));
  const appliedSteps = part(() => [...applied.keys()]);
  const items = inParts(appliedSteps, (step) => mergedItem(typed, present.get(step), applied.get(step)));
  const merged = part(() => inOrder(stored, { storedSteps, present, applied, appliedSteps, items }));
  const isSame = merged.length === stored.length && merged.every((item, at) => item === stored[at]);
  return isSame ? live : merged;
}

interface Sides {
  /** Of the stored elements, in their order. */
  readonly storedSteps: readonly string[];
  readonly present: ReadonlyMap<string, Json | undefined>;
  readonly applied: ReadonlyMap<string, Json | undefined>;
  /** Of the applied elements, in their order, and what becomes of each. */
  readonly appliedSteps: readonly string[];
  readonly items: readonly Json[];
}

const mergedItem = (typed: TypedList, before: Json | undefined, after: Json | undefined): Json =>
  before === after ? (before as Json) : mergeTyped(typed.items, before, after);

/** What `make` makes for each, of many a part at a time. */
function inParts(steps: readonly string[], make: (step: string) => Json): readonly Json[] {
  if (steps.length < partMin) return steps.map(make);
  const made: Json[] = [];
  const part = (from: number, end: number): readonly Json[] => steps.slice(from, end).map(make);
  const costOf = (items: readonly Json[]): number => valueCost * valueCount(items, 0, items.length);
  for (const items of pacedParts(steps.length, part, costOf)) append(made, items);
  return made;
}

/** From here on elements are merged in parts. */
const partMin = 128;
/** Of a value that is merged, by the measure of expressions (`pace.ts`). */
const valueCost = 4;

function inOrder(stored: readonly Json[], { storedSteps, present, applied, appliedSteps, items }: Sides): Json[] {
  const shared = appliedSteps.filter((step) => present.has(step));
  const merged: Json[] = [];
  const done = new Set<string>();
  let nextShared = 0;
  const take = (at: number): void => {
    merged.push(items[at] as Json);
    done.add(appliedSteps[at] as string);
  };
  for (let left = 0, right = 0; left < stored.length || right < appliedSteps.length; ) {
    const storedStep = storedSteps[left];
    const appliedStep = appliedSteps[right];
    if (storedStep !== undefined && storedStep === appliedStep) {
      take(right);
      left++;
      right++;
      nextShared++;
      continue;
    }
    if (storedStep !== undefined) {
      if (!applied.has(storedStep)) {
        merged.push(stored[left++] as Json);
        continue;
      }
      // It is merged where the configuration has it: now, if it is the next of those that both have.
      const isNext = nextShared >= shared.length || shared[nextShared] === storedStep;
      if (appliedStep !== undefined && !isNext) {
        left++;
        continue;
      }
      if (done.has(storedStep)) left++;
    }
    if (appliedStep === undefined) continue;
    take(right);
    if (shared[nextShared] === appliedStep) nextShared++;
    right++;
  }
  return merged;
}

/** From here on the parts of a merge each take a turn (`pace.ts`). */
const longMin = 10_000;
const partOf = <Made>(length: number, make: () => Made): Made =>
  length < longMin ? make() : paced(make, () => turnCostMax);

const areTexts = (list: readonly Json[]): list is readonly string[] => list.every((item) => typeof item === "string");

/** What tells elements apart: their steps, or for texts of a set the texts, after a mark that no step begins with. */
function namesOf(list: readonly Json[], typed: TypedList): readonly string[] {
  const isSet = typed.relation === "set";
  return list.map((item, at) => (isSet && typeof item === "string" ? `"${item}` : (typed.stepOf(item) ?? `i:${at}`)));
}

/** By their names; of several elements of one name none is merged with. */
function indexed(list: readonly Json[], names: readonly string[]): Map<string, Json | undefined> {
  const elements = new Map<string, Json | undefined>();
  list.forEach((item, at) => {
    const name = names[at] as string;
    elements.set(name, elements.has(name) ? undefined : item);
  });
  return elements;
}
