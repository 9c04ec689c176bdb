/**
 * Strategic merge patch: a merge patch that knows from the type tables which lists are merged by a key, and that obeys
 * directives (`$patch`, `$retainKeys`, `$setElementOrder/…`, `$deleteFromPrimitiveList/…`). The input is never touched;
 * what a patch leaves alone is shared.
 *
 * Of several elements with one key the first is merged with, and a deletion takes them all: what the real server does,
 * known as a defect.
 * Source: recorded answers (05-patch/strategic-*); the documented directives; the published merge for the texts of
 * refusals, which mostly come as a bare 500.
 */
import type { FieldRow, Shape, TypeRow } from "../../wire/schema.ts";
import { badRequest, unmapped } from "../contract/errors.ts";
import type { Json, JsonObject } from "../contract/http-message.ts";
import { goType } from "./go-values.ts";
import { added, unknownDirective } from "./strategic-directives.ts";
import { mergeLists } from "./strategic-lists.ts";
import { isObject } from "../contract/objects.ts";
import { copiedMap, setKey } from "./walker.ts";
import { shortTypeName } from "./zero-values.ts";

const orderPrefix = "$setElementOrder";
const deletionPrefix = "$deleteFromPrimitiveList";
const retainKeys = "$retainKeys";

type Fields = Record<string, Json>;

/** The document that `patch` makes of `document`. Throws `ApiError`: 400 for malformed directives, 422, and the observed 500. */
export function applyStrategicMerge(document: JsonObject, patch: JsonObject, type: TypeRow): JsonObject {
  const merged = mergeMap(document, patch, { is: "struct", type });
  return merged === document ? { ...document } : merged;
}

/** A map that is copied when the first of its members changes: a large one may be patched with what it has already. */
class Merging {
  map: JsonObject;
  private isOwn = false;

  constructor(original: JsonObject) {
    this.map = original;
  }

  /** Undefined where there is no such member. */
  get(name: string): Json | undefined {
    return Object.hasOwn(this.map, name) ? this.map[name] : undefined;
  }

  set(name: string, value: Json): void {
    if (this.get(name) !== value) setKey(this.own(), name, value);
  }

  delete(name: string): void {
    if (Object.hasOwn(this.map, name)) delete this.own()[name];
  }

  private own(): Fields {
    if (!this.isOwn) this.map = copiedMap(this.map);
    this.isOwn = true;
    return this.map as Fields;
  }
}

/** Merges `patch` into a map of the given shape; the map itself where nothing changes. */
function mergeMap(original: JsonObject, patch: JsonObject, shape: Shape): JsonObject {
  if (Object.hasOwn(patch, "$patch")) return directed(patch);
  const result = new Merging(retained(original, patch));
  const names = Object.keys(patch);
  let done: Set<string> | undefined;
  for (const key of names) {
    if (!key.startsWith(orderPrefix)) continue;
    done ??= new Set([retainKeys]);
    done.add(key);
    const order = patch[key] as Json;
    requireList(order); // before its name is looked at
    const name = nameAfter(key, orderPrefix, "invalid patch format of setElementOrder list");
    const change = Object.hasOwn(patch, name) && !done.has(name) ? patch[name] : undefined;
    if (orderList(result, name, change, order, shape)) done.add(name);
  }
  for (const key of names) {
    if (key === retainKeys || done?.has(key) === true) continue;
    const value = patch[key] as Json;
    if (!key.startsWith(deletionPrefix)) mergeField(result, key, value, shape, false);
    else
      mergeField(result, nameAfter(key, deletionPrefix, "invalid patch format of primitive list"), value, shape, true);
  }
  return result.map;
}

/** A map that says what shall become of the whole of it. */
function directed(patch: JsonObject): JsonObject {
  const { $patch: directive, ...rest } = patch;
  if (directive === "replace") return rest;
  if (directive === "delete") return {};
  throw unknownDirective(directive, patch);
}

