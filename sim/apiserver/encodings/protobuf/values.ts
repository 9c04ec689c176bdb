/**
 * How one value looks in protobuf: scalars, and the few messages that JSON shows as something else (times,
 * quantities, integers or strings, raw JSON). Structs are in `messages.ts`.
 * Source: document 1, Protobuf envelope; recorded bytes; the published message definitions.
 */
import type protobuf from "protobufjs/minimal.js";
import { decodeBase64, encodeBase64 } from "../../../../wire/base64.ts";
import { encodeJson } from "../../../../wire/go-strings.ts";
import { parseJsonStrict } from "../../../../wire/json-scan.ts";
import { formatMicroTime, formatTime, type Instant, parseMicroTime, parseTime } from "../../../../wire/time.ts";
import { InvariantError } from "../../../kernel/invariant.ts";
import type { Json } from "../../../contract/http-message.ts";

export type Reader = protobuf.Reader;
export type Writer = protobuf.Writer;

/** A body that is no such message: a client's mistake. The text is what the real decoder says. */
export class ProtobufError extends Error {}

export const wireTypes = { varint: 0, fixed64: 1, delimited: 2 } as const;
export type WireType = (typeof wireTypes)[keyof typeof wireTypes];

/** What has been written since others had their turn. */
export interface Written {
  bytes: number;
}

export interface ValueCodec {
  readonly wireType: WireType;
  /** Writes the value behind its tag; undefined and null stand for the zero value. */
  write(writer: Writer, value: Json | undefined): void;
  /** As `write`, of what may hold much: stops each time that much has been written. */
  readonly steps?: (writer: Writer, value: Json | undefined, written: Written) => Generator<void, void>;
  /** `before` is what an earlier occurrence of the field gave: messages are merged into it. Throws `ProtobufError`. */
  read(reader: Reader, before: Json | undefined): Json;
  /** True for what a field held by value need not show. */
  isZero(value: Json): boolean;
}

const never = (): boolean => false;

export const stringCodec: ValueCodec = {
  wireType: wireTypes.delimited,
  write: (writer, value) => writer.string((value ?? "") as string),
  read: (reader) => reader.string(),
  isZero: (value) => value === "",
};

/** Bytes are base64 in JSON. */
export const bytesCodec: ValueCodec = {
  wireType: wireTypes.delimited,
  write(writer, value) {
    const bytes = decodeBase64((value ?? "") as string);
    if (typeof bytes === "number") throw new InvariantError("stored bytes are not base64", value);
    writer.bytes(bytes);
  },
  read: (reader) => encodeBase64(reader.bytes()),
  isZero: never,
};

export const boolCodec: ValueCodec = {
  wireType: wireTypes.varint,
  write: (writer, value) => writer.bool(value === true),
  read: (reader) => integer(reader) !== 0,
  isZero: (value) => value === false,
};

export const int32Codec: ValueCodec = {
  wireType: wireTypes.varint,
  write: (writer, value) => writer.int32((value ?? 0) as number),
  read: (reader) => reader.int32(),
  isZero: (value) => value === 0,
};

/** Beyond 2^53 there are bigints, as from the JSON reader. */
export const int64Codec: ValueCodec = {
  wireType: wireTypes.varint,
  write(writer, value) {
    const integer: unknown = value ?? 0;
    writer.int64(typeof integer === "bigint" ? halvesOf(integer) : (integer as number));
  },
  read: (reader) => integer(reader) as Json,
  isZero: (value) => value === 0,
};

export const doubleCodec: ValueCodec = {
  wireType: wireTypes.fixed64,
  write: (writer, value) => writer.double((value ?? 0) as number),
  read: (reader) => reader.double(),
  isZero: (value) => value === 0,
};

/** As the writer takes more than a double holds. */
function halvesOf(integer: bigint): { low: number; high: number; unsigned: boolean } {
  return { low: Number(BigInt.asIntN(32, integer)), high: Number(BigInt.asIntN(32, integer >> 32n)), unsigned: false };
}

function integer(reader: Reader): number | bigint {
  const start = reader.pos;
  const number = Number(reader.int64()); // an object where the package `long` is installed
  return Number.isSafeInteger(number) ? number : exactInteger(reader.buf.subarray(start, reader.pos));
}

/** A varint of 64 bits: seven bits a byte, the lowest first. */
function exactInteger(bytes: Uint8Array): bigint {
  let bits = 0n;
  for (const byte of bytes.toReversed()) bits = (bits << 7n) | BigInt(byte & 0x7f);
  return BigInt.asIntN(64, bits);
}

