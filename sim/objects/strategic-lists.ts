/**
 * Lists under strategic merge: by merge key, as sets of scalars, or in the order that `$setElementOrder` wants.
 * The order of the result: wanted order before the patch's before the stored one; elements that the patch does not
 * name keep their place relative to their stored neighbours.
 * Source: recorded answers (05-patch/strategic-*); the design of order-preserving strategic merge.
 */
import { unmapped } from "../contract/errors.ts";
import type { Json, JsonObject } from "../contract/http-message.ts";
import { paced, pacedParts } from "../expressions/pace.ts";
import { goValue } from "./go-values.ts";
import { rejectedPatch } from "./json-patch.ts";
import { valueCount } from "./members.ts";
import { unknownDirective, withoutDirectives } from "./strategic-directives.ts";
import { isObject } from "../contract/objects.ts";

export interface ListMerge {
  /** Undefined when there was no list. */
  readonly original: readonly Json[] | undefined;
  /** Undefined when only an order was sent. */
  readonly patch: readonly Json[] | undefined;
  /** The `$setElementOrder` list, if any: merge keys alone, or scalars. */
  readonly order?: readonly Json[];
  /** Merges two elements of one key. */
  readonly mergeElement: (element: JsonObject, by: JsonObject) => JsonObject;
  /** Empty for scalars. */
  readonly mergeKey: string;
  /** False for a list that a patch replaces. */
  readonly merges: boolean;
  /** `patch` names scalars to take away. */
  readonly isDeletion?: boolean;
}

/** Merges two lists, or orders one. Throws `ApiError` 422 or the observed 500. */
export function mergeLists(merge: ListMerge): readonly Json[] {
  const { original, patch, order, mergeKey, merges } = merge;
  if (order === undefined) return mergeElements(merge, patch ?? []);
  if (patch !== undefined) requireOrder(patch, order, mergeKey);
  let merged: readonly Json[];
  if (original === undefined) merged = withoutDirectives(patch as readonly Json[]) as readonly Json[];
  else if (patch === undefined) merged = original;
  else merged = merges ? mergeElements(merge, patch) : patch;
  const elements = elementKind(original ?? [], patch ?? []);
  if (elements === undefined) throw unmapped("no elements in any of the given slices");
  return arrange(merged, order, original ?? [], mergeKey);
}

function mergeElements(merge: ListMerge, patch: readonly Json[]): readonly Json[] {
  const { original = [], mergeElement, mergeKey, isDeletion = false } = merge;
  if (original.length === 0 && patch.length === 0) return original;
  if (elementKind(original, patch) !== "map") {
    if (isDeletion) {
      const gone = new Set(patch);
      return original.filter((value) => !gone.has(value));
    }
    return arrange([...new Set([...original, ...patch])], patch, original, "");
  }
  if (mergeKey === "") throw unmapped("cannot merge lists without merge key for struct");
  const { kept, changes } = inTurn(original.length + patch.length, () =>
    obeyDirectives(merge, original, patch as readonly JsonObject[]),
  );
  const merged = [...kept];
  const places = new Map<Json | undefined, number>(); // of several elements of one key the first is merged
  kept.forEach((element, at) => {
    const key = (element as JsonObject)[mergeKey];
    if (!places.has(key)) places.set(key, at);
  });
  const part = (from: number, end: number): Changed => {
    const elements = new Map<number, Json>();
    const added = new Map<Json, number>();
    for (let next = from; next < end; next++) {
      const change = changes[next] as JsonObject;
      const key = keyOf(change, mergeKey);
      const at = places.get(key) ?? added.get(key);
      if (at === undefined) {
        elements.set(merged.length + added.size, change);
        added.set(key, merged.length + added.size);
      } else elements.set(at, mergeElement((elements.get(at) ?? merged[at]) as JsonObject, change));
    }
    return { from, elements, added };
  };
  const take = ({ elements, added }: Changed): void => {
    for (const [at, element] of elements) merged[at] = element;
    for (const [key, at] of added) places.set(key, at);
  };
  const costOf = ({ from }: Changed, length: number): number => valueCost * valueCount(changes, from, length);
  if (changes.length < partMin) take(part(0, changes.length));
  else for (const made of pacedParts(changes.length, part, costOf)) take(made);
  return inTurn(merged.length, () => arrange(merged, changes, kept, mergeKey));
}

/** What some changes make of a list. */
interface Changed {
  readonly from: number;
  /** By their places, new ones at the end. */
  readonly elements: ReadonlyMap<number, Json>;
  /** Places of those that are new, by their keys. */
  readonly added: ReadonlyMap<Json, number>;
}

/** From here on elements are merged in parts, after each of which others may have their turn. */
const partMin = 128;
/** Of a value that is merged, by the measure of expressions (`pace.ts`). */
const valueCost = 4;

/** A step of the merge of a list that may be long. */
const inTurn = <Made>(length: number, make: () => Made): Made =>
  length < partMin ? make() : paced(make, () => valueCost * length);