/** `original`, without what `$retainKeys` does not name. */
function retained(original: JsonObject, patch: JsonObject): JsonObject {
  if (!Object.hasOwn(patch, retainKeys)) return original;
  const list = patch[retainKeys];
  if (!Array.isArray(list)) throw badRequest("invalid patch format of retainKeys");
  const kept = new Set<Json>(list as readonly Json[]);
  for (const [key, value] of Object.entries(patch)) {
    const exempt = key === retainKeys || key.startsWith(orderPrefix) || key.startsWith(deletionPrefix);
    if (!exempt && value !== null && !kept.has(key)) throw badRequest("invalid patch format of retainKeys");
  }
  return Object.fromEntries(Object.entries(original).filter(([key]) => kept.has(key)));
}

function nameAfter(key: string, prefix: string, error: string): string {
  if (key[prefix.length] !== "/") throw badRequest(error);
  return key.slice(prefix.length + 1);
}

/** Merges the list `name` under a wanted order; false when there is no such list on either side. */
function orderList(result: Merging, name: string, change: Json | undefined, order: Json, shape: Shape): boolean {
  const before = result.get(name);
  if (before !== undefined) requireList(before);
  if (change !== undefined) requireList(change);
  const { items, mergeKey, strategy } = listPlace(shape, name);
  if (before === undefined && change === undefined) return false;
  const merged = mergeLists({
    original: before as readonly Json[] | undefined,
    patch: change === undefined ? undefined : (change as readonly Json[]),
    order: order as readonly Json[],
    mergeElement: (element, by) => mergeMap(element, by, items),
    mergeKey,
    merges: strategy === "merge",
  });
  result.set(name, merged);
  return true;
}

function requireList(value: Json | undefined): void {
  if (!Array.isArray(value)) throw unmapped(`expected a []interface {}, but received a ${goType(value as Json)}`);
}

function mergeField(result: Merging, name: string, value: Json, shape: Shape, isDeletion: boolean): void {
  if (value === null) {
    result.delete(name);
    return;
  }
  const before = result.get(name) ?? null;
  if (before === value && typeof value !== "object") return;
  if (kindOf(before) !== kindOf(value)) {
    // A list of deletions has nothing to delete from; anything else is taken as it is.
    if (isDeletion) return;
    const clean = added(value);
    if (clean === undefined) result.delete(name);
    else result.set(name, clean);
  } else if (isObject(value)) {
    const { shape: inner, strategy } = mapPlace(shape, name);
    result.set(name, strategy === "replace" ? value : mergeMap(before as JsonObject, value, inner));
  } else if (Array.isArray(value)) {
    const { items, mergeKey, strategy } = listPlace(shape, name);
    const original = before as readonly Json[];
    const patch = value as readonly Json[];
    const mergeElement = (element: JsonObject, by: JsonObject): JsonObject => mergeMap(element, by, items);
    const merges = strategy === "merge";
    result.set(name, merges ? mergeLists({ original, patch, mergeElement, mergeKey, merges, isDeletion }) : patch);
  } else result.set(name, value);
}

const kindOf = (value: Json): string =>
  value === null ? "null" : Array.isArray(value) ? "list" : typeof value === "object" ? "map" : typeof value;

interface Place {
  readonly shape: Shape;
  /** `merge`, `replace`, or the empty string: `retainKeys` alone changes nothing on the server. */
  readonly strategy: string;
  readonly mergeKey: string;
}

function mapPlace(shape: Shape, name: string): Place {
  if (shape.is === "map") return { shape: shape.values, strategy: "", mergeKey: "" };
  return placeOf(fieldOf(shape, name));
}

function listPlace(shape: Shape, name: string): Place & { readonly items: Shape } {
  const place = mapPlace(shape, name);
  return { ...place, items: place.shape.is === "list" ? place.shape.items : place.shape };
}

function placeOf(field: FieldRow): Place {
  const strategies = (field.patchStrategy ?? "").split(",");
  const strategy = strategies.find((word) => word !== "retainKeys") ?? "";
  return { shape: field.shape, strategy, mergeKey: field.patchMergeKey ?? "" };
}

function fieldOf(shape: Shape, name: string): FieldRow {
  const field = shape.is === "struct" ? shape.type.fields.get(name) : undefined;
  if (field !== undefined) return field;
  const type = shape.is === "struct" ? shortTypeName(shape.type) : "RawExtension";
  throw unmapped(`unable to find api field in struct ${type} for the json field ${JSON.stringify(name)}`);
}
