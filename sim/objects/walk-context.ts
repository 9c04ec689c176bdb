/** What a walk over an incoming object carries along: where it is, what it has met, what it has gathered. */
import type { TypeRow } from "../../wire/schema.ts";
import { toldCharactersMax } from "../contract/errors.ts";
import type { Json } from "../contract/http-message.ts";
import { shortTypeName } from "./zero-values.ts";

/** Deepest nesting of objects and lists that is read. */
export const depthMax = 1000;

/** What one walk has met. A string on the path is a field, a number an index, a one-element list a map key. */
export class WalkContext {
  readonly path: (string | number | readonly [string])[] = [];
  /**
   * Paths of fields that the type does not have, in document order, as `spec.containers[0].imagee`; as many as
   * `toldCharactersMax` has room for.
   */
  readonly unknown: string[] = [];
  private charactersLeft = toldCharactersMax;
  /** The type error to tell, in Go's words: the first that ended the reading, else the first in document order. */
  error: string | undefined = undefined;
  private ended = false;
  /** Innermost struct: error texts name it. */
  struct: TypeRow | undefined = undefined;
  depth = 0;
  /** Fields of the structs that are being read, and their values; what counts is below `top`. */
  readonly found: FieldWalk[] = [];
  readonly values: Json[] = [];
  top = 0;
  /** Whether what is walked may have large maps. */
  isLarge = false;
  /** A large map that was just walked, and is not empty: to ask it for its first key means to list all. */
  large: unknown;
  /** What parts of a large value have been made before; each is handed out once. None of them is empty. */
  ahead: Map<unknown, Json> | undefined = undefined;

  /** What has been made of a container before, if anything was. */
  madeAhead(container: unknown): Json | undefined {
    if (this.ahead === undefined) return undefined;
    const made = this.ahead.get(container);
    if (made === undefined) return undefined;
    this.ahead.delete(container);
    this.large = made;
    return made;
  }

  /** Whether all that was walked is right, and known to its types. */
  get isClean(): boolean {
    return this.error === undefined && this.unknown.length === 0;
  }

  /** A value of the wrong JSON type. */
  mismatch(found: string, goType: string): void {
    this.fail(this.mismatchText(found, goType));
  }

  /** A value that a type with a reader of its own does not take: nothing is read after it. */
  end(text: string): void {
    if (this.ended) return;
    this.ended = true;
    this.error = text;
  }

  /** The text for a value of the wrong JSON type, read by a type of its own. */
  ownMismatchText(found: string, goType: string): string {
    return this.mismatchText(found, goType);
  }

  private mismatchText(found: string, goType: string): string {
    const fields = this.path.filter((step) => typeof step === "string").join(".");
    const into =
      fields === "" || this.struct === undefined
        ? "Go value"
        : `Go struct field ${shortTypeName(this.struct)}.${fields}`;
    return `json: cannot unmarshal ${found} into ${into} of type ${goType}`;
  }

  fail(text: string): void {
    this.error ??= text;
  }

  unknownField(name: string): void {
    if (this.charactersLeft < 0) return;
    const path = renderPath(this.path, name);
    this.charactersLeft -= path.length;
    this.unknown.push(path);
  }
}

/**
 * Words for values of the wrong type in a map that never was a text again: what a strategic merge and an apply make.
 * Source: the published converter's texts.
 */
export class UnstructuredContext extends WalkContext {
  override mismatch(found: string, goType: string): void {
    if (this.error !== undefined) return;
    const kind = goKind(found);
    if (goType.startsWith("map[")) this.error = `cannot restore map from ${kind}`;
    else if (goType.startsWith("[]")) this.error = `cannot restore slice from ${kind}`;
    else if (goType.startsWith("v1.")) this.error = `cannot restore struct from: ${kind}`;
    else if (isNumeric(kind) && (isNumeric(goType) || goType === "string")) {
      this.error = `cannot convert ${kind} to ${goType}`;
    } else this.error = `unrecognized type: ${goType}`;
  }

  override ownMismatchText(found: string, goType: string): string {
    return `json: cannot unmarshal ${found} into Go value of type ${goType}`;
  }

  /** This reader ends at every error. */
  override end(text: string): void {
    this.fail(text);
  }
}

const isNumeric = (type: string): boolean => /^(?:int|float)/.test(type);

/** From the name of a JSON type, for numbers with the value, to a Go kind. */
function goKind(found: string): string {
  if (found.startsWith("number")) return found.includes(".") ? "float64" : "int64";
  return kinds[found] ?? found;
}

const kinds: Readonly<Record<string, string>> = { array: "slice", object: "map" };

function renderPath(path: WalkContext["path"], last: string): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else text += `${text === "" ? "" : "."}${typeof step === "string" ? step : step[0]}`;
  }
  return text === "" ? last : `${text}.${last}`;
}

/**
 * Walks a value that is neither undefined nor null. `previous` is what the stored object has at the same place: when it
 * is the very same frozen value, it has been walked before and is kept as it is.
 * Returns undefined when the field should be left out.
 */
export type Walk = (value: unknown, context: WalkContext, previous: unknown) => Json | undefined;

/** What the walk of a container does with what is in it: for walks that go ahead. */
export interface Inside {
  /** Whether the container counts for how deep values lie in each other. */
  readonly deepens: boolean;
  /** The walk of what stands under a name, or in a list; undefined for what is dropped. */
  readonly of: (name: string) => Walk | undefined;
  /** Of a map of texts in order: makes some of them what they shall be, in place. */
  readonly fill?: (ordered: Record<string, Json>, names: readonly string[], context: WalkContext) => void;
}

export interface FieldWalk {
  readonly name: string;
  readonly at: number;
  readonly walk: Walk;
  readonly required: boolean;
  readonly zero: Json;
  /** Leave out a value that is empty, zero or false. */
  readonly dropEmpty: boolean;
  /** The field that followed it in the last document: objects of a type mostly have the same fields in the same order. */
  follower: FieldWalk | undefined;
  /** And the one before that: clients take turns. */
  otherFollower: FieldWalk | undefined;
}

/** Integers are also refused for their value, which the error then shows. */
export function describeNumber(value: unknown): string {
  if (typeof value === "symbol") return `number ${value.description}`;
  return typeof value === "number" || typeof value === "bigint" ? `number ${String(value)}` : describe(value);
}

/** The JSON type of a value as Go's errors call it. */
export function describe(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "boolean") return "bool";
  if (typeof value === "bigint" || typeof value === "symbol") return "number";
  return typeof value;
}
