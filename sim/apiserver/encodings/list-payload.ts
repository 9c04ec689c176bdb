/** Lists as response bodies: put together from the kept bytes of their items, and kept as a whole while nothing changes. */
import { encodeJson, LazyItems } from "../../../wire/go-strings.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { compactJson, prettyJson, yaml } from "./encode.ts";
import { concatenated, type Encodings, utf8 } from "./encodings.ts";
import { SharedPayload } from "./payload.ts";
import { naturalOrder } from "./natural-order.ts";
import { beginsWithKind, withoutType } from "./without-type.ts";
import { yamlPieces, yamlText } from "./yaml.ts";

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
    else if (this.encode === prettyJson)
      yield* prettyJson.slices({ ...head, items: new LazyItems(withoutTypes(items)) });
    else if (this.encode === compactJson) yield* this.jsonSlices(head as JsonObject, items);
    else if (this.encode === yaml && items.length > 0)
      yield* yamlSlices(head as JsonObject, "items", this.yamlItems(items));
    else if (this.encode.list !== undefined && Object.keys(this.object).at(-1) === "items")
      yield* this.encode.list(head as JsonObject, items as readonly JsonObject[]);
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
    for (const item of items) yield* this.encodings.yamlItemOf(item, yamlItem);
  }

  /** What is written as one object. */
  private *lastSlices(object: JsonObject): Generator<Uint8Array> {
    if (this.encode === prettyJson) yield* prettyJson.slices(object);
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
export function* yamlSlices(head: JsonObject, field: string, items: Iterable<Uint8Array>): Generator<Uint8Array> {
  const before = Object.entries(head).filter(([key]) => key < field);
  const after = Object.entries(head).filter(([key]) => key > field);
  yield* yamlFields(before);
  yield utf8(`${field}:\n`);
  yield* items;
  yield* yamlFields(after);
}

/** A list is written some items at a time. */
function* yamlFields(fields: readonly (readonly [string, Json])[]): Generator<Uint8Array> {
  for (const [key, value] of fields.toSorted(([one], [other]) => naturalOrder(one, other))) {
    const isLong = Array.isArray(value) && value.length > fieldItemsPerStep;
    yield utf8(yamlText({ [key]: isLong ? value.slice(0, fieldItemsPerStep) : value }));
    if (!isLong) continue;
    for (let at = fieldItemsPerStep; at < value.length; at += fieldItemsPerStep)
      yield utf8(yamlText(value.slice(at, at + fieldItemsPerStep)));
  }
}

const fieldItemsPerStep = 100;

const yamlItem = (item: JsonObject): Generator<string> => yamlPieces([withoutType(item)]);

function* withoutTypes(items: readonly Json[]): Generator<Json> {
  for (const item of items) yield withoutType(item);
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
