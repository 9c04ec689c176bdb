/**
 * A Swagger document in protobuf: the only form that old clients ask for. One table row per message; the names are
 * those of the JSON form.
 * Source: the published message definitions of Swagger 2.0 (openapi.v2), field numbers alone.
 */
import protobuf from "protobufjs/minimal.js";
import { encodeJson } from "../../../wire/go-strings.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";

type Writer = protobuf.Writer;
type Write = (writer: Writer, value: Json) => void;
interface Field {
  readonly number: number;
  readonly write: Write;
  /** One occurrence for each item. */
  readonly repeated?: true;
}
type Fields = Readonly<Record<string, Field>>;

/** The pieces of the whole, with a step for each path and each definition: before them stands how long all of them are. */
export function* swaggerPieces(document: JsonObject): Generator<void, readonly Uint8Array[]> {
  const pieces: Uint8Array[] = [];
  for (const [name, value] of Object.entries(document)) {
    if (Object.hasOwn(longFields, name)) yield* longPieces(pieces, longFields[name] as LongField, value as JsonObject);
    else if (Object.hasOwn(documentFields, name)) {
      const { number, write } = documentFields[name] as Field;
      pieces.push(written((writer) => writeField(writer, number, write, value as Json)));
    }
  }
  return pieces;
}

function* longPieces(pieces: Uint8Array[], field: LongField, value: JsonObject): Generator<void, void> {
  const at = pieces.length;
  pieces.push(nothing);
  let length = 0;
  for (const [name, item] of Object.entries(value)) {
    const piece = written((writer) => writePair(writer, field.pair, name, field.write, item as Json));
    pieces.push(piece);
    length += piece.length;
    yield;
  }
  pieces[at] = written((writer) => writer.uint32((field.number << 3) | 2).uint32(length));
}

const nothing = new Uint8Array(0);

function written(write: (writer: Writer) => void): Uint8Array {
  const writer = protobuf.Writer.create();
  write(writer);
  return writer.finish();
}

const text: Write = (writer, value) => void writer.string(String(value));
const flag: Write = (writer, value) => void writer.bool(value === true);
const double: Write = (writer, value) => void writer.double(Number(value));
const integer: Write = (writer, value) => void writer.int64(Number(value));
const one = (number: number, write: Write): Field => ({ number, write });
const many = (number: number, write: Write): Field => ({ number, write, repeated: true });

/** A message of these fields; names that begin with `x-` go to the field `extensions`. */
const message =
  (fields: () => Fields, extensions?: number): Write =>
  (writer, value) =>
    writeFields(fields(), extensions, value as JsonObject)(writer);

/** A message whose only field holds the value. */
const wrapped =
  (number: number, inner: Write): Write =>
  (writer, value) =>
    writeField(writer, number, inner, value);

/** An object as a list of pairs of a name and a value. */
const pairs =
  (number: number, inner: Write): Write =>
  (writer, value) => {
    for (const [name, item] of Object.entries(value as JsonObject)) writePair(writer, number, name, inner, item);
  };

/** Any value, as text: JSON is YAML. */
const any: Write = (writer, value) => writeField(writer, 2, text, encodeJson(value));

const listOf =
  (number: number, inner: Write): Write =>
  (writer, value) => {
    for (const item of Array.isArray(value) ? value : [value]) writeField(writer, number, inner, item);
  };

const schema: Write = message(() => schemaFields, 31);
const schemaFields: Fields = {
  $ref: one(1, text),
  format: one(2, text),
  title: one(3, text),
  description: one(4, text),
  default: one(5, any),
  multipleOf: one(6, double),
  maximum: one(7, double),
  exclusiveMaximum: one(8, flag),
  minimum: one(9, double),
  exclusiveMinimum: one(10, flag),
  maxLength: one(11, integer),
  minLength: one(12, integer),
  pattern: one(13, text),
  maxItems: one(14, integer),
  minItems: one(15, integer),
  maxProperties: one(17, integer),
  minProperties: one(18, integer),
  required: many(19, text),
  enum: many(20, any),
  additionalProperties: one(21, wrapped(1, schema)),
  type: one(22, listOf(1, text)),
  items: one(23, listOf(1, schema)),
  properties: one(25, pairs(1, schema)),
};

