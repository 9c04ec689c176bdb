/**
 * Messages of the container runtime interface as protocol buffers, driven by the tables of `wire/cri.ts`. Plain zero values
 * are not written; what is read gets them back, so that a message from the wire looks as one in process does.
 */
import { isUtf8 } from "node:buffer";
import protobuf from "protobufjs/minimal.js";
import { type CriField, criMessages, type CriScalar } from "../../wire/cri.ts";

type Message = Readonly<Record<string, unknown>>;

export function encodeMessage(name: string, message: object): Buffer {
  const writer = protobuf.Writer.create();
  write(name, message as Message, writer);
  return Buffer.from(writer.finish());
}

/** Values of a message, those of its parts and those that nobody knows included: many times what any node holds. */
const valuesMax = 300_000;

/** There are so many that reading them would hold everybody up. */
export class TooManyValues extends Error {}

/**
 * Throws for bytes that are no such message, and `TooManyValues`. Nested messages are as deep as the tables, which are no circle.
 */
export function decodeMessage(name: string, bytes: Uint8Array, most = valuesMax): object {
  return read(name, { reader: protobuf.Reader.create(bytes), left: most, most }, bytes.length);
}

/** As other implementations do, what is no UTF-8 is refused; putting megabytes of it right would hold everybody up. */
function textOf(reader: protobuf.Reader): string {
  const from = reader.pos;
  const length = reader.uint32();
  const start = reader.pos;
  if (start + length <= reader.len && !isUtf8(reader.buf.subarray(start, start + length)))
    throw new Error("string field contains invalid UTF-8");
  reader.pos = from;
  return reader.string();
}

function write(name: string, message: Message, writer: protobuf.Writer): void {
  for (const field of criMessages.get(name) as readonly CriField[]) {
    const value = message[field.name];
    if (value === undefined || value === null) continue;
    if (field.many === "map") {
      for (const [key, text] of Object.entries(value as Record<string, string>)) {
        writer.uint32((field.number << 3) | 2).fork();
        writer.uint32(10).string(key.toWellFormed()).uint32(18).string(text.toWellFormed()).ldelim();
      }
    } else if (field.many === "list") {
      const values = value as Iterable<unknown>;
      if (isPacked(field)) {
        if ((value as readonly unknown[]).length === 0) continue;
        writer.uint32((field.number << 3) | 2).fork();
        for (const one of values) writeValue(field, one, writer);
        writer.ldelim();
      } else for (const one of values) writeTagged(field, one, writer);
    } else if (!isZero(field, value)) writeTagged(field, value, writer);
  }
}

function writeTagged(field: CriField, value: unknown, writer: protobuf.Writer): void {
  const { shape, number } = field;
  if (shape.is === "message") {
    writer.uint32((number << 3) | 2).fork();
    write(shape.name, value as Message, writer);
    writer.ldelim();
    return;
  }
  writer.uint32((number << 3) | wireTypeOf(field));
  writeValue(field, value, writer);
}

function writeValue({ shape }: CriField, value: unknown, writer: protobuf.Writer): void {
  if (shape.is === "enum") writer.int32(Math.max(0, shape.values.indexOf(value as string)));
  else if (shape.is === "scalar") scalars[shape.type].write(writer, value as never);
}

const isPacked = ({ shape }: CriField): boolean =>
  shape.is === "enum" || (shape.is === "scalar" && shape.type !== "string" && shape.type !== "bytes");

function isZero({ shape }: CriField, value: unknown): boolean {
  if (shape.is === "message") return false;
  if (shape.is === "enum") return value === shape.values[0];
  return value === 0 || value === "" || value === false || (value instanceof Uint8Array && value.length === 0);
}

function wireTypeOf({ shape }: CriField): number {
  if (shape.is === "enum") return 0;
  const type = (shape as { type: CriScalar }).type;
  return type === "string" || type === "bytes" ? 2 : type === "double" ? 1 : 0;
}

interface ScalarCodec<T> {
  readonly zero: T;
  write(writer: protobuf.Writer, value: T): void;
  read(reader: protobuf.Reader): T;
}

