/**
 * Values of the expression language. An int is a bigint and a double a number; everything else that JavaScript has no
 * value of its own for is a class here. Values are never changed once made.
 * Source: the published language definition.
 */
import { fail } from "./failures.ts";
import type { Quantity } from "../../wire/quantity.ts";
import type { Cidr, IpAddress } from "./library/ip-address.ts";
import type { Version } from "./library/version.ts";

export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | Uint
  | readonly Value[]
  | MapValue
  | Timestamp
  | Duration
  | Optional
  | TypeValue
  | Opaque;

export class Uint {
  readonly value: bigint;
  constructor(value: bigint) {
    this.value = value;
  }
}

/** Nanoseconds since 1970. */
export class Timestamp {
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

export class Duration {
  readonly nanos: bigint;
  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

export class Optional {
  /** Undefined: there is none. */
  readonly value: Value | undefined;
  constructor(value: Value | undefined) {
    this.value = value;
  }
}

export const none = new Optional(undefined);

/** A type as a value: what `type(x)` gives. */
export class TypeValue {
  readonly name: string;
  constructor(name: string) {
    this.name = name;
  }
}

/** A value of a type that only functions look into. */
export class Opaque {
  readonly type: string;
  readonly content: OpaqueContent;
  constructor(type: string, content: OpaqueContent) {
    this.type = type;
    this.content = content;
  }
}

export type OpaqueContent = Quantity | URL | IpAddress | Cidr | Version | Question | NamedFormat;

/** A question to the authorizer that is being put together, or its answer. */
export interface Question {
  readonly is: "question";
  readonly parts: Readonly<Record<string, string>>;
}

export interface NamedFormat {
  readonly is: "format";
  readonly name: string;
}

/** A list whose elements have no order (`set`), or are told apart by keys (`map`). */
export class AssociativeList extends Array<Value> {
  /** Undefined: a set, whose elements are their own keys. */
  keyFields: readonly string[] | undefined;
  static override get [Symbol.species](): ArrayConstructor {
    return Array;
  }
  static made(items: readonly Value[], keys: readonly string[] | undefined): AssociativeList {
    const list = new AssociativeList();
    for (const item of items) list.push(item);
    list.keyFields = keys;
    return list;
  }
}

/** A map, or an object with fields. Lookups convert what they find when somebody first asks. */
export interface MapValue {
  readonly isMap: true;
  readonly size: number;
  get(key: Value): Value | undefined;
  keys(): readonly Value[];
}

/** A map with its entries at hand. */
export class EntryMap implements MapValue {
  readonly isMap = true;
  private readonly entries = new Map<string, readonly [key: Value, value: Value]>();

  /** False when the key was there before. */
  add(key: Value, value: Value): boolean {
    const id = keyId(key);
    if (id === undefined) return fail(`unsupported key type: ${typeName(key)}`);
    if (this.entries.has(id)) return false;
    this.entries.set(id, [key, value]);
    return true;
  }

  get size(): number {
    return this.entries.size;
  }

  get(key: Value): Value | undefined {
    const id = keyId(key);
    return id === undefined ? undefined : this.entries.get(id)?.[1];
  }

  keys(): readonly Value[] {
    return [...this.entries.values()].map(([key]) => key);
  }
}

/** Keys that are equal, whatever their types, have the same id; undefined for what cannot be a key. */
function keyId(key: Value): string | undefined {
  if (typeof key === "string") return `s${key}`;
  if (typeof key === "boolean") return `b${key}`;
  if (typeof key === "bigint") return `n${key}`;
  if (key instanceof Uint) return `n${key.value}`;
  if (typeof key === "number" && Number.isInteger(key)) return `n${BigInt(key)}`;
  return undefined;
}

export const isMap = (value: Value): value is MapValue =>
  typeof value === "object" && value !== null && (value as MapValue).isMap === true;

export const isList = (value: Value): value is readonly Value[] => Array.isArray(value);

/** The name of a value's type, as `type(x)` and errors show it. */
export function typeName(value: Value): string {
  switch (typeof value) {
    case "boolean":
      return "bool";
    case "bigint":
      return "int";
    case "number":
      return "double";
    case "string":
      return "string";
    default:
      return objectTypeName(value);
  }
}

function objectTypeName(value: Exclude<Value, string | number | bigint | boolean>): string {
  if (value === null) return "null_type";
  if (isList(value)) return "list";
  if (value instanceof Uint8Array) return "bytes";
  if (value instanceof Uint) return "uint";
  if (value instanceof Timestamp) return "google.protobuf.Timestamp";
  if (value instanceof Duration) return "google.protobuf.Duration";
  if (value instanceof Optional) return "optional_type";
  if (value instanceof TypeValue) return "type";
  if (value instanceof Opaque) return value.type;
  return "map";
}
