/**
 * What server-side apply knows of a type: which maps and lists are one value, which have fields, keys or elements of
 * their own. Made from the type tables, each part at its first use, because types are recursive.
 * Source: the tables' list and map types; the facts, section 4, server-side apply.
 */
import type { FieldRow, Shape, TypeRow } from "../../../wire/schema.ts";
import type { Json } from "../../contract/http-message.ts";
import { keyStepOf } from "../field-diff.ts";
import { valueStep } from "../field-set.ts";
import { isObject } from "../../contract/objects.ts";

export type Typed = TypedScalar | TypedMap | TypedList;

export interface TypedScalar {
  readonly is: "scalar";
  /** `any` takes numbers, strings and booleans. */
  readonly scalar: "string" | "numeric" | "boolean" | "any";
}

/** An object: a struct, or a map with keys of the client's own. */
export interface TypedMap {
  readonly is: "map";
  /** Owned and replaced as a whole. */
  readonly atomic: boolean;
  /** The type knows this field by name. */
  readonly declares: (field: string) => boolean;
  /** What stands under a key; undefined for a field that the type does not have. */
  readonly at: (key: string) => Typed | undefined;
}

export interface TypedList {
  readonly is: "list";
  readonly relation: "atomic" | "set" | "map";
  readonly items: Typed;
  /** Of a list of relation `map`, in order. */
  readonly keys: readonly string[];
  /** The default of each key; undefined where there is none. */
  readonly defaults: readonly (Json | undefined)[];
  /** How a field set names an element; undefined for one that cannot be named. */
  readonly stepOf: (item: Json) => string | undefined;
}

const structs = new WeakMap<TypeRow, TypedMap>();

/** The type of a whole object. */
export function typedOf(type: TypeRow): TypedMap {
  let typed = structs.get(type);
  if (typed === undefined) structs.set(type, (typed = typedStruct(type, type.mapType === "atomic")));
  return typed;
}

function typedStruct(type: TypeRow, atomic: boolean): TypedMap {
  const known = new Map<string, Typed>();
  const at = (name: string): Typed | undefined => {
    const field = type.fields.get(name);
    if (field === undefined) return type.open ? unknownMap : undefined;
    let typed = known.get(name);
    if (typed === undefined) known.set(name, (typed = typedField(field)));
    return typed;
  };
  return { is: "map", atomic, declares: (name) => type.fields.has(name), at };
}

function typedField(field: FieldRow): Typed {
  const { shape, mapType } = field;
  if (shape.is === "list") return typedList(shape.items, field);
  if (shape.is === "map") return typedMap(shape, mapType === "atomic");
  if (shape.is === "struct" && mapType !== undefined) return typedStruct(shape.type, mapType === "atomic");
  return typedShape(shape);
}

function typedShape(shape: Shape): Typed {
  switch (shape.is) {
    case "struct":
      return typedOf(shape.type);
    case "map":
      return typedMap(shape, false);
    case "list":
      return atomicList(typedShape(shape.items));
    case "opaque":
      return unknownMap;
    case "either":
      return { is: "scalar", scalar: "any" };
    default:
      return { is: "scalar", scalar: shape.type === "integer" || shape.type === "number" ? "numeric" : shape.type };
  }
}

function typedMap({ values, each }: Extract<Shape, { is: "map" }>, atomic: boolean): TypedMap {
  let typed: Typed | undefined;
  const at = (): Typed => (typed ??= each === undefined ? typedShape(values) : typedField(each));
  return { is: "map", atomic, declares: () => false, at };
}

const atomicList = (items: Typed): TypedList => ({
  is: "list",
  relation: "atomic",
  items,
  keys: [],
  defaults: [],
  stepOf: () => undefined,
});

function typedList(items: Shape, { listType, listMapKeys = [] }: FieldRow): TypedList {
  const typed = typedShape(items);
  if (listType === "set") return { ...atomicList(typed), relation: "set", stepOf: stepOfScalar };
  if (listType !== "map" || items.is !== "struct") return atomicList(typed);
  const keys = [...listMapKeys].sort();
  const defaults = keys.map((key) => items.type.fields.get(key)?.default as Json | undefined);
  const stepOf = (item: Json): string | undefined => {
    if (!isObject(item)) return undefined;
    const named = keys.every((key, at) => (item[key] ?? defaults[at] ?? null) !== null);
    return named ? keyStepOf(item, keys, defaults) : undefined;
  };
  return { is: "list", relation: "map", items: typed, keys, defaults, stepOf };
}

const stepOfScalar = (item: Json): string | undefined => (typeof item === "object" ? undefined : valueStep(item));

/** Below a value without a type everything is taken by its form: objects by field, lists as a whole. */
const unknownMap: TypedMap = { is: "map", atomic: false, declares: () => false, at: () => undefined };
const unknownList = atomicList(unknownMap);
const unknownScalar: TypedScalar = { is: "scalar", scalar: "any" };

/** The type of `value` at a place whose type is `typed`: where the tables know nothing, the value's own form. */
export function resolve(typed: Typed | undefined, value: Json | undefined): Typed {
  if (typed !== undefined && typed !== unknownMap) return typed;
  if (isObject(value) || value === undefined || value === null) return unknownMap;
  return Array.isArray(value) ? unknownList : unknownScalar;
}

/** Nothing is known of the values below: any field may be there. */
export const isUnknown = (typed: Typed): boolean => typed === unknownMap;