const signed: ScalarCodec<number> = {
  zero: 0,
  write: (writer, value) => void writer.int64(value),
  read: (reader) => Number(reader.int64().toString()),
};
const unsigned: ScalarCodec<number> = {
  zero: 0,
  write: (writer, value) => void writer.uint64(value),
  read: (reader) => Number(reader.uint64().toString()),
};

const scalars: { readonly [S in CriScalar]: ScalarCodec<never> } = {
  string: {
    zero: "",
    write: (writer: protobuf.Writer, value: string) => void writer.string(value.toWellFormed()),
    read: (reader: protobuf.Reader) => textOf(reader),
  },
  bytes: {
    zero: new Uint8Array(0),
    write: (writer: protobuf.Writer, value: Uint8Array) => void writer.bytes(value),
    read: (reader: protobuf.Reader) => Uint8Array.from(reader.bytes()),
  },
  bool: {
    zero: false,
    write: (writer: protobuf.Writer, value: boolean) => void writer.bool(value),
    read: (reader: protobuf.Reader) => reader.bool(),
  },
  int32: {
    zero: 0,
    write: (writer: protobuf.Writer, value: number) => void writer.int32(value),
    read: (reader: protobuf.Reader) => reader.int32(),
  },
  uint32: {
    zero: 0,
    write: (writer: protobuf.Writer, value: number) => void writer.uint32(value),
    read: (reader: protobuf.Reader) => reader.uint32(),
  },
  double: {
    zero: 0,
    write: (writer: protobuf.Writer, value: number) => void writer.double(value),
    read: (reader: protobuf.Reader) => reader.double(),
  },
  int64: signed,
  uint64: unsigned,
} as unknown as { readonly [S in CriScalar]: ScalarCodec<never> };

interface Reading {
  readonly reader: protobuf.Reader;
  readonly most: number;
  /** Values that may still come. */
  left: number;
}

function countValue(reading: Reading): void {
  if (--reading.left < 0) throw new TooManyValues(`the message has more than ${reading.most} values`);
}

function read(name: string, reading: Reading, end: number): object {
  const { reader } = reading;
  const message: Record<string, unknown> = {};
  const fields = criMessages.get(name) as readonly CriField[];
  for (const field of fields) {
    if (field.many === "list") message[field.name] = [];
    else if (field.many === "map") message[field.name] = {};
    else if (field.shape.is === "enum") message[field.name] = field.shape.values[0];
    else if (field.shape.is === "scalar") message[field.name] = scalars[field.shape.type].zero;
  }
  while (reader.pos < end) {
    countValue(reading);
    const tag = reader.uint32();
    const field = fields.find(({ number }) => number === tag >>> 3);
    if (field === undefined) reader.skipType(tag & 7);
    else readField(field, tag & 7, reading, message);
  }
  return message;
}

function readField(field: CriField, wireType: number, reading: Reading, message: Record<string, unknown>): void {
  const { reader } = reading;
  if (field.many === "map") {
    const end = reader.uint32() + reader.pos;
    let key = "";
    let value = "";
    while (reader.pos < end) {
      countValue(reading);
      const tag = reader.uint32();
      if (tag === 10) key = textOf(reader);
      else if (tag === 18) value = textOf(reader);
      else reader.skipType(tag & 7);
    }
    // A key of that name is a key as any other, and no prototype.
    Object.defineProperty(message[field.name] as object, key, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
  } else if (field.many === "list") {
    const values = message[field.name] as unknown[];
    if (!isPacked(field) || wireType !== 2) values.push(readValue(field, reading));
    else {
      for (const end = reader.uint32() + reader.pos; reader.pos < end; ) {
        countValue(reading);
        values.push(readValue(field, reading));
      }
    }
  } else message[field.name] = readValue(field, reading);
}

function readValue({ shape }: CriField, reading: Reading): unknown {
  const { reader } = reading;
  if (shape.is === "enum") return shape.values[reader.int32()] ?? shape.values[0];
  if (shape.is === "scalar") return scalars[shape.type].read(reader);
  return read(shape.name, reading, reader.uint32() + reader.pos);
}
