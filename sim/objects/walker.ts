/**
 * The walk that every incoming object takes: one closure a shape, made once from the type tables. It checks types,
 * drops unknown fields and empty values, copies the rest in wire order, and remembers the first type error and every
 * unknown field. The same walk serves bodies, objects handed over in process, and patched documents.
 */
import { compareBytes, sortByBytes } from "../../wire/go-strings.ts";
import type { FieldRow, Shape, TypeRow } from "../../wire/schema.ts";
import type { Json, JsonObject } from "../contract/http-message.ts";
import { int64Of } from "./int64.ts";
import { orderedBefore, orderedSetBefore } from "./large-maps.ts";
import { type NamedScalar, namedScalars } from "./scalars.ts";
import {
  depthMax,
  describe,
  describeNumber,
  type FieldWalk,
  type Inside,
  type Walk,
  type WalkContext,
} from "./walk-context.ts";
import { orderedRows, presenceOf, shortTypeName, zeroOfField, zeroOfShape, zeroStruct } from "./zero-values.ts";

interface StructWalk {
  readonly fields: Map<string, FieldWalk>;
  readonly list: readonly FieldWalk[];
  readonly always: readonly FieldWalk[];
  /** The field that the last document began with. */
  first: FieldWalk | undefined;
}

const structs = new Map<TypeRow, Walk>();
const customWalks = new WeakMap<TypeRow, Walk>();

/** The walk of a struct; made once for each type. */
export function walkOfStruct(type: TypeRow): Walk {
  const known = structs.get(type) ?? customWalks.get(type);
  if (known !== undefined) return known;
  const walk = compileStruct(type);
  structs.set(type, walk);
  return walk;
}

/** Types made at run time bring a walk of their own, and go when nobody serves them any more. */
export function setCustomWalk(type: TypeRow, walk: Walk): void {
  customWalks.set(type, walk);
}

const insides = new WeakMap<Walk, Inside>();

/** Of the walk of a container by the type tables. */
export const insideOf = (walk: Walk): Inside | undefined => insides.get(walk);

function withInside(walk: Walk, inside: Inside): Walk {
  insides.set(walk, inside);
  return walk;
}

function compileStruct(type: TypeRow): Walk {
  let plan: StructWalk | undefined; // made at the first use: types are recursive
  const goType = `v1.${shortTypeName(type)}`;
  const walk: Walk = (value, context, previous) => {
    if (value === previous && Object.isFrozen(value)) return value as Json;
    const ahead = context.madeAhead(value);
    if (ahead !== undefined) return ahead;
    if (typeof value !== "object" || Array.isArray(value)) {
      context.mismatch(describe(value), goType);
      return zeroStruct(type);
    }
    plan ??= planStruct(type);
    if (++context.depth > depthMax) {
      context.fail("json: exceeded max depth");
      context.depth--;
      return zeroStruct(type);
    }
    const outer = context.struct;
    context.struct = type;
    const result = walkFields(plan, value as JsonObject, context, previous as JsonObject | undefined);
    context.struct = outer;
    context.depth--;
    return result;
  };
  return withInside(walk, { deepens: true, of: (name) => (plan ??= planStruct(type)).fields.get(name)?.walk });
}

/**
 * Values are walked in document order, so that the first error is the document's first; they are written in wire order.
 * What is found waits on a stack of the context, each struct above its parent.
 */
function walkFields(
  plan: StructWalk,
  input: JsonObject,
  context: WalkContext,
  previous: JsonObject | undefined,
): JsonObject {
  const { path, found, values } = context;
  const base = context.top;
  let requiredCount = 0;
  let last: FieldWalk | undefined;
  for (const key in input) {
    let field = last === undefined ? plan.first : last.follower;
    if (field === undefined || field.name !== key) {
      field = last?.otherFollower;
      if (field === undefined || field.name !== key) {
        field = plan.fields.get(key);
        if (field === undefined) {
          context.unknownField(key);
          continue;
        }
        if (last === undefined) plan.first = field;
        else {
          last.otherFollower = last.follower;
          last.follower = field;
        }
      }
    }
    last = field;
    const value: unknown = input[key];
    if (value === undefined || value === null) continue;
    path.push(key);
    const walked = field.walk(value, context, previous === undefined ? undefined : previous[key]);
    path.pop();
    if (walked === undefined || (field.dropEmpty && walked !== context.large && isEmpty(walked))) continue;
    file(context, base, field, walked);
    if (field.required) requiredCount++;
  }
  if (requiredCount < plan.always.length) fileMissing(plan, context, base);
  const result: Record<string, Json> = {};
  for (let at = base; at < context.top; at++) result[(found[at] as FieldWalk).name] = values[at] as Json;
  context.top = base;
  return result;
}

