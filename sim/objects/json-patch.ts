/**
 * JSON Patch: a list of operations, applied as a whole or not at all. The input is never touched: a changed path is
 * copied once, everything else is shared.
 * Source: RFC 6902 and RFC 6901; the facts, section 4, for how the server answers what goes wrong. Read loosely, as
 * the observed server's library does: a member that is absent reads as null, but where it is taken away; a value that
 * is left out is null; an index counts from the end when it is negative, and may have leading zeros.
 */
import { ApiError, badRequest, tooLarge } from "../contract/errors.ts";
import type { Json, JsonObject } from "../contract/http-message.ts";
import { jsonEqual } from "./equality.ts";
import { roughSize } from "./nesting.ts";
import { isObject } from "../contract/objects.ts";
import { setKey } from "./walker.ts";

export const operationsMax = 10_000;

/** What an operation may hold; other members are reported under field validation. */
const members: ReadonlySet<string> = new Set(["op", "path", "from", "value"]);

interface Operands {
  add: { readonly path: Pointer; readonly value: Json };
  replace: { readonly path: Pointer; readonly value: Json };
  test: { readonly path: Pointer; readonly value: Json };
  remove: { readonly path: Pointer };
  move: { readonly path: Pointer; readonly from: Pointer };
  copy: { readonly path: Pointer; readonly from: Pointer };
}

export type PatchOperation = { [Op in keyof Operands]: Operands[Op] & { readonly op: Op } }[keyof Operands];

/** The unescaped tokens of a JSON pointer; empty for the whole document. */
export type Pointer = readonly string[];

export interface JsonPatch {
  readonly operations: readonly PatchOperation[];
  /** Members that no operation has, as `[1].foo`. */
  readonly unknown: readonly string[];
}

/** A patch that cannot be carried out: a failing test, a path that is not there, an operation that is none. */
export class PatchFailure extends Error {}

/** What the observed server answers to it: 422 without a word of the cause. */
export const rejectedPatch = (): ApiError =>
  new ApiError(422, "Invalid", "the server rejected our request due to an error in our request", {});

/**
 * Reads a patch document. Throws `ApiError` 400 when it is no list of objects and 413 above 10,000 operations, and
 * `PatchFailure` for an operation without a sense.
 */
export function readJsonPatch(document: Json, isLoose = false): JsonPatch {
  if (!Array.isArray(document)) throw undecodable(document);
  if (document.length > operationsMax) {
    throw tooLarge(
      `Request entity too large: The allowed maximum operations in a JSON patch is ${operationsMax}, got ${document.length}`,
    );
  }
  const unknown: string[] = [];
  const operations = document.map((row: Json, at: number) => {
    if (!isObject(row)) throw undecodable(row);
    for (const key of Object.keys(row)) if (!members.has(key)) unknown.push(`[${at}].${key}`);
    return readOperation(row, isLoose);
  });
  return { operations, unknown };
}

function undecodable(found: Json): ApiError {
  const type = Array.isArray(found)
    ? "array"
    : found === null
      ? "null"
      : typeof found === "boolean"
        ? "bool"
        : typeof found;
  const into = isObject(found) ? "[]handlers.jsonPatchOp" : "handlers.jsonPatchOp";
  return badRequest(`error decoding patch: json: cannot unmarshal ${type} into Go value of type ${into}`);
}

function readOperation(row: JsonObject, isLoose: boolean): PatchOperation {
  const { op } = row;
  const path = readPointer(row["path"]);
  switch (op) {
    case "add":
    case "replace":
    case "test":
      // The observed server panics at a test without a value, and whoever asked hears nothing. Here it is a refusal.
      if (!Object.hasOwn(row, "value") && (!isLoose || op === "test")) throw new PatchFailure(`${op} has no value`);
      return { op, path, value: row["value"] ?? null };
    case "remove":
      return { op, path };
    case "move":
    case "copy":
      return { op, path, from: readPointer(row["from"]) };
    default:
      throw new PatchFailure(`no such operation: ${JSON.stringify(op)}`);
  }
}

function readPointer(text: Json | undefined): Pointer {
  if (typeof text !== "string") throw new PatchFailure("a pointer must be a string");
  if (text === "") return [];
  if (!text.startsWith("/")) throw new PatchFailure(`a pointer begins with a slash: ${text}`);
  return text.slice(1).split("/").map(unescapeToken);
}

