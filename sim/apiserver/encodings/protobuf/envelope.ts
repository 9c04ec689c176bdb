/**
 * Objects, lists and watch events in protobuf: four magic bytes, then a message `Unknown` with the object's type and
 * its bytes. A watch is a sequence of frames, each with its length before it and no magic of its own; the object in a
 * frame has its whole envelope.
 * Source: document 1, Protobuf envelope; the facts, section 2; recorded bytes.
 */
import protobuf from "protobufjs/minimal.js";
import { apiVersionFromDialect, type Dialect } from "../../../../wire/dialect.ts";
import { structNamed, structOfKind, type TypeRow } from "../../../../wire/schema.ts";
import type { JsonObject } from "../../../contract/http-message.ts";
import { typeInDialect } from "../../../kinds/custom/definition-type.ts";
import { isLargeObject } from "../../../objects/value-limit.ts";
import { decodeMessage, decodeMessageSteps, encodeMessage, encodeMessageSteps } from "./messages.ts";
import { guarded } from "./reading.ts";
import { ProtobufError, readFields, requireWireType, wireTypes } from "./values.ts";

const magic = Uint8Array.of(0x6b, 0x38, 0x73, 0x00);

const delimited = (number: number): number => (number << 3) | wireTypes.delimited;

/** An object with kind and apiVersion in the dialect. `type` must be its own: see `typeOfObject`. */
export function encodeProtobuf(type: TypeRow, object: JsonObject): Uint8Array {
  const writer = protobuf.Writer.create();
  for (const byte of magic) writer.uint32(byte);
  writer.uint32(delimited(1)).fork();
  writer.uint32(delimited(1)).string((object["apiVersion"] ?? "") as string);
  writer.uint32(delimited(2)).string((object["kind"] ?? "") as string);
  writer.ldelim();
  writer.uint32(delimited(2)).bytes(encodeMessage(type, object));
  writer.uint32(delimited(3)).string("");
  writer.uint32(delimited(4)).string("");
  return writer.finish();
}

/** The same in pieces. It begins with the length of all, so that nothing leaves before everything is made; until then they are empty. */
export function* protobufSlices(type: TypeRow, object: JsonObject): Generator<Uint8Array> {
  const message = yield* madeInSteps(type, object);
  yield* envelopeSlices(object, [message]);
}

function* madeInSteps(type: TypeRow, object: JsonObject): Generator<Uint8Array, Uint8Array> {
  const steps = encodeMessageSteps(type, object);
  for (let step = steps.next(); ; step = steps.next()) {
    if (step.done === true) return step.value;
    yield nothing;
  }
}

/** `parts`: of the message, whose kind and apiVersion `head` has. */
function* envelopeSlices(head: JsonObject, parts: readonly Uint8Array[]): Generator<Uint8Array> {
  yield magic;
  const before = protobuf.Writer.create();
  before.uint32(delimited(1)).fork();
  before.uint32(delimited(1)).string((head["apiVersion"] ?? "") as string);
  before.uint32(delimited(2)).string((head["kind"] ?? "") as string);
  before.ldelim();
  before.uint32(delimited(2)).uint32(parts.reduce((sum, { length }) => sum + length, 0));
  yield before.finish();
  yield* parts;
  yield protobuf.Writer.create().uint32(delimited(3)).string("").uint32(delimited(4)).string("").finish();
}

/** Items that are written in one step. */
const itemsPerStep = 200;

/**
 * A list with kind and apiVersion in the dialect, of whose messages `items` is the last field. The envelope begins with the
 * length of all, so that nothing leaves before everything is made; until then the slices are empty.
 */
export function* protobufListSlices(
  type: TypeRow,
  head: JsonObject,
  items: readonly JsonObject[],
): Generator<Uint8Array> {
  const headBytes = encodeMessage(type, { ...head, items: [] });
  const without = encodeMessage(type, { items: [] }).length;
  const parts: Uint8Array[] = [headBytes];
  for (let at = 0; at < items.length; ) {
    const together = items.slice(at, at + itemsPerStep);
    const large = together.findIndex(isLargeObject);
    // What is large by itself is written by itself, in steps.
    const some = large < 0 ? together : together.slice(0, Math.max(1, large));
    parts.push(
      (large === 0 ? yield* madeInSteps(type, { items: some }) : encodeMessage(type, { items: some })).subarray(
        without,
      ),
    );
    at += some.length;
    yield nothing;
  }
  yield* envelopeSlices(head, parts);
}

