/** Lists as response bodies: put together from the kept bytes of their items, and kept as a whole while nothing changes. */
import { encodeJson, LazyItems } from "../../../wire/go-strings.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { append } from "../../../wire/lists.ts";
import { compactJson, type Encode, prettyJson, yaml } from "./encode.ts";
import { concatenated, type Encodings, utf8 } from "./encodings.ts";
import { LazyPayload, prettySlices, SharedPayload } from "./payload.ts";
import { yamlText } from "./yaml.ts";

/**
 * A list whose items are shared objects. In process they are the stored objects themselves; in bytes their kind
 * and apiVersion are left out, as the real server leaves them out.
 */
export class ListPayload extends SharedPayload {
  /** What precedes the items tells the list's version and changes with every write to anything; most of the rest stays. */
  override pieces(): readonly Uint8Array[] {
    if (!this.isPieced()) return [this.bytes()];
    const all = [...this.slices()];
    this.sizeBytes = all.reduce((sum, { length }) => sum + length, 0);
    return all;
  }

  override *slices(): Generator<Uint8Array> {
    const { items, ...head } = this.object;
    if (!Array.isArray(items)) yield* this.lastSlices({ ...head, items: items ?? null });
    else if (this.encode === prettyJson) yield* prettySlices({ ...head, items: new LazyItems(withoutTypes(items)) });
    else if (this.encode === compactJson) yield* this.jsonSlices(head as JsonObject, items);
    else if (this.encode === yaml && items.length > 0)
      yield* yamlSlices(head as JsonObject, "items", this.yamlItems(items));
    else if (this.encode.list !== undefined && Object.keys(this.object).at(-1) === "items")
      yield* this.encode.list(head as JsonObject, items.map(withoutType) as readonly JsonObject[]);
    else yield* this.lastSlices({ ...head, items: items.map(withoutType) });
  }

  private isPieced(): boolean {
    return Array.isArray(this.object["items"]) && this.encode === compactJson;
  }

  private *jsonSlices(head: JsonObject, items: readonly JsonObject[]): Generator<Uint8Array> {
    yield utf8(`${encodeJson(head).slice(0, -1)},"items":[`);
    let isFirst = true;
    for (const piece of this.encodings.piecesOf(items, (all, from, to) => block(all, from, to, this.encodings))) {
      yield isFirst ? piece.subarray(1) : piece;
      isFirst = false;
    }
    yield listEnd;
  }

  private *yamlItems(items: readonly JsonObject[]): Generator<Uint8Array> {
    for (const item of items) yield this.encodings.yamlItemOf(item, yamlItem);
  }

  /** What is written as one object. */
  private *lastSlices(object: JsonObject): Generator<Uint8Array> {
    if (this.encode === prettyJson) yield* prettySlices(object);
    else yield this.encode(object);
  }

  protected override make(): Uint8Array {
    return concatenated([...this.slices()]);
  }
}

const openBrace = 0x7b;
const comma = 0x2c;
const listEnd = utf8("]}\n");

/** Items without their kinds and versions, a comma before each: up to `to`, or as many as make `blockBytes`. */
function block(
  items: readonly JsonObject[],
  from: number,
  to: number,
  encodings: Encodings,
): { readonly bytes: Uint8Array; readonly to: number } {
  let length = 0;
  let next = from;
  const lines: Uint8Array[] = [];
  for (; next < to && length < blockBytes; next++) {
    const line = encodings.lineOf(items[next] as JsonObject);
    const item = line.subarray(typeHeadLength(items[next] as JsonObject), -1);
    lines.push(item);
    length += 1 + item.length;
  }
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const item of lines) {
    bytes[at++] = comma;
    bytes.set(item, at);
    bytes[at] = openBrace; // where the type was left out it stands in place of a comma
    at += item.length;
  }
  return { bytes, to: next };
}

/** Items are put together until they have so many bytes. */
const blockBytes = 1024 * 1024;

/** As the encoder would write the whole: by keys, of which `items` is one, and an item is written like a list of one. */
function* yamlSlices(head: JsonObject, field: string, items: Iterable<Uint8Array>): Generator<Uint8Array> {
  const before = Object.entries(head).filter(([key]) => key < field);
  const after = Object.entries(head).filter(([key]) => key > field);
  yield utf8(`${yamlFields(before)}${field}:\n`);
  yield* items;
  yield utf8(yamlFields(after));
}