/** Carries out what single elements of the patch direct; what is left of it is to be merged. */
function obeyDirectives(
  { mergeKey }: ListMerge,
  original: readonly Json[],
  patch: readonly JsonObject[],
): { readonly kept: readonly Json[]; readonly changes: readonly JsonObject[] } {
  const changes: JsonObject[] = [];
  const gone = new Set<Json | undefined>();
  let replaces = false;
  for (const element of patch) {
    const directive = element["$patch"];
    if (directive === undefined) changes.push(element);
    else if (directive === "delete") gone.add(keyOf(element, mergeKey));
    else if (directive === "replace") replaces = true;
    else if (directive === "merge") throw unmapped("merging lists cannot yet be specified in the patch");
    else throw unknownDirective(directive, element);
  }
  if (replaces) return { kept: changes, changes: [] };
  return { kept: original.filter((element) => !gone.has((element as JsonObject)[mergeKey])), changes };
}

/**
 * Elements that `wanted` names come in its order, all others in that of `stored`; the two are then woven together so
 * that neighbours in `stored` stay neighbours where that is possible.
 */
function arrange(
  merged: readonly Json[],
  wanted: readonly Json[],
  stored: readonly Json[],
  mergeKey: string,
): readonly Json[] {
  const wantedRanks = ranksOf(wanted, mergeKey);
  const storedRanks = ranksOf(stored, mergeKey);
  const named: Ranked[] = [];
  const others: Ranked[] = [];
  for (const element of merged) {
    const identity = identityOf(element, mergeKey);
    const wantedRank = wantedRanks(identity);
    const storedRank = storedRanks(identity);
    if (wantedRank < 0) others.push({ element, storedRank, rank: Math.max(0, storedRank) });
    else named.push({ element, storedRank, rank: wantedRank });
  }
  sortByRank(named);
  sortByRank(others);
  const result: Json[] = [];
  let next = 0;
  for (const { element, storedRank } of named) {
    for (; next < others.length; next++) {
      const other = others[next] as Ranked;
      if (other.storedRank < 0 || other.storedRank >= storedRank) break;
      result.push(other.element);
    }
    result.push(element);
  }
  for (; next < others.length; next++) result.push((others[next] as Ranked).element);
  return result;
}

/** An element of the result, with its places; -1 is none. */
interface Ranked {
  readonly element: Json;
  readonly storedRank: number;
  /** What it is sorted by. */
  readonly rank: number;
}

const identityOf = (element: Json, mergeKey: string): Json => (mergeKey === "" ? element : keyOf(element, mergeKey));

/** Shorter lists are searched from their beginning. */
const longMin = 16;

/** The first place of an identity in a list; -1 when it has none. */
function ranksOf(list: readonly Json[], mergeKey: string): (identity: Json) => number {
  const identities = list.map((element) => identityOf(element, mergeKey));
  if (identities.length < longMin) return (identity) => identities.indexOf(identity);
  const ranks = new Map<Json, number>();
  identities.forEach((identity, at) => {
    if (!ranks.has(identity)) ranks.set(identity, at);
  });
  return (identity) => ranks.get(identity) ?? -1;
}

/** Stable, and mostly there is nothing to do. */
function sortByRank(list: Ranked[]): void {
  for (let at = 1; at < list.length; at++) {
    if ((list[at - 1] as Ranked).rank <= (list[at] as Ranked).rank) continue;
    list.sort((left, right) => left.rank - right.rank);
    return;
  }
}

/** The elements of a patch must come in the order that it wants: everything else is a mistake of its author. */
function requireOrder(patch: readonly Json[], order: readonly Json[], mergeKey: string): void {
  if (patch.length === 0 || order.length === 0) return;
  let at = 0;
  for (const element of patch) {
    if (isObject(element) && Object.hasOwn(element, "$patch")) continue;
    const key = mergeKey === "" ? element : keyOf(element, mergeKey);
    while (at < order.length && (mergeKey === "" ? order[at] : keyOf(order[at] as Json, mergeKey)) !== key) at++;
    if (at++ === order.length) {
      throw unmapped(
        `The order in patch list:\n${goValue(patch)}\n doesn't match $setElementOrder list:\n${goValue(order)}\n`,
      );
    }
  }
}

function keyOf(element: Json, mergeKey: string): Json {
  if (!isObject(element)) throw unmapped(`expected a map[string]interface {}, but received a ${typeof element}`);
  const key = Object.hasOwn(element, mergeKey) ? element[mergeKey] : undefined;
  if (key === undefined) throw unmapped(`map: ${goValue(element)} does not contain declared merge key: ${mergeKey}`);
  return key;
}

/** What all elements of both lists are; undefined when there is none. Lists of lists are not supported. */
function elementKind(...lists: readonly (readonly Json[])[]): string | undefined {
  let kind: string | undefined;
  for (const list of lists) {
    for (const element of list) {
      const own = Array.isArray(element) ? "list" : isObject(element) ? "map" : typeof element;
      kind ??= own;
      if (kind === "list") throw rejectedPatch();
      if (own !== kind) throw unmapped(`list element types are not identical: ${goValue(lists)}`);
    }
  }
  return kind;
}
