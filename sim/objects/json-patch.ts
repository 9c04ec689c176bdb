/**
 * JSON Patch: a list of operations, applied as a whole or not at all. The input is never touched: a changed path is
 * copied once, everything else is shared. An operation costs the length of its path, whatever the document's size.
 * Source: RFC 6902 and RFC 6901; the facts, section 4, for how the server answers what goes wrong. Read loosely, as
 * the observed server's library does: a member that is absent reads as null, but where it is taken away; a value that
 * is left out is null; an index counts from the end when it is negative, and may have leading zeros.
 */
import { ApiError, badRequest, tooLarge } from "../contract/errors.ts";
import type { Json, JsonObject } from "../contract/http-message.ts";
import { paced, turnCostMax } from "../expressions/pace.ts";
import { BlockList } from "./block-list.ts";
import { isDeeperThan } from "./nesting.ts";
import { isObject } from "../contract/objects.ts";
import { valuesMax } from "./value-limit.ts";
import { depthMax } from "./walk-context.ts";
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
  const edit = (): Json => {
    const editor = new Editor(document, isLoose);
    for (const operation of operations) carryOut[operation.op](editor, operation as never);
    return editor.finished();
  };
  const patched = paced(edit, () => turnCostMax);
  if (isDeeperThan(depthMax, patched)) throw new PatchFailure(`the document is deeper than ${depthMax}`);
  return patched;
}

const carryOut: { readonly [Op in keyof Operands]: (editor: Editor, operation: Operands[Op]) => void } = {
  add: (editor, { path, value }) => editor.add(path, value),
  replace: (editor, { path, value }) => {
    editor.get(path);
    editor.set(path, value);
  },
  remove: (editor, { path }) => editor.remove(path),
  test: (editor, { path, value }) => {
    if (!editedEqual(editor.get(path), value)) throw new PatchFailure(`test failed at ${path.join("/")}`);
  },
  move: (editor, { path, from }) => {
    const value = editor.get(from);
    if (samePointer(path, from) && !editor.isLoose) return;
    if (path.length > from.length && from.every((token, at) => token === path[at])) {
      throw new PatchFailure("a value cannot be moved into itself");
    }
    editor.remove(from);
    editor.add(path, value);
  },
  copy: (editor, { path, from }) => editor.add(path, editor.copyOf(editor.get(from))),
};

const samePointer = (left: Pointer, right: Pointer): boolean =>
  left.length === right.length && left.every((token, at) => token === right[at]);

/** A value under edit: whoever is changed is one of the patch's own containers, in which lists stand in blocks. */
type Edited = Json | Fields | BlockList<Edited>;

interface Fields {
  [key: string]: Edited;
}

/**
 * A document under edit. What it began with and what operations bring is shared, and copied when it is first changed:
 * each container once. A copy is made at once, so that no value stands in two places.
 */
class Editor {
  private document: Edited;
  /** Copied by this patch, and changed in place from then on. */
  private readonly own = new Set<Fields | BlockList<Edited>>();
  private copyBytesLeft = copiedBytesMax;
  private copyValuesLeft = valuesMax;
  readonly isLoose: boolean;

  constructor(document: Json, isLoose: boolean) {
    this.document = document;
    this.isLoose = isLoose;
  }

  get(path: Pointer): Edited {
    let value = this.document;
    for (const [at, token] of path.entries()) {
      const isAbsent = isFields(value) && !Object.hasOwn(value, token);
      if (this.isLoose && isAbsent && at === path.length - 1) return null;
      value = this.child(value, token);
    }
    return value;
  }

  set(path: Pointer, value: Edited): void {
    if (path.length === 0) {
      this.document = value;
      return;
    }
    const parent = this.ownParent(path);
    const token = path[path.length - 1] as string;
    if (parent instanceof BlockList) parent.set(this.existingIndex(parent, token), value);
    else setKey(parent, token, value);
  }

  add(path: Pointer, value: Edited): void {
    if (path.length === 0) {
      this.document = value;
      return;
    }
    const parent = this.ownParent(path);
    const token = path[path.length - 1] as string;
    if (parent instanceof BlockList) parent.insert(this.insertIndex(parent, token), value);
    else setKey(parent, token, value);
  }

  remove(path: Pointer): void {
    if (path.length === 0) {
      this.document = null;
      return;
    }
    const parent = this.ownParent(path);
    const token = path[path.length - 1] as string;
    this.child(parent, token); // must be there
    if (parent instanceof BlockList) parent.remove(this.existingIndex(parent, token));
    else delete parent[token];
  }