const bodyFields: Fields = { name: one(2, text), in: one(3, text), required: one(4, flag), schema: one(5, schema) };
const queryFields: Fields = { required: one(1, flag), in: one(2, text), name: one(4, text), type: one(6, text) };
const pathFields: Fields = { required: one(1, flag), in: one(2, text), name: one(4, text), type: one(5, text) };

/** A choice within a choice: in the body or elsewhere, and where. */
const parameter: Write = (writer, value) => {
  const place = (value as JsonObject)["in"];
  const inner =
    place === "body"
      ? wrapped(
          1,
          message(() => bodyFields),
        )
      : wrapped(
          2,
          place === "path"
            ? wrapped(
                4,
                message(() => pathFields),
              )
            : wrapped(
                3,
                message(() => queryFields),
              ),
        );
  wrapped(1, inner)(writer, value);
};

const responseFields: Fields = { description: one(1, text), schema: one(2, wrapped(1, schema)) };
const operation: Write = message(
  () => ({
    produces: many(6, text),
    consumes: many(7, text),
    parameters: many(8, parameter),
    responses: one(
      9,
      pairs(
        1,
        wrapped(
          1,
          message(() => responseFields),
        ),
      ),
    ),
  }),
  13,
);
const pathItem: Write = message(() => ({
  get: one(2, operation),
  put: one(3, operation),
  post: one(4, operation),
  delete: one(5, operation),
  patch: one(8, operation),
  parameters: many(9, parameter),
}));

const documentFields: Fields = {
  swagger: one(1, text),
  info: one(
    2,
    message(() => ({ title: one(1, text), version: one(2, text) })),
  ),
};

/** A message of pairs of a name and a value. */
interface LongField {
  readonly number: number;
  readonly pair: number;
  readonly write: Write;
}
const longFields: Readonly<Record<string, LongField>> = {
  paths: { number: 8, pair: 2, write: pathItem },
  definitions: { number: 9, pair: 1, write: schema },
};

function writeFields(fields: Fields, extensions: number | undefined, object: JsonObject): (writer: Writer) => void {
  return (writer) => {
    for (const [name, value] of Object.entries(object)) {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (field === undefined) {
        if (extensions !== undefined && name.startsWith("x-")) writePair(writer, extensions, name, any, value as Json);
      } else if (field.repeated) {
        for (const item of value as readonly Json[]) writeField(writer, field.number, field.write, item);
      } else writeField(writer, field.number, field.write, value as Json);
    }
  };
}

function writePair(writer: Writer, number: number, name: string, inner: Write, value: Json): void {
  writer.uint32((number << 3) | 2).fork();
  writer.uint32(10).string(name);
  writeField(writer, 2, inner, value);
  writer.ldelim();
}

/** Texts, flags and numbers stand for themselves; everything else is a message, with its length first. */
function writeField(writer: Writer, number: number, write: Write, value: Json): void {
  if (write === flag || write === integer) write(writer.uint32(number << 3), value);
  else if (write === double) write(writer.uint32((number << 3) | 1), value);
  else if (write === text) text(writer.uint32((number << 3) | 2), value);
  else {
    writer.uint32((number << 3) | 2).fork();
    write(writer, value);
    writer.ldelim();
  }
}

/** Whether an `Accept` header asks for this form, by either of its names. */
export const asksForSwaggerProtobuf = (accept: string): boolean =>
  /application\/com\.github\.proto-openapi\.spec\.v2[.@]v1\.0\+protobuf/.test(accept);

export const swaggerProtobufMediaType = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