const nothing = new Uint8Array(0);

/** One frame of a watch. `object` is the whole envelope of the event's object. */
export function encodeWatchFrame(type: string, object: Uint8Array): Uint8Array {
  const writer = protobuf.Writer.create();
  writer.uint32(delimited(1)).string(type);
  writer.uint32(delimited(2)).fork().uint32(delimited(1)).bytes(object).ldelim();
  const event = writer.finish();
  const frame = new Uint8Array(4 + event.length);
  new DataView(frame.buffer).setUint32(0, event.length);
  frame.set(event, 4);
  return frame;
}

export interface ProtobufBody {
  readonly kind: string;
  /** In the dialect of whoever sent it; "" when the body does not say. */
  readonly apiVersion: string;
  /** The object's own message. */
  readonly raw: Uint8Array;
}

/** Opens an envelope. Throws `ProtobufError` with the observed texts. */
export function openEnvelope(bytes: Uint8Array): ProtobufBody {
  if (bytes.length === 0) throw new ProtobufError("empty data");
  if (magic.some((byte, at) => bytes[at] !== byte)) {
    throw new ProtobufError(
      `provided data does not appear to be a protobuf message, expected prefix [${magic.join(" ")}]`,
    );
  }
  if (bytes.length === magic.length) throw new ProtobufError("empty body");
  return guarded(bytes, (reader) => {
    const body = { kind: "", apiVersion: "", raw: new Uint8Array(0) };
    reader.skip(magic.length);
    readFields(reader, bytes.length - magic.length, (number, wireType) => {
      if (number < 1 || number > 4) return false;
      requireWireType(wireType, wireTypes.delimited, envelopeFields[number - 1] as string);
      if (number === 1) {
        readFields(reader, reader.uint32(), (part) => {
          if (part === 1) body.apiVersion = reader.string();
          else if (part === 2) body.kind = reader.string();
          return part === 1 || part === 2;
        });
      } else if (number === 2) body.raw = Uint8Array.from(reader.bytes());
      else reader.bytes();
      return true;
    });
    return body;
  });
}

const envelopeFields = ["TypeMeta", "Raw", "ContentEncoding", "ContentType"] as const;

/** The object in an envelope, as its JSON would be read; `fieldsMax` as for a message. Throws `ProtobufError`. */
export function decodeProtobuf(type: TypeRow, { kind, apiVersion, raw }: ProtobufBody, fieldsMax?: number): JsonObject {
  return {
    ...(kind === "" ? {} : { kind }),
    ...(apiVersion === "" ? {} : { apiVersion }),
    ...decodeMessage(type, raw, fieldsMax),
  };
}

/** The same in steps. */
export function* decodeProtobufSteps(
  type: TypeRow,
  { kind, apiVersion, raw }: ProtobufBody,
): Generator<void, JsonObject> {
  const message = yield* decodeMessageSteps(type, raw);
  return { ...(kind === "" ? {} : { kind }), ...(apiVersion === "" ? {} : { apiVersion }), ...message };
}

const meta = "~apimachinery.pkg.apis.meta.v1.";

/** Kinds of no group of their own. */
const sharedKinds = new Map(
  [
    "APIGroup",
    "APIGroupList",
    "APIResourceList",
    "APIVersions",
    "PartialObjectMetadata",
    "PartialObjectMetadataList",
  ].map((kind) => [kind, `${meta}${kind}`]),
);

/** The built-in type of an object; undefined for an object that protobuf cannot hold. */
export function typeOfObject(dialect: Dialect, object: JsonObject): TypeRow | undefined {
  const kind = (object["kind"] ?? "") as string;
  const apiVersion = (object["apiVersion"] ?? "v1") as string;
  const shared = sharedKinds.get(kind);
  if (shared !== undefined) return structNamed(shared);
  const type = structOfKind(apiVersionFromDialect(dialect, apiVersion), kind);
  return type === undefined ? undefined : typeInDialect(type, dialect);
}