/** What is made of a list: rows, or items. The list's own items are shared and frozen. */
export type TransformList = (list: JsonObject) => JsonObject;

/** Items of a list that are transformed in one step. */
const itemsPerStep = 200;

/** A list of which something else is made, for this response alone: a table, or metadata. */
export class TransformedListPayload extends LazyPayload {
  private readonly list: JsonObject;
  private readonly field: "rows" | "items";
  private readonly transform: TransformList;
  private readonly encode: Encode;
  private readonly head: JsonObject;
  private whole: JsonObject | undefined;

  /** Throws what `transform` throws for a list that it does not take. */
  constructor(
    list: JsonObject,
    field: "rows" | "items",
    contentType: string,
    encode: Encode,
    transform: TransformList,
  ) {
    super(contentType);
    this.list = list;
    this.field = field;
    this.transform = transform;
    this.encode = encode;
    this.head = transform({ ...list, items: [] });
  }

  get object(): JsonObject {
    this.whole ??= this.transform(this.list);
    return this.whole;
  }

  *slices(): Generator<Uint8Array> {
    const { [this.field]: none, ...head } = this.head;
    if ((this.list["items"] as readonly Json[]).length === 0) yield this.encode(this.head);
    else if (this.encode === compactJson) yield* this.jsonSlices(head);
    else if (this.encode === yaml) yield* yamlSlices(head, this.field, this.yamlItems());
    else yield* this.lastSlices();
  }

  private *jsonSlices(head: JsonObject): Generator<Uint8Array> {
    yield utf8(`${encodeJson(head).slice(0, -1)},${JSON.stringify(this.field)}:[`);
    let comma = "";
    for (const items of this.steps()) {
      yield utf8(`${comma}${encodeJson(items).slice(1, -1)}`);
      comma = ",";
    }
    yield listEnd;
  }

  private *yamlItems(): Generator<Uint8Array> {
    for (const items of this.steps()) yield utf8(yamlText(items));
  }

  /** What is written as one object: its parts are made step by step first, or meanwhile. */
  private *lastSlices(): Generator<Uint8Array> {
    if (this.encode === prettyJson) {
      yield* prettySlices({ ...this.head, [this.field]: new LazyItems(this.parts()) });
      return;
    }
    const all: Json[] = [];
    for (const items of this.steps()) {
      append(all, items);
      yield nothing;
    }
    yield this.encode({ ...this.head, [this.field]: all });
  }

  private *parts(): Generator<Json> {
    for (const items of this.steps()) yield* items;
  }

  private *steps(): Generator<readonly Json[]> {
    const all = this.list["items"] as readonly JsonObject[];
    for (let at = 0; at < all.length; at += itemsPerStep) {
      const part = this.transform({ ...this.list, items: all.slice(at, at + itemsPerStep) });
      yield part[this.field] as readonly Json[];
    }
  }

  protected make(): Uint8Array {
    return concatenated([...this.slices()]);
  }
}

const nothing = new Uint8Array(0);

const yamlFields = (fields: readonly (readonly [string, Json])[]): string =>
  fields.length === 0 ? "" : yamlText(Object.fromEntries(fields));

const yamlItem = (item: JsonObject): string => yamlText([withoutType(item)]);

function* withoutTypes(items: readonly Json[]): Generator<Json> {
  for (const item of items) yield withoutType(item);
}

function withoutType(item: Json): Json {
  if (item === null || typeof item !== "object" || Array.isArray(item) || !beginsWithKind(item as JsonObject))
    return item;
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = item as JsonObject;
  return rest as JsonObject;
}

/** Custom resources are written with their fields in byte order, and keep their types in lists. */
function beginsWithKind(item: JsonObject): boolean {
  for (const first in item) return first === "kind";
  return false;
}

let lastKind: Json | undefined;
let lastVersion: Json | undefined;
let lastLength = 0;

/** Stored objects begin with kind and apiVersion: how many bytes precede the comma after them. 0 without the two. */
function typeHeadLength(item: JsonObject): number {
  const { kind, apiVersion } = item;
  if (!beginsWithKind(item)) return 0;
  if (kind === undefined || apiVersion === undefined) return 0;
  if (kind !== lastKind || apiVersion !== lastVersion) {
    lastKind = kind;
    lastVersion = apiVersion;
    lastLength = utf8(`{"kind":${JSON.stringify(kind)},"apiVersion":${JSON.stringify(apiVersion)}`).length;
  }
  return lastLength;
}