/** Puts a field in its place among those of its struct; mostly that is the end. */
function file(context: WalkContext, base: number, field: FieldWalk, value: Json): void {
  const { found, values } = context;
  let at = context.top++;
  for (; at > base && (found[at - 1] as FieldWalk).at > field.at; at--) {
    found[at] = found[at - 1] as FieldWalk;
    values[at] = values[at - 1] as Json;
  }
  found[at] = field;
  values[at] = value;
}

function fileMissing(plan: StructWalk, context: WalkContext, base: number): void {
  const { found } = context;
  for (const field of plan.always) {
    let at = context.top - 1;
    while (at >= base && found[at] !== field) at--;
    if (at < base) file(context, base, field, field.zero);
  }
}

function planStruct(type: TypeRow): StructWalk {
  const list = orderedRows(type).map((field, at): FieldWalk => {
    const presence = presenceOf(type, field);
    const preset = isPreset(field.default);
    const required = presence === "always" || preset;
    return {
      name: field.name,
      at,
      walk: compileField(field),
      required,
      zero: preset ? (field.default as Json) : required ? zeroOfField(type, field) : null,
      dropEmpty: presence === "filled",
      follower: undefined,
      otherFollower: undefined,
    };
  });
  return {
    list,
    fields: new Map(list.map((field) => [field.name, field])),
    always: list.filter((field) => field.required),
    first: undefined,
  };
}

/** A default of the table that says more than the zero value. */
const isPreset = (value: unknown): boolean => (typeof value === "string" && value !== "") || value === 1;

function compileField(field: FieldRow): Walk {
  return compileShape(field.shape, field.typeName);
}

function compileShape(shape: Shape, typeName: string | undefined): Walk {
  const named = typeName === undefined ? undefined : namedScalars[typeName];
  if (named !== undefined) return compileNamed(named);
  switch (shape.is) {
    case "struct":
      return walkOfStruct(shape.type);
    case "list":
      return compileList(shape.items);
    case "map":
      return compileMap(shape.values);
    case "either":
      return compileNamed(shape.types.includes("integer") ? intOrString : quantity);
    case "opaque":
      return shape.objectOnly ? walkOpaqueObject : walkOpaque;
    default:
      return compileScalar(shape.type, shape.format);
  }
}

const quantity = namedScalars["~apimachinery.pkg.api.resource.Quantity"] as NamedScalar;
const intOrString = namedScalars["~apimachinery.pkg.util.intstr.IntOrString"] as NamedScalar;

/** Walks of scalars that may end the reading, whatever was wrong before. */
const namedWalks = new WeakSet<Walk>();

function compileNamed(scalar: NamedScalar): Walk {
  const walk: Walk = (value, context, previous) => {
    if (value === previous) return value as Json;
    const result = scalar(value);
    if (result.ok) return result.value;
    const { expected, error } = result;
    if (result.goesOn === true) {
      if (expected === undefined) context.fail(error);
      else context.mismatch(describe(value), expected);
    } else if (expected === undefined) context.end(error);
    else {
      const found = expected === "int32" ? describeNumber(value) : describe(value);
      context.end(context.ownMismatchText(found, expected));
    }
    return undefined;
  };
  namedWalks.add(walk);
  return walk;
}

function compileScalar(type: "string" | "integer" | "number" | "boolean", format: string | undefined): Walk {
  if (type === "string") return format === "byte" ? compileNamed(namedScalars["byte"] as NamedScalar) : walkString;
  if (type === "boolean") return walkBoolean;
  if (type === "number") return walkNumber;
  return format === "int64" ? walkInt64 : walkInt32;
}

const walkString: Walk = (value, context) => {
  if (typeof value === "string") return value;
  context.mismatch(describe(value), "string");
  return undefined;
};

const walkBoolean: Walk = (value, context) => {
  if (typeof value === "boolean") return value;
  context.mismatch(describe(value), "bool");
  return undefined;
};

const walkNumber: Walk = (value, context) => {
  const isSpelled = typeof value === "symbol";
  const number = isSpelled ? Number(value.description) : typeof value === "bigint" ? Number(value) : value;
  if (typeof number === "number" && Number.isFinite(number)) return number === 0 ? 0 : number;
  context.mismatch(isSpelled ? describeNumber(value) : describe(value), "float64");
  return undefined;
};

const walkInt32: Walk = (value, context) => {
  if (typeof value === "number" && (value | 0) === value) return value === 0 ? 0 : value;
  context.mismatch(describeNumber(value), "int32");
  return undefined;
};

