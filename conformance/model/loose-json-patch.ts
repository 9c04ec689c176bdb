/**
 * JSON patches as the known implementation's library carries them out, where it is looser than RFC 6902: written from
 * what was observed of kube-apiserver 1.33 and 1.36. A member that is absent reads as null, except where it is taken
 * away; a value that is left out is null; an index counts from the end when it is negative, and may have leading zeros.
 */
import { isJsonObject, type Json } from "../client/types.ts";
import { parsePointer, type PatchOperation } from "./json-patch.ts";
import { sameJson } from "./json-values.ts";

/** The document after all operations in order. Undefined: some operation cannot be done, so nothing is. */
export function applyLooseJsonPatch(document: Json, operations: readonly PatchOperation[]): Json | undefined {
  let current: Json | undefined = document;
  for (const operation of operations) {
    current = applyOperation(current, operation);
    if (current === undefined) return undefined;
  }
  return current;
}

type Outcome = Json | undefined;

function applyOperation(document: Json, { op, path, from, value = null }: PatchOperation): Outcome {
  const at = parsePointer(path);
  const source = parsePointer(from ?? "");
  if (at === undefined || source === undefined) return undefined;
  switch (op) {
    case "add":
      return changed(document, at, (parent, token) => inserted(parent, token, value));
    case "replace":
      return changed(document, at, (parent, token) => replaced(parent, token, value));
    case "remove":
      return changed(document, at, removed);
    case "test": {
      const there = found(document, at);
      return there !== undefined && sameJson(there, value) ? document : undefined;
    }
    case "copy":
    case "move": {
      const moving = from === undefined ? undefined : found(document, source);
      if (moving === undefined) return undefined;
      const left = op === "copy" ? document : changed(document, source, removed);
      return left === undefined ? undefined : changed(left, at, (parent, token) => inserted(parent, token, moving));
    }
    default:
      return undefined;
  }
}

/** What a pointer leads to; null for a member that its parent does not have, undefined where there is no such place. */
function found(document: Json, path: readonly string[]): Outcome {
  let value: Outcome = document;
  for (const token of path) {
    value = value === undefined || value === null ? undefined : childOf(value, token);
    if (value === undefined) return undefined;
  }
  return value;
}

function childOf(container: Json, token: string): Outcome {
  if (Array.isArray(container)) {
    const index = indexOf(token, container.length, container.length - 1);
    return index === undefined ? undefined : (container[index] as Json);
  }
  if (!isJsonObject(container)) return undefined;
  return Object.hasOwn(container, token) ? (container[token] as Json) : null;
}

type Change = (parent: Json, token: string) => Outcome;

function changed(document: Json, path: readonly string[], change: Change): Outcome {
  const [token, ...rest] = path;
  if (token === undefined) return undefined;
  if (rest.length === 0) return change(document, token);
  const child = childOf(document, token);
  const inner = child === undefined || child === null ? undefined : changed(child, rest, change);
  return inner === undefined ? undefined : replaced(document, token, inner);
}

function inserted(parent: Json, token: string, value: Json): Outcome {
  if (!Array.isArray(parent)) return isJsonObject(parent) ? { ...parent, [token]: value } : undefined;
  const index = token === "-" ? parent.length : indexOf(token, parent.length + 1, parent.length);
  return index === undefined ? undefined : (parent as readonly Json[]).toSpliced(index, 0, value);
}

function replaced(parent: Json, token: string, value: Json): Outcome {
  if (!Array.isArray(parent)) return isJsonObject(parent) ? { ...parent, [token]: value } : undefined;
  const index = indexOf(token, parent.length, parent.length - 1);
  return index === undefined ? undefined : (parent as readonly Json[]).with(index, value);
}

function removed(parent: Json, token: string): Outcome {
  if (Array.isArray(parent)) {
    const index = indexOf(token, parent.length, parent.length - 1);
    return index === undefined ? undefined : (parent as readonly Json[]).toSpliced(index, 1);
  }
  if (!isJsonObject(parent) || !Object.hasOwn(parent, token)) return undefined;
  const { [token]: _gone, ...others } = parent;
  return others;
}

/** A negative index counts back from `size`. */
function indexOf(token: string, size: number, max: number): number | undefined {
  if (!/^-?\d+$/.test(token)) return undefined;
  const index = Number(token) < 0 ? size + Number(token) : Number(token);
  return index >= 0 && index <= max ? index : undefined;
}