/** A message with a few scalar fields, each always written. */
function messageCodec<Parts extends object>(
  encode: (value: Json | undefined) => Parts | undefined,
  fields: readonly (readonly [number: number, name: keyof Parts & string, codec: ValueCodec])[],
  decode: (parts: Partial<Parts>) => Json,
): ValueCodec {
  return {
    wireType: wireTypes.delimited,
    write(writer, value) {
      writer.fork();
      const parts = encode(value);
      if (parts !== undefined) {
        for (const [number, name, codec] of fields) {
          writer.uint32((number << 3) | codec.wireType);
          codec.write(writer, parts[name] as Json);
        }
      }
      writer.ldelim();
    },
    read(reader) {
      const parts: Partial<Parts> = {};
      readFields(reader, reader.uint32(), (number, wireType) => {
        const field = fields.find((one) => one[0] === number);
        if (field === undefined) return false;
        requireWireType(wireType, field[2].wireType, field[1]);
        parts[field[1]] = field[2].read(reader, undefined) as Parts[keyof Parts & string];
        return true;
      });
      return decode(parts);
    },
    isZero: (value) => value === null,
  };
}

type Timestamp = { readonly seconds: number; readonly nanos: number };

function timeCodec(parse: typeof parseTime, format: (instant: Instant) => string): ValueCodec {
  return messageCodec<Timestamp>(
    (value) => {
      if (value === undefined || value === null) return undefined; // the zero time is an empty message
      const instant = parse(value as string);
      if ("error" in instant) throw new InvariantError("a stored time is unreadable", value);
      return { seconds: instant.seconds, nanos: instant.micros * 1_000 };
    },
    [
      [1, "seconds", int64Codec],
      [2, "nanos", int32Codec],
    ],
    ({ seconds, nanos = 0 }) => {
      if (seconds === undefined) return null;
      if (!(Math.abs(Number(seconds)) <= 253_402_300_799))
        throw new ProtobufError("Time: year outside of range [0,9999]");
      return format({ seconds, micros: Math.floor(nanos / 1_000) });
    },
  );
}

const quantityCodec = messageCodec<{ readonly string: string }>(
  (value) => ({ string: String(value ?? "0") }),
  [[1, "string", stringCodec]],
  ({ string = "" }) => string,
);

const intOrStringCodec = messageCodec<{ readonly type: number; readonly intVal: number; readonly strVal: string }>(
  (value) =>
    typeof value === "string"
      ? { type: 1, intVal: 0, strVal: value }
      : { type: 0, intVal: (value ?? 0) as number, strVal: "" },
  [
    [1, "type", int64Codec],
    [2, "intVal", int32Codec],
    [3, "strVal", stringCodec],
  ],
  ({ type = 0, intVal = 0, strVal = "" }) => (type === 0 ? intVal : strVal),
);

/** A text in JSON that is what stands between its quotes: enumerations have many. */
const plainText = /^"[^"\\\u0000-\u001f]*"$/;

/** JSON inside protobuf: `FieldsV1`, `RawExtension`, and the `JSON` of schemas. */
const rawJsonCodec = messageCodec<{ readonly raw: string }>(
  (value) => (value === undefined ? undefined : { raw: encodeJson(value) }),
  [[1, "raw", stringCodec]],
  ({ raw }) => {
    if (raw === undefined) return null;
    if (plainText.test(raw)) return raw.slice(1, -1);
    const read = parseJsonStrict(new TextEncoder().encode(raw));
    if (!read.ok) throw new ProtobufError(read.error);
    return read.value as Json;
  },
);

/** Types that are no struct in the tables, by name. */
export const namedCodecs: Readonly<Record<string, ValueCodec>> = {
  "~apimachinery.pkg.apis.meta.v1.Time": timeCodec(parseTime, ({ seconds }) => formatTime(seconds)),
  "~apimachinery.pkg.apis.meta.v1.MicroTime": timeCodec(parseMicroTime, formatMicroTime),
  "~apimachinery.pkg.api.resource.Quantity": quantityCodec,
  "~apimachinery.pkg.util.intstr.IntOrString": intOrStringCodec,
  "~apimachinery.pkg.apis.meta.v1.FieldsV1": rawJsonCodec,
  "~apimachinery.pkg.runtime.RawExtension": rawJsonCodec,
  "~apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON": rawJsonCodec,
};

/**
 * Reads tags until `length` bytes are gone. `field` reads the value and says so, or leaves it to be skipped.
 * Throws `ProtobufError`.
 */
export function readFields(reader: Reader, length: number, field: (number: number, wireType: number) => boolean): void {
  const end = reader.pos + length;
  if (end > reader.len) throw new ProtobufError("unexpected EOF");
  while (reader.pos < end) {
    const tag = reader.uint32();
    const number = tag >>> 3;
    const wireType = tag & 7;
    if (wireType === 4) throw new ProtobufError("proto: wiretype end group for non-group");
    if (number === 0) throw new ProtobufError(`proto: illegal tag 0 (wire type ${wireType})`);
    if (!field(number, wireType)) reader.skipType(wireType);
  }
  if (reader.pos > end) throw new ProtobufError("unexpected EOF");
}

export function requireWireType(actual: number, expected: number, field: string): void {
  if (actual === expected) return;
  throw new ProtobufError(
    `proto: wrong wireType = ${actual} for field ${field.charAt(0).toUpperCase()}${field.slice(1)}`,
  );
}
