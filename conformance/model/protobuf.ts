/**
 * Objects in protobuf, as a client reads and writes them: the envelope, and messages by the type tables. Enough for
 * metadata and for types of texts, numbers, maps and messages; what the tables call by other names is left out.
 * Source: document 1, Protobuf envelope; the published wire format.
 */
import protobuf from "protobufjs/minimal.js";
import { answerValuesMax } from "../../wire/json-values.ts";
import { structNamed, structOfKind, type Shape, type TypeRow } from "../../wire/schema.ts";
import { formatTime } from "../../wire/time.ts";
import { isJsonObject, type Json, type JsonObject } from "../client/types.ts";

/** Hex 6b 38 73 00. */
export const protobufPrefix = Uint8Array.of(0x6b, 0x38, 0x73, 0x00);

export interface Envelope {
  readonly apiVersion: string;
  readonly kind: string;
  readonly raw: Uint8Array;
  readonly contentEncoding: string;
  readonly contentType: string;
}

/** Bytes that are no envelope, or no message. */
export class NoProtobuf extends Error {}

export function hasPrefix(bytes: Uint8Array): boolean {
  return protobufPrefix.every((byte, at) => bytes[at] === byte);
}

/** Throws `NoProtobuf`. */
export function openEnvelope(bytes: Uint8Array): Envelope {
  if (!hasPrefix(bytes)) throw new NoProtobuf("the bytes do not begin with 6b 38 73 00");
  const fields = readFields(bytes.subarray(protobufPrefix.length));
  const typeMeta = readFields(bytesOf(fields, 1));
  const text = (from: Fields, number: number) => decoder.decode(bytesOf(from, number));
  return {
    apiVersion: text(typeMeta, 1),
    kind: text(typeMeta, 2),
    raw: bytesOf(fields, 2),
    contentEncoding: text(fields, 3),
    contentType: text(fields, 4),
  };
}

/** The object in an envelope, without kind and apiVersion. `apiVersion` and `kind` as the tables have them. */
export function readObject(apiVersion: string, kind: string, raw: Uint8Array): JsonObject {
  const type = structOfKind(apiVersion, kind);
  if (type === undefined) throw new NoProtobuf(`no type of the tables is ${apiVersion} ${kind}`);
  return readMessage(type, raw);
}

/** A ConfigMap as a client sends it: labels and data alone. */
export function writeConfigMap(object: JsonObject): Uint8Array {
  const writer = protobuf.Writer.create();
  for (const byte of protobufPrefix) writer.uint32(byte);
  writer.uint32(delimited(1)).fork();
  writer.uint32(delimited(1)).string("v1");
  writer.uint32(delimited(2)).string("ConfigMap").ldelim();
  writer.uint32(delimited(2)).bytes(writeMessage(structNamed("core.v1.ConfigMap"), object));
  return writer.finish();
}

