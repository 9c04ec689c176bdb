/**
 * Types of expressions: how they are written, and which may stand where another is wanted.
 * Source: the published language definition (gradual types: `dyn` fits everywhere).
 */
export type CelType =
  | { readonly is: "simple"; readonly name: string; readonly max?: number; readonly nullable?: boolean }
  | { readonly is: "list"; readonly of: CelType; readonly max?: number; readonly keys?: ListKeys }
  | { readonly is: "map"; readonly key: CelType; readonly value: CelType; readonly max?: number }
  | { readonly is: "object"; readonly name: string; readonly fields: ObjectFields }
  | { readonly is: "optional"; readonly of: CelType }
  | { readonly is: "type"; readonly of: CelType }
  | { readonly is: "param"; readonly id: number };

/** What makes elements of a list the same: they themselves, or fields. */
export type ListKeys = { readonly by: "value" } | { readonly by: "fields"; readonly fields: readonly string[] };

/** By the names that expressions use. */
export interface ObjectFields extends Iterable<readonly [string, ObjectField]> {
  get(name: string): ObjectField | undefined;
}

/** A field of an object as expressions name it, and as JSON does. */
export interface ObjectField {
  readonly name: string;
  readonly type: CelType;
}

const simple = (name: string): CelType => ({ is: "simple", name });

export const dyn = simple("dyn");
export const bool = simple("bool");
export const int = simple("int");
export const uint = simple("uint");
export const double = simple("double");
export const string = simple("string");
export const bytes = simple("bytes");
export const nullType = simple("null");
export const timestamp = simple("google.protobuf.Timestamp");
export const duration = simple("google.protobuf.Duration");

export const listOf = (of: CelType): CelType => ({ is: "list", of });
export const mapOf = (key: CelType, value: CelType): CelType => ({ is: "map", key, value });
export const optionalOf = (of: CelType): CelType => ({ is: "optional", of });

export const isDyn = (type: CelType): boolean => type.is === "simple" && type.name === "dyn";

/** `list(map(string, int))`. */
export function formatType(type: CelType, bindings?: Bindings): string {
  const show = (inner: CelType): string => formatType(inner, bindings);
  switch (type.is) {
    case "simple":
      return shortNames[type.name] ?? type.name;
    case "object":
      return type.name;
    case "list":
      return `list(${show(type.of)})`;
    case "map":
      return `map(${show(type.key)}, ${show(type.value)})`;
    case "optional":
      return `optional_type(${show(type.of)})`;
    case "type":
      return `type(${show(type.of)})`;
    default: {
      const bound = bindings?.get(type.id);
      return bound === undefined ? "dyn" : show(bound);
    }
  }
}

const shortNames: Readonly<Record<string, string>> = {
  "google.protobuf.Timestamp": "timestamp",
  "google.protobuf.Duration": "duration",
};

/** What type parameters stand for, as far as it is known. What a failed attempt has bound is taken back. */
export class Bindings {
  private readonly bound = new Map<number, CelType>();
  private readonly order: number[] = [];

  get(id: number): CelType | undefined {
    return this.bound.get(id);
  }

  bind(id: number, type: CelType): void {
    this.bound.set(id, type);
    this.order.push(id);
  }

  /** A moment to go back to. */
  mark(): number {
    return this.order.length;
  }

  undo(mark: number): void {
    while (this.order.length > mark) this.bound.delete(this.order.pop() as number);
  }
}

/** Follows a parameter to what it is bound to. */
export function resolve(type: CelType, bindings: Bindings): CelType {
  let found = type;
  while (found.is === "param") {
    const bound = bindings.get(found.id);
    if (bound === undefined) return found;
    found = bound;
  }
  return found;
}

/** The type with all bound parameters replaced; what is bound to nothing is `dyn`. */
export function substitute(type: CelType, bindings: Bindings, open: "dyn" | "keep" = "keep"): CelType {
  const found = resolve(type, bindings);
  switch (found.is) {
    case "list":
      return { ...found, of: substitute(found.of, bindings, open) };
    case "map":
      return { ...found, key: substitute(found.key, bindings, open), value: substitute(found.value, bindings, open) };
    case "optional":
    case "type":
      return { ...found, of: substitute(found.of, bindings, open) };
    case "param":
      return open === "dyn" ? dyn : found;
    default:
      return found;
  }
}

/** Whether `found` may stand where `wanted` is; binds parameters on the way. A failure leaves `bindings` as it was. */
export function assignable(found: CelType, wanted: CelType, bindings: Bindings): boolean {
  const mark = bindings.mark();
  if (unify(found, wanted, bindings)) return true;
  bindings.undo(mark);
  return false;
}

function unify(found: CelType, wanted: CelType, bindings: Bindings): boolean {
  const a = resolve(found, bindings);
  const b = resolve(wanted, bindings);
  if (b.is === "param") return bind(b.id, a, bindings);
  if (a.is === "param") return bind(a.id, b, bindings);
  if (isDyn(a) || isDyn(b)) return true;
  if (a.is === "list" && b.is === "list") return unify(a.of, b.of, bindings);
  if (a.is === "map" && b.is === "map") return unify(a.key, b.key, bindings) && unify(a.value, b.value, bindings);
  if (a.is === "optional" && b.is === "optional") return unify(a.of, b.of, bindings);
  if (a.is === "type" && b.is === "type") return true;
  if (isNull(a)) return takesNull(b);
  if (isNull(b)) return takesNull(a);
  return (a.is === "simple" || a.is === "object") && a.is === b.is && a.name === (b as typeof a).name;
}

const isNull = (type: CelType): boolean => type.is === "simple" && type.name === "null";

const neverNull: ReadonlySet<string> = new Set(["bool", "int", "uint", "double", "string", "bytes"]);

function takesNull(type: CelType): boolean {
  if (type.is === "simple") return type.nullable === true || !neverNull.has(type.name);
  return type.is === "object" || type.is === "optional";
}

function bind(id: number, type: CelType, bindings: Bindings): boolean {
  if (type.is === "param" && type.id === id) return true;
  if (mentions(type, id, bindings)) return false;
  bindings.bind(id, type);
  return true;
}

function mentions(type: CelType, id: number, bindings: Bindings): boolean {
  const found = resolve(type, bindings);
  if (found.is === "param") return found.id === id;
  if (found.is === "map") return mentions(found.key, id, bindings) || mentions(found.value, id, bindings);
  return (found.is === "list" || found.is === "optional" || found.is === "type") && mentions(found.of, id, bindings);
}

/**
 * Reads a type as signatures write it: `int`, `list<A>`, `map<string, A>`, `optional<A>`, `net.IP`; a capital letter
 * alone is a parameter, numbered by `parameter`.
 */
export function readType(text: string, parameter: (name: string) => CelType): CelType {
  const [, outer = "", inner = ""] = /^([\w.]+)(?:<(.*)>)?$/.exec(text.trim()) ?? [];
  const read = (part: string): CelType => readType(part, parameter);
  if (outer === "list") return listOf(read(inner));
  if (outer === "optional") return optionalOf(read(inner));
  if (outer === "type") return { is: "type", of: inner === "" ? dyn : read(inner) };
  if (outer === "map") {
    const comma = inner.indexOf(",");
    return mapOf(read(inner.slice(0, comma)), read(inner.slice(comma + 1)));
  }
  if (/^[A-Z]$/.test(outer)) return parameter(outer);
  return simple(longNames[outer] ?? outer);
}

const longNames: Readonly<Record<string, string>> = {
  timestamp: "google.protobuf.Timestamp",
  duration: "google.protobuf.Duration",
};