const walkInt64: Walk = (value, context) => {
  const integer = int64Of(value);
  if (integer === undefined) context.mismatch(describeNumber(value), "int64");
  return integer;
};

function compileList(items: Shape): Walk {
  const walk = compileShape(items, typeNameOf(items));
  const scalar = items.is === "scalar";
  const goType = `[]${goTypeOf(items)}`;
  const walkAll: Walk = (value, context, previous) => {
    if (value === previous && Object.isFrozen(value)) return value as Json;
    const ahead = context.madeAhead(value);
    if (ahead !== undefined) return ahead;
    if (!Array.isArray(value)) {
      context.mismatch(describe(value), goType);
      return undefined;
    }
    const before = Array.isArray(previous) ? (previous as readonly unknown[]) : noItems;
    const result: Json[] = [];
    for (let at = 0; at < value.length; at++) {
      const item: unknown = value[at];
      if (item === undefined || item === null) {
        result.push(zeroOfShape(items));
        continue;
      }
      if (!scalar) context.path.push(at);
      result.push(walk(item, context, before[at]) ?? zeroOfShape(items));
      if (!scalar) context.path.pop();
    }
    return result;
  };
  return withInside(walkAll, { deepens: false, of: () => walk });
}

const noItems: readonly unknown[] = [];

function compileMap(values: Shape): Walk {
  const walk = compileShape(values, typeNameOf(values));
  const scalar = values.is === "scalar";
  const ofTexts = scalar || values.is === "either";
  const goType = `map[string]${goTypeOf(values)}`;
  /** Scalars without a reader of their own: the first error is the one that is told, so that the rest need not be walked. */
  const isPlain = values.is === "scalar" && !namedWalks.has(walk);
  /** Puts what `table` has under a key into `result`; which may be the same: most of what is in order is right as it stands. */
  const member = (
    key: string,
    table: Readonly<Record<string, unknown>>,
    result: Record<string, Json>,
    context: WalkContext,
    before: JsonObject | undefined,
  ): void => {
    const item = table[key];
    if (item === undefined) return;
    if (item === null) {
      setKey(result, key, zeroOfShape(values));
      return;
    }
    if (!scalar) context.path.push([key]);
    const made = walk(item, context, before?.[key]) ?? zeroOfShape(values);
    if (made !== item || table !== result) setKey(result, key, made);
    if (!scalar) context.path.pop();
  };
  const walkAll: Walk = (value, context, previous) => {
    if (value === previous && Object.isFrozen(value)) return value as Json;
    if (typeof value !== "object" || Array.isArray(value)) {
      context.mismatch(describe(value), goType);
      return undefined;
    }
    const ahead = context.madeAhead(value);
    if (ahead !== undefined) return ahead;
    const before = previous as JsonObject | undefined;
    const ordered = ofTexts ? (orderedBefore(value as JsonObject) as Record<string, Json> | undefined) : undefined;
    if (ordered !== undefined && walk === walkString) return (context.large = ordered);
    const result: Record<string, Json> = ordered ?? {};
    const table: Readonly<Record<string, unknown>> = ordered ?? (value as JsonObject);
    const keys = sortedKeys(table, context.isLarge || ordered !== undefined);
    if (keys === undefined) for (const key in table) member(key, table, result, context, before);
    else {
      for (const key of keys) {
        member(key, table, result, context, before);
        if (isPlain && context.error !== undefined) break;
      }
      if (keys.length > manyKeys && table[keys[0] as string] !== undefined) context.large = result;
    }
    return result;
  };
  return withInside(walkAll, {
    deepens: false,
    of: () => walk,
    ...(ofTexts &&
      walk !== walkString && {
        fill(ordered, names, context) {
          for (const name of names) member(name, ordered, ordered, context, undefined);
        },
      }),
  });
}

/** Of a table with more keys than this, the list of them is faster to go through than the table itself. */
const manyKeys = 256;

/**
 * Its keys in byte order, so that what is stored is written as it stands. Undefined when there are few, and in order as they stand:
 * then nothing is listed. In what may be large all are listed at once: to begin to go through a large table means to list it, too.
 */
function sortedKeys(table: Readonly<Record<string, unknown>>, isLarge: boolean): readonly string[] | undefined {
  if (isLarge) return inByteOrder(Object.keys(table));
  let last = "";
  let count = 0;
  for (const key in table) {
    if (key < last || ++count > manyKeys) return inByteOrder(Object.keys(table));
    last = key;
  }
  return undefined;
}

function inByteOrder(keys: string[]): readonly string[] {
  return keys.length <= fewKeys ? sortFew(keys) : sortByBytes(keys);
}