/** The events of a watch: frames with their length before them, in each the type and the object's envelope. */
export function readFrames(bytes: Uint8Array): { readonly type: string; readonly object: Envelope }[] {
  const events: { type: string; object: Envelope }[] = [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  for (let at = 0; at < bytes.length; ) {
    const length = at + 4 <= bytes.length ? view.getUint32(at) : bytes.length;
    if (at + 4 + length > bytes.length) throw new NoProtobuf(`a frame of ${length} bytes at ${at} is cut off`);
    const event = readFields(bytes.subarray(at + 4, at + 4 + length));
    const raw = bytesOf(readFields(bytesOf(event, 2)), 1);
    events.push({ type: decoder.decode(bytesOf(event, 1)), object: openEnvelope(raw) });
    at += 4 + length;
  }
  return events;
}

const decoder = new TextDecoder("utf-8", { fatal: true });
const delimited = (number: number): number => (number << 3) | 2;

/** Values in the order of their coming: numbers of varints, bytes of all that is delimited. */
type Fields = ReadonlyMap<number, readonly (number | Uint8Array)[]>;

function readFields(bytes: Uint8Array): Fields {
  const fields = new Map<number, (number | Uint8Array)[]>();
  let count = 0;
  try {
    const reader = protobuf.Reader.create(bytes);
    while (reader.pos < reader.len) {
      if (++count > answerValuesMax) throw new NoProtobuf(`a message has more than ${answerValuesMax} fields`);
      const tag = reader.uint32();
      const known = fields.get(tag >>> 3) ?? [];
      if ((tag & 7) === 0) known.push(Number(String(reader.int64())));
      else if ((tag & 7) === 2) known.push(Uint8Array.from(reader.bytes()));
      else reader.skipType(tag & 7);
      fields.set(tag >>> 3, known);
    }
  } catch (error) {
    throw new NoProtobuf(String(error));
  }
  return fields;
}

function bytesOf(fields: Fields, number: number): Uint8Array {
  const value = fields.get(number)?.at(-1);
  return value instanceof Uint8Array ? value : new Uint8Array(0);
}

function readMessage(type: TypeRow, bytes: Uint8Array): JsonObject {
  const fields = readFields(bytes);
  const object: Record<string, Json> = {};
  for (const { name, shape, typeName, protobuf: number } of type.rows) {
    const values = number === undefined || number.within.length > 0 ? undefined : fields.get(number.number);
    if (values === undefined) continue;
    const read = readField(shape, typeName, values);
    if (read !== undefined) object[name] = read;
  }
  return object;
}

function readField(
  shape: Shape,
  typeName: string | undefined,
  values: readonly (number | Uint8Array)[],
): Json | undefined {
  if (shape.is === "list") {
    const items = values.map((value) => readValue(shape.items, undefined, value));
    return items.every((item) => item !== undefined) ? items : undefined;
  }
  if (shape.is === "map") {
    const entries = values.map((value) => {
      const entry = readFields(value as Uint8Array);
      return [decoder.decode(bytesOf(entry, 1)), readValue(shape.values, undefined, bytesOf(entry, 2))] as const;
    });
    return entries.every(([, value]) => value !== undefined) ? Object.fromEntries(entries) : undefined;
  }
  return readValue(shape, typeName, values.at(-1) as number | Uint8Array);
}

function readValue(shape: Shape, typeName: string | undefined, value: number | Uint8Array): Json | undefined {
  if (shape.is === "struct" && value instanceof Uint8Array) return readMessage(shape.type, value);
  if (typeName?.endsWith(".Time") === true && value instanceof Uint8Array) {
    const seconds = readFields(value).get(1)?.[0];
    return typeof seconds === "number" ? formatTime(seconds) : undefined;
  }
  if (shape.is !== "scalar" || typeName !== undefined || shape.format === "byte") return undefined;
  if (shape.type === "string" && value instanceof Uint8Array) return decoder.decode(value);
  if (shape.type === "boolean") return value !== 0;
  return typeof value === "number" ? value : undefined;
}

function writeMessage(type: TypeRow, object: JsonObject): Uint8Array {
  const writer = protobuf.Writer.create();
  for (const { name, shape, protobuf: field } of type.rows.toSorted(
    (a, b) => (a.protobuf?.number ?? 0) - (b.protobuf?.number ?? 0),
  )) {
    const value = object[name];
    if (field === undefined || value === undefined) continue;
    if (typeof value === "string") writer.uint32(delimited(field.number)).string(value);
    else if (shape.is === "struct" && isJsonObject(value)) {
      writer.uint32(delimited(field.number)).bytes(writeMessage(shape.type, value));
    } else if (shape.is === "map" && isJsonObject(value)) {
      for (const [key, text] of Object.entries(value)) {
        writer.uint32(delimited(field.number)).fork();
        writer.uint32(delimited(1)).string(key).uint32(delimited(2)).string(String(text)).ldelim();
      }
    } else throw new NoProtobuf(`the suite does not write ${name} in protobuf`);
  }
  return writer.finish();
}