function unescapeToken(token: string): string {
  if (!token.includes("~")) return token;
  if (/~(?![01])/.test(token)) throw new PatchFailure(`bad escape in a pointer: ${token}`);
  return token.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** The patched document. Throws `PatchFailure`; then nothing has happened. */
export function applyJsonPatch(document: Json, operations: readonly PatchOperation[], isLoose = false): Json {
  const editor = new Editor(document, isLoose);
  for (const operation of operations) carryOut[operation.op](editor, operation as never);
  return editor.document;
}

const carryOut: { readonly [Op in keyof Operands]: (editor: Editor, operation: Operands[Op]) => void } = {
  add: (editor, { path, value }) => editor.add(path, value),
  replace: (editor, { path, value }) => {
    editor.get(path);
    editor.set(path, value);
  },
  remove: (editor, { path }) => editor.remove(path),
  test: (editor, { path, value }) => {
    if (!jsonEqual(editor.get(path), value)) throw new PatchFailure(`test failed at ${path.join("/")}`);
  },
  move: (editor, { path, from }) => {
    const value = editor.get(from);
    if (samePointer(path, from) && !editor.isLoose) return;
    if (path.length > from.length && samePointer(path.slice(0, from.length), from)) {
      throw new PatchFailure("a value cannot be moved into itself");
    }
    editor.remove(from);
    editor.add(path, value);
  },
  copy: (editor, { path, from }) => {
    const value = editor.get(from);
    editor.countCopy(value);
    editor.share(value);
    editor.add(path, value);
  },
};

const samePointer = (left: Pointer, right: Pointer): boolean =>
  left.length === right.length && left.every((token, at) => token === right[at]);

const copiedBytesMax = 3 * 1024 * 1024;

type Container = Record<string, Json> | Json[];

/** A document under edit. Containers that this patch has copied are its own and are changed in place from then on. */
class Editor {
  document: Json;
  private own = new Set<unknown>();
  private copiedBytes = 0;
  readonly isLoose: boolean;

  constructor(document: Json, isLoose: boolean) {
    this.document = document;
    this.isLoose = isLoose;
  }

  /** A few dozen copies of a copy would outgrow any memory: the real server too allows what a body may have. */
  countCopy(value: Json): void {
    this.copiedBytes += roughSize(value, copiedBytesMax);
    if (this.copiedBytes > copiedBytesMax) throw new PatchFailure("the copies grow beyond what a body may have");
  }

  get(path: Pointer): Json {
    let value = this.document;
    for (const [at, token] of path.entries()) {
      const isAbsent = isObject(value) && !Object.hasOwn(value, token);
      if (this.isLoose && isAbsent && at === path.length - 1) return null;
      value = this.child(value, token);
    }
    return value;
  }

  set(path: Pointer, value: Json): void {
    if (path.length === 0) {
      this.document = value;
      return;
    }
    const parent = this.ownParent(path);
    const token = path[path.length - 1] as string;
    if (Array.isArray(parent)) parent[this.existingIndex(parent, token)] = value;
    else setKey(parent, token, value);
  }

  add(path: Pointer, value: Json): void {
    if (path.length === 0) {
      this.document = value;
      return;
    }
    const parent = this.ownParent(path);
    const token = path[path.length - 1] as string;
    if (Array.isArray(parent)) parent.splice(this.insertIndex(parent, token), 0, value);
    else setKey(parent, token, value);
  }

  remove(path: Pointer): void {
    if (path.length === 0) {
      this.document = null;
      return;
    }
    const parent = this.ownParent(path);
    const token = path[path.length - 1] as string;
    this.child(parent as Json, token); // must be there
    if (Array.isArray(parent)) parent.splice(this.existingIndex(parent, token), 1);
    else delete parent[token];
  }

  /** A value is about to stand in two places: neither may be edited in place any longer. */
  share(value: Json): void {
    if (typeof value === "object" && value !== null) this.own = new Set();
  }

  private ownParent(path: Pointer): Container {
    let container = this.ownContainer(this.document);
    this.document = container as Json;
    for (let at = 0; at < path.length - 1; at++) {
      const token = path[at] as string;
      const next = this.ownContainer(this.child(container as Json, token));
      if (Array.isArray(container)) container[this.existingIndex(container, token)] = next as Json;
      else setKey(container, token, next as Json);
      container = next;
    }
    return container;
  }

  private ownContainer(value: Json): Container {
    if (typeof value !== "object" || value === null) throw new PatchFailure("a path leads through a scalar");
    if (this.own.has(value)) return value as Container;
    const copy = (Array.isArray(value) ? value.slice() : { ...value }) as Container;
    this.own.add(copy);
    return copy;
  }

  private child(container: Json, token: string): Json {
    if (Array.isArray(container)) return container[this.existingIndex(container, token)] as Json;
    if (!isObject(container) || !Object.hasOwn(container, token)) throw new PatchFailure(`no member ${token}`);
    return container[token] as Json;
  }

  private existingIndex(list: readonly Json[], token: string): number {
    return this.index(token, list.length, list.length - 1);
  }

  private insertIndex(list: readonly Json[], token: string): number {
    return token === "-" ? list.length : this.index(token, list.length + 1, list.length);
  }

  /** A negative index, where there are any, counts back from `size`. */
  private index(token: string, size: number, max: number): number {
    const form = this.isLoose ? looseIndexForm : indexForm;
    const index = Number(token) < 0 ? size + Number(token) : Number(token);
    if (!form.test(token) || index < 0 || index > max) throw new PatchFailure(`bad index ${token}`);
    return index;
  }
}

const indexForm = /^(?:0|[1-9]\d*)$/;
const looseIndexForm = /^-?\d+$/;
