/**
 * Response bodies: an object and the bytes that somebody may ask for. Bytes are made once a payload, from the
 * kept bytes of the objects in it where there are some. Lists have a file of their own.
 */
import type { JsonObject, Payload } from "../../contract/http-message.ts";
import { concatenated, type Encodings, utf8 } from "./encodings.ts";
import { isLargeObject } from "../../objects/value-limit.ts";
import { compactJson, type Encode, type EncodeEvent, prettyJson } from "./encode.ts";

export abstract class LazyPayload implements Payload {
  abstract readonly object: JsonObject | undefined;
  readonly contentType: string;
  sizeBytes: number | undefined;
  private made: Uint8Array | undefined;
  private told: ((bytes: number) => void) | undefined;

  constructor(contentType: string) {
    this.contentType = contentType;
  }

  bytes(): Uint8Array {
    if (this.made === undefined) {
      this.made = this.make();
      this.sizeBytes = this.made.length;
    }
    return this.made;
  }

  pieces(): readonly Uint8Array[] {
    return [this.bytes()];
  }

  onceSized(told: (bytes: number) => void): void {
    this.told = told;
  }

  sized(bytes: number): void {
    this.sizeBytes = bytes;
    this.told?.(bytes);
    this.told = undefined;
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

/** A long text in pieces. */
export class PiecedTextPayload extends LazyPayload {
  readonly object = undefined;
  private readonly texts: readonly string[];

  constructor(texts: readonly string[], contentType: string) {
    super(contentType);
    this.texts = texts;
  }

  *slices(): Generator<Uint8Array> {
    for (const text of this.texts) yield utf8(text);
  }

  protected make(): Uint8Array {
    return utf8(this.texts.join(""));
  }
}

/** An object, encoded for this response alone: a Status, a discovery document. */
export class ObjectPayload extends LazyPayload {
  readonly object: JsonObject;
  protected readonly encode: Encode;

  constructor(object: JsonObject, contentType: string, encode: Encode) {
    super(contentType);
    this.object = object;
    this.encode = encode;
  }

  /** What stands on lines of its own can be a thousand times as long as what it shows; a refusal tells of all that is wrong. */
  slices(): Generator<Uint8Array> | undefined {
    const { object, encode } = this;
    return encode === prettyJson || tellsMuch(object) || isLargeObject(object) ? encode.slices?.(object) : undefined;
  }

  protected make(): Uint8Array {
    return this.encode(this.object);
  }
}

/** Of a refusal, whose causes all stand in its message, too. */
const tellsMuch = ({ message }: JsonObject): boolean => typeof message === "string" && message.length > longMessage;

/** Characters: what is shorter is written at once as fast as it is begun to be written in slices. */
const longMessage = 64 * 1024;

/** A stored object, shared with everybody who asks. */
export class SharedPayload extends ObjectPayload {
  protected readonly encodings: Encodings;

  constructor(object: JsonObject, contentType: string, encode: Encode, encodings: Encodings) {
    super(object, contentType, encode);
    this.encodings = encodings;
  }

  override slices(): Generator<Uint8Array> | undefined {
    return this.encode === compactJson ? this.encodings.slicesOf(this.object) : super.slices();
  }

  protected override make(): Uint8Array {
    return this.encode === compactJson ? this.encodings.lineOf(this.object) : super.make();
  }
}

/** An object that has been written out, once for all who ask. */
export class WrittenPayload extends LazyPayload {
  readonly isLasting = true;
  readonly object: JsonObject;
  private readonly written: readonly Uint8Array[];

  constructor(object: JsonObject, contentType: string, written: readonly Uint8Array[]) {
    super(contentType);
    this.object = object;
    this.written = written;
    this.sizeBytes = written.reduce((sum, { length }) => sum + length, 0);
  }

  override pieces(): readonly Uint8Array[] {
    return this.written;
  }

  /** It may be of any length. */
  slices(): Generator<Uint8Array> {
    return inTurn(this.written);
  }

  protected make(): Uint8Array {
    return concatenated(this.written);
  }
}

function* inTurn(pieces: readonly Uint8Array[]): Generator<Uint8Array> {
  yield* pieces;
}

const eventEnd = utf8("}\n");

/** One watch event: a line of JSON. */
export class WatchEventPayload extends LazyPayload {
  readonly object: JsonObject;
  protected readonly encodings: Encodings;

  readonly extraWeight: number;

  /** `object` is shared and frozen. */
  constructor(type: string, object: JsonObject, encodings: Encodings, extraWeight = 0) {
    super("application/json");
    this.object = { type, object };
    this.encodings = encodings;
    this.extraWeight = extraWeight;
  }

  protected make(): Uint8Array {
    const { type, object } = this.object;
    const line = this.encodings.lineOf(object as JsonObject);
    return concatenated([utf8(`{"type":${JSON.stringify(type)},"object":`), line.subarray(0, -1), eventEnd]);
  }
}

/** The event that tells a new watch of what there is: others have been told the same. */
export class InitialEventPayload extends WatchEventPayload {
  constructor(object: JsonObject, encodings: Encodings) {
    super("ADDED", object, encodings);
  }

  protected override make(): Uint8Array {
    return this.encodings.initialEventOf(this.object["object"] as JsonObject, () => super.make());
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
