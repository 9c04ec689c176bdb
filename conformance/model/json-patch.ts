/** JSON patches, written from RFC 6902 and RFC 6901 alone. */
import { isJsonObject, type Json } from "../client/types.ts";
import { sameJson } from "./json-values.ts";

export interface PatchOperation {
  readonly op: "add" | "remove" | "replace" | "move" | "copy" | "test";
  readonly path: string;
  readonly from?: string;
  readonly value?: Json;
}

/** The document after all operations in order. Undefined: some operation cannot be done, so nothing is. */
export function applyJsonPatch(document: Json, operations: readonly PatchOperation[]): Json | undefined {
  let current: Json | undefined = document;
  for (const operation of operations) {
    current = applyOperation(current, operation);
    if (current === undefined) return undefined;
  }
  return current;
}

function applyOperation(document: Json, { op, path, from, value }: PatchOperation): Json | undefined {
  const at = parsePointer(path);
  const source = parsePointer(from ?? "");
  if (at === undefined || source === undefined) return undefined;
  switch (op) {
    case "add":
      return value === undefined ? undefined : added(document, at, value);
    case "remove":
      return removed(document, at);
    case "replace":
      if (value === undefined || found(document, at) === undefined) return undefined;
      return replaced(document, at, value);
    case "test": {
      const there = found(document, at);
      return there !== undefined && sameJson(there, value) ? document : undefined;
    }
    case "copy":
    case "move": {
      const moving = from === undefined ? undefined : found(document, source);
      if (moving === undefined) return undefined;
      if (op === "copy") return added(document, at, moving);
      const isInto = at.length > source.length && source.every((word, index) => at[index] === word);
      const without = isInto ? undefined : removed(document, source);
      if (source.length === 0 && at.length === 0) return document;
      return without === undefined ? undefined : added(without, at, moving);
    }
    default:
      return undefined;
  }
}

/** The reference tokens of a pointer; undefined when it is none. */
export function parsePointer(pointer: string): string[] | undefined {
  if (pointer === "") return [];
  if (!pointer.startsWith("/") || /~(?![01])/.test(pointer)) return undefined;
  return pointer
    .slice(1)
    .split("/")
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
}

export function pointerTo(...tokens: readonly (string | number)[]): string {
  return tokens.map((token) => `/${String(token).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

function found(document: Json | undefined, [token, ...rest]: readonly string[]): Json | undefined {
  if (token === undefined) return document;
  if (Array.isArray(document)) {
    const index = indexOf(token, document.length - 1);
    return index === undefined ? undefined : found(document[index] as Json, rest);
  }
  if (!isJsonObject(document) || !Object.hasOwn(document, token)) return undefined;
  return found(document[token], rest);
}

function added(document: Json, at: readonly string[], value: Json): Json | undefined {
  return changed(document, at, value, (list, token) => {
    const index = token === "-" ? list.length : indexOf(token, list.length);
    return index === undefined ? undefined : list.toSpliced(index, 0, value);
  });
}

/** What is there is known to be there. */
function replaced(document: Json, at: readonly string[], value: Json): Json | undefined {
  return changed(document, at, value, (list, token) => list.with(Number(token), value));
}

function removed(document: Json, at: readonly string[]): Json | undefined {
  if (at.length === 0 || found(document, at) === undefined) return undefined;
  return changed(document, at, undefined, (list, token) => list.toSpliced(Number(token), 1));
}

/** A copy with a field set to `value`, or without it when that is undefined, or with a list changed by `inList`. */
function changed(
  document: Json,
  [token, ...rest]: readonly string[],
  value: Json | undefined,
  inList: (list: readonly Json[], token: string) => Json[] | undefined,
): Json | undefined {
  if (token === undefined) return value;
  if (Array.isArray(document)) {
    const list = document as readonly Json[];
    if (rest.length === 0) return inList(list, token);
    const index = indexOf(token, list.length - 1);
    const inner = index === undefined ? undefined : changed(list[index] as Json, rest, value, inList);
    return inner === undefined ? undefined : list.with(index as number, inner);
  }
  if (!isJsonObject(document)) return undefined;
  if (rest.length === 0) {
    const { [token]: _old, ...others } = document;
    return value === undefined ? others : { ...others, [token]: value };
  }
  const inner = Object.hasOwn(document, token) ? changed(document[token] as Json, rest, value, inList) : undefined;
  return inner === undefined ? undefined : { ...document, [token]: inner };
}

function indexOf(token: string, max: number): number | undefined {
  if (!/^(0|[1-9]\d*)$/.test(token)) return undefined;
  return Number(token) <= max ? Number(token) : undefined;
}