const fewKeys = 8;

/** By insertion: the library's way of sorting costs more than two keys are worth. */
function sortFew(keys: string[]): readonly string[] {
  for (let end = 1; end < keys.length; end++) {
    const key = keys[end] as string;
    let at = end;
    for (; at > 0 && compareBytes(keys[at - 1] as string, key) > 0; at--) keys[at] = keys[at - 1] as string;
    keys[at] = key;
  }
  return keys;
}

/** Sets an own property, whatever the key is called. */
export function setKey(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else target[key] = value;
}

const walkOpaqueObject: Walk = (value, context, previous) => {
  if (typeof value !== "object" || Array.isArray(value)) {
    context.mismatch(describe(value), "map[string]interface {}");
    return undefined;
  }
  return walkOpaque(value, context, previous);
};

/** A value whose inside no table knows: copied as JSON, keys in byte order. */
const walkOpaque: Walk = (value, context, previous) => {
  if (typeof value === "object" && value !== null) {
    if (value === previous && Object.isFrozen(value)) return value as Json;
    const ahead = context.madeAhead(value);
    if (ahead !== undefined) return ahead;
    if (++context.depth > depthMax) {
      context.fail("json: exceeded max depth");
      context.depth--;
      return undefined;
    }
    const copy = Array.isArray(value) ? copyList(value, context) : copyObject(value, context);
    context.depth--;
    return copy;
  }
  if (typeof value === "string" || typeof value === "boolean") return value;
  if (typeof value === "number" && Number.isFinite(value)) return value === 0 ? 0 : value;
  if (typeof value === "bigint") return int64Of(value) ?? Number(value);
  if (typeof value === "symbol") return walkNumber(value, context, previous);
  context.fail(`json: unsupported value: ${String(value)}`);
  return undefined;
};

/** A shallow copy. Of very many members the engine's own way takes about twice as long. */
export function copiedMap(map: JsonObject): Record<string, Json> {
  const keys = Object.keys(map);
  if (keys.length <= manyKeys) return { ...map };
  const copy: Record<string, Json> = {};
  for (const key of keys) setKey(copy, key, map[key]);
  return copy;
}

const insideOpaque: Inside = { deepens: true, of: () => walkOpaque };
insides.set(walkOpaque, insideOpaque);
insides.set(walkOpaqueObject, insideOpaque);

function copyList(list: readonly unknown[], context: WalkContext): Json {
  return list.map((item) =>
    item === undefined || item === null ? null : (walkOpaque(item, context, undefined) ?? null),
  );
}

function copyObject(object: object, context: WalkContext): Json {
  const ordered = context.depth < depthMax ? orderedSetBefore(object as JsonObject) : undefined;
  if (ordered !== undefined) return (context.large = ordered as Json);
  const result: Record<string, Json> = {};
  const table = object as Readonly<Record<string, unknown>>;
  const member = (key: string): void => {
    const item = table[key];
    if (item !== undefined) setKey(result, key, item === null ? null : (walkOpaque(item, context, undefined) ?? null));
  };
  const keys = sortedKeys(table, context.isLarge);
  if (keys === undefined) for (const key in table) member(key);
  else for (const key of keys) member(key);
  return result;
}

/** Whether a value is the zero of its kind, or has nothing in it. */
export function isEmpty(value: Json): boolean {
  if (value === "" || value === 0 || value === false) return true;
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.length === 0;
  // The type says array still, as a readonly one is no `any[]`; stopping at the first key beats listing them all.
  // oxlint-disable-next-line typescript/no-for-in-array
  for (const _ in value) return false;
  return true;
}

/** Quantities, times and their kin lose their name inside lists and maps; their shapes tell them apart again. */
function typeNameOf(shape: Shape): string | undefined {
  if (shape.is === "scalar" && shape.format === "date-time") return "~apimachinery.pkg.apis.meta.v1.Time";
  return undefined;
}

function goTypeOf(shape: Shape): string {
  switch (shape.is) {
    case "struct":
      return `v1.${shortTypeName(shape.type)}`;
    case "list":
      return `[]${goTypeOf(shape.items)}`;
    case "map":
      return `map[string]${goTypeOf(shape.values)}`;
    case "either":
      return shape.types.includes("integer") ? "intstr.IntOrString" : "resource.Quantity";
    case "opaque":
      return "interface {}";
    default:
      if (shape.type === "boolean") return "bool";
      if (shape.type === "number") return "float64";
      if (shape.type === "integer") return shape.format === "int64" ? "int64" : "int32";
      return shape.format === "byte" ? "[]uint8" : "string";
  }
}
