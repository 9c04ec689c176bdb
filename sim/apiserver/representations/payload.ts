/**
 * Response bodies: an object and the bytes that somebody may ask for. Bytes are made once a payload, from the
 * kept bytes of the objects in it where there are some.
 */
import type { Json, JsonObject, Payload } from "../http-message.ts";
import { concatenated, type Encodings, utf8 } from "./encodings.ts";
import { encodeJson } from "../../../wire/go-strings.ts";
import { compactJson, type Encode, type EncodeEvent } from "./encode.ts";

abstract class LazyPayload implements Payload {
  abstract readonly object: JsonObject | undefined;
  readonly contentType: string;
  private made: Uint8Array | undefined;

  constructor(contentType: string) {
    this.contentType = contentType;
  }

  bytes(): Uint8Array {
    this.made ??= this.make();
    return this.made;
  }

  protected abstract make(): Uint8Array;
}

export class TextPayload extends LazyPayload {
  readonly object = undefined;
  private readonly text: string;

  constructor(text: string, contentType = "text/plain; charset=utf-8") {
    super(contentType);
    this.text = text;
  }

  protected make(): Uint8Array {
    return utf8(this.text);
  }
}

/** An object that is nobody's but this response's: a Status, a discovery document. */
export class ObjectPayload extends LazyPayload {
  readonly object: JsonObject;
  private readonly encode: Encode;

  constructor(object: JsonObject, contentType: string, encode: Encode) {
    super(contentType);
    this.object = object;
    this.encode = encode;
  }

  protected make(): Uint8Array {
    return this.encode(this.object);
  }
}

/** A stored object, shared with everybody who asks. */
export class SharedPayload extends LazyPayload {
  readonly object: JsonObject;
  private readonly encode: Encode;
  private readonly encodings: Encodings;

  constructor(object: JsonObject, contentType: string, encode: Encode, encodings: Encodings) {
    super(contentType);
    this.object = object;
    this.encode = encode;
    this.encodings = encodings;
  }

  protected make(): Uint8Array {
    if (this.encode !== compactJson) return this.encode(this.object);
    return this.encodings.lineOf(this.object);
  }
}

/**
 * A list whose items are shared objects. In process they are the stored objects themselves; in bytes their kind
 * and apiVersion are left out, as the real server leaves them out.
 */
export class ListPayload extends LazyPayload {
  readonly object: JsonObject;
  private readonly encode: Encode;
  private readonly encodings: Encodings;

  constructor(object: JsonObject, contentType: string, encode: Encode, encodings: Encodings) {
    super(contentType);
    this.object = object;
    this.encode = encode;
    this.encodings = encodings;
  }

  protected make(): Uint8Array {
    const { items, ...head } = this.object;
    if (!Array.isArray(items) || this.encode !== compactJson) {
      return this.encode({ ...head, items: Array.isArray(items) ? items.map(withoutType) : (items ?? null) });
    }
    const opening = encodeJson(head as JsonObject);
    const lines = (items as readonly JsonObject[]).map((item) => this.encodings.lineOf(item));
    return listBytes(utf8(`${opening.slice(0, -1)},"items":[`), items as readonly JsonObject[], lines);
  }
}

const eventEnd = utf8("}\n");

/** One watch event: a line of JSON. */
export class WatchEventPayload extends LazyPayload {
  readonly object: JsonObject;
  private readonly encodings: Encodings;

  /** `object` is shared and frozen. */
  constructor(type: string, object: JsonObject, encodings: Encodings) {
    super("application/json");
    this.object = { type, object };
    this.encodings = encodings;
  }

  protected make(): Uint8Array {
    const { type, object } = this.object;
    const line = this.encodings.lineOf(object as JsonObject);
    return concatenated([utf8(`{"type":${JSON.stringify(type)},"object":`), line.subarray(0, -1), eventEnd]);
  }
}

/** One watch event in a binary format. */
export class BinaryEventPayload extends LazyPayload {
  readonly object: JsonObject;
  private readonly encode: EncodeEvent;

  /** `object` is shared and frozen. */
  constructor(type: string, object: JsonObject, contentType: string, encode: EncodeEvent) {
    super(contentType);
    this.object = { type, object };
    this.encode = encode;
  }

  protected make(): Uint8Array {
    return this.encode(this.object["type"] as string, this.object["object"] as JsonObject);
  }
}

function withoutType(item: Json): Json {
  if (item === null || typeof item !== "object" || Array.isArray(item) || !beginsWithKind(item as JsonObject))
    return item;
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = item as JsonObject;
  return rest as JsonObject;
}

const openBrace = 0x7b;
const comma = 0x2c;
const listEnd = utf8("]}\n");

/** `opening`, the items' lines without their kinds and versions, and the end. A list may have megabytes: one copy. */
function listBytes(opening: Uint8Array, items: readonly JsonObject[], lines: readonly Uint8Array[]): Uint8Array {
  let length = opening.length + items.length + listEnd.length;
  for (const line of lines) length += line.length;
  const all = new Uint8Array(length);
  all.set(opening);
  let at = opening.length;
  for (let index = 0; index < items.length; index++) {
    const line = lines[index] as Uint8Array;
    const item = line.subarray(typeHeadLength(items[index] as JsonObject), -1);
    if (index > 0) all[at++] = comma;
    all.set(item, at);
    all[at] = openBrace;
    at += item.length;
  }
  all.set(listEnd, at);
  return all.subarray(0, at + listEnd.length);
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