  /**
   * A copy down to the last scalar. A few dozen copies of a copy would outgrow any memory: the real server too allows
   * as much as a body may have, in all copies of a patch together.
   */
  copyOf(value: Edited): Edited {
    const holder: Edited[] = [];
    const open: { readonly from: Edited; readonly put: (copy: Edited) => void }[] = [];
    open.push({ from: value, put: (copy) => void holder.push(copy) });
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const { from, put } = next;
      this.countCopy(typeof from === "string" ? from.length + 2 : 4);
      if (typeof from !== "object" || from === null) {
        put(from);
        continue;
      }
      if (isFields(from)) {
        const copy: Fields = {};
        this.own.add(copy);
        put(copy);
        for (const key of Object.keys(from)) {
          this.countCopy(key.length + 4);
          setKey(copy, key, null); // keeps the order
          open.push({ from: from[key] as Edited, put: (child) => setKey(copy, key, child) });
        }
        continue;
      }
      const items = itemsOf(from);
      this.countCopy(items.length);
      const copy = new BlockList<Edited>(items);
      this.own.add(copy);
      put(copy);
      for (const [at, item] of items.entries()) {
        if (typeof item === "object" && item !== null) open.push({ from: item, put: (child) => copy.set(at, child) });
        else this.countCopy(typeof item === "string" ? item.length + 2 : 4);
      }
    }
    return holder[0] as Edited;
  }

  private countCopy(bytes: number): void {
    this.copyBytesLeft -= bytes;
    if (this.copyBytesLeft < 0 || --this.copyValuesLeft < 0)
      throw new PatchFailure("the copies grow beyond what a body may have");
  }

  /** The document as it is now, with its lists in one piece. Nothing is edited afterwards. */
  finished(): Json {
    // Only what was copied can hold blocks.
    const whole = new Map<Edited, Edited>();
    for (const list of this.own) if (list instanceof BlockList) whole.set(list, list.items() as Edited);
    const flat = (value: Edited): Edited => (value instanceof BlockList ? (whole.get(value) as Edited) : value);
    for (const container of this.own) {
      if (container instanceof BlockList) {
        const items = whole.get(container) as Edited[];
        for (let at = 0; at < items.length; at++) items[at] = flat(items[at] as Edited);
      } else {
        for (const key of Object.keys(container)) {
          const value = container[key] as Edited;
          if (value instanceof BlockList) setKey(container, key, flat(value));
        }
      }
    }
    return flat(this.document) as Json;
  }

  private ownParent(path: Pointer): Fields | BlockList<Edited> {
    let container = this.ownContainer(this.document);
    this.document = container;
    for (let at = 0; at < path.length - 1; at++) {
      const token = path[at] as string;
      const next = this.ownContainer(this.child(container, token));
      if (container instanceof BlockList) container.set(this.existingIndex(container, token), next);
      else setKey(container, token, next);
      container = next;
    }
    return container;
  }

  private ownContainer(value: Edited): Fields | BlockList<Edited> {
    if (typeof value !== "object" || value === null) throw new PatchFailure("a path leads through a scalar");
    if (this.own.has(value as Fields)) return value as Fields | BlockList<Edited>;
    const copy = isFields(value) ? { ...value } : new BlockList<Edited>(itemsOf(value));
    this.own.add(copy);
    return copy;
  }

  private child(container: Edited, token: string): Edited {
    if (container instanceof BlockList) return container.at(this.existingIndex(container, token)) as Edited;
    if (Array.isArray(container)) return container[this.existingIndex(container, token)] as Edited;
    if (!isFields(container) || !Object.hasOwn(container, token)) throw new PatchFailure(`no member ${token}`);
    return container[token] as Edited;
  }

  private existingIndex(list: { readonly length: number }, token: string): number {
    return this.index(token, list.length, list.length - 1);
  }

  private insertIndex(list: { readonly length: number }, token: string): number {
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

const copiedBytesMax = 3 * 1024 * 1024;

const isFields = (value: Edited): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof BlockList);

const itemsOf = (list: Edited): readonly Edited[] =>
  list instanceof BlockList ? list.items() : (list as unknown as readonly Edited[]);

/** Deep equality; what is not equal is found out before more is looked at than `value` has. */
function editedEqual(found: Edited, value: Json): boolean {
  const open: [Edited | undefined, Json][] = [[found, value]];
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    const [left, right] = pair;
    if (left === right) continue;
    if (typeof left !== "object" || typeof right !== "object" || left === null || right === null) return false;
    if (left === undefined) return false;
    if (Array.isArray(right)) {
      if (isFields(left)) return false;
      const list = left as BlockList<Edited> | readonly Edited[];
      if (list.length !== right.length) return false;
      for (const [at, item] of itemsOf(list as Edited).entries()) open.push([item, right[at] as Json]);
      continue;
    }
    if (!isFields(left)) return false;
    const keys = Object.keys(right);
    for (const key of keys) {
      if (!Object.hasOwn(left, key)) return false;
      open.push([left[key], (right as JsonObject)[key] as Json]);
    }
    if (Object.keys(left).length !== keys.length) return false;
  }
  return true;
}

const indexForm = /^(?:0|[1-9]\d*)$/;
const looseIndexForm = /^-?\d+$/;
