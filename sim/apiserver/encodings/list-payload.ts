/** Lists as response bodies: put together from the kept bytes of their items, and kept as a whole while nothing changes. */
import { encodeJson } from "../../../wire/go-strings.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { compactJson, yaml } from "./encode.ts";
import { concatenated, type Encodings, utf8 } from "./encodings.ts";
import { SharedPayload } from "./payload.ts";
import { yamlText } from "./yaml.ts";

/**
 * A list whose items are shared objects. In process they are the stored objects themselves; in bytes their kind
 * and apiVersion are left out, as the real server leaves them out.
 */
export class ListPayload extends SharedPayload {
  /** What precedes the items tells the list's version and changes with every write to anything; most of the rest stays. */
  override pieces(): readonly Uint8Array[] {
    const { items, ...head } = this.object;
    if (!Array.isArray(items) || this.encode !== compactJson) return [this.bytes()];
    const opening = utf8(`${encodeJson(head as JsonObject).slice(0, -1)},"items":[`);
    const [first, ...others] = this.encodings.piecesOf(items, (all, from, to) => block(all, from, to, this.encodings));
    const all = first === undefined ? [opening, listEnd] : [opening, first.subarray(1), ...others, listEnd];
    this.sizeBytes = all.reduce((sum, { length }) => sum + length, 0);
    return all;
  }

  protected override make(): Uint8Array {
    const { items, ...head } = this.object;
    if (!Array.isArray(items)) return this.encode({ ...head, items: items ?? null });
    if (this.encode === compactJson) return concatenated(this.pieces());
    if (this.encode === yaml && items.length > 0) return yamlList(head as JsonObject, items, this.encodings);
    return this.encode({ ...head, items: items.map(withoutType) });
  }
}

const openBrace = 0x7b;
const comma = 0x2c;
const listEnd = utf8("]}\n");

/** Items [from, to) without their kinds and versions, a comma before each. */
function block(items: readonly JsonObject[], from: number, to: number, encodings: Encodings): Uint8Array {
  let length = 0;
  const lines: Uint8Array[] = [];
  for (let index = from; index < to; index++) {
    const line = encodings.lineOf(items[index] as JsonObject);
    const item = line.subarray(typeHeadLength(items[index] as JsonObject), -1);
    lines.push(item);
    length += 1 + item.length;
  }
  const all = new Uint8Array(length);
  let at = 0;
  for (const item of lines) {
    all[at++] = comma;
    all.set(item, at);
    all[at] = openBrace; // where the type was left out it stands in place of a comma
    at += item.length;
  }
  return all;
}

/** As the encoder would write the whole: by keys, of which `items` is one, and an item is written like a list of one. */
function yamlList(head: JsonObject, items: readonly Json[], encodings: Encodings): Uint8Array {
  const before = Object.entries(head).filter(([key]) => key < "items");
  const after = Object.entries(head).filter(([key]) => key > "items");
  return concatenated([
    utf8(`${yamlFields(before)}items:\n`),
    ...items.map((item) => encodings.yamlItemOf(item as JsonObject, yamlItem)),
    utf8(yamlFields(after)),
  ]);
}

const yamlFields = (fields: readonly (readonly [string, Json])[]): string =>
  fields.length === 0 ? "" : yamlText(Object.fromEntries(fields));

const yamlItem = (item: JsonObject): string => yamlText([withoutType(item)]);

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
