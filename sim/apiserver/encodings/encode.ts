/** Every way in which an object becomes bytes. */
import { encodeCborEvent } from "../../../wire/cbor.ts";
import type { Dialect } from "../../../wire/dialect.ts";
import type { TypeRow } from "../../../wire/schema.ts";
import { encodeJson, encodePrettyJson, jsonPieces } from "../../../wire/go-strings.ts";
import { InvariantError } from "../../kernel/invariant.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { cborListSlices, cborOf, cborSlices } from "./cbor.ts";
import { utf8 } from "./encodings.ts";
import {
  encodeProtobuf,
  encodeWatchFrame,
  protobufListSlices,
  protobufSlices,
  typeOfObject,
} from "./protobuf/envelope.ts";
import { yamlPieces, yamlText } from "./yaml.ts";

/** Formats that this server reads and writes. */
export type Format = "json" | "yaml" | "protobuf" | "cbor";

export interface Encode {
  (object: JsonObject): Uint8Array;
  /** The same in pieces, of which those that wait for others are empty. Of JSON, `object` may have lists of `LazyItems`. */
  readonly slices?: (object: Readonly<Record<string, unknown>>) => Generator<Uint8Array>;
  /** A list in pieces, of which those that wait for others are empty: `items` are its own, with their kinds and versions, which are not written; `head` is the rest. */
  readonly list?: (head: JsonObject, items: readonly JsonObject[]) => Generator<Uint8Array>;
}

/** A watch event; `object` is the event's object. */
export type EncodeEvent = (type: string, object: JsonObject) => Uint8Array;

export const compactJson = encodeOf(
  (object) => `${encodeJson(object)}\n`,
  function* (object) {
    yield* jsonPieces(object, false);
    yield "\n";
  },
);

/** With indentation and without the final newline. */
export const prettyJson = encodeOf(encodePrettyJson, (object) => jsonPieces(object, true));

export const yaml = encodeOf(yamlText, (object) => yamlPieces(object as JsonObject));

type SlicedEncode = Encode & Required<Pick<Encode, "slices">>;

function encodeOf(
  write: (object: JsonObject) => string,
  pieces: (object: Readonly<Record<string, unknown>>) => Generator<string>,
): SlicedEncode {
  return Object.assign((object: JsonObject) => utf8(write(object)), {
    *slices(object: Readonly<Record<string, unknown>>) {
      for (const piece of pieces(object)) yield utf8(piece);
    },
  });
}

/** The encoders of one server, whose objects carry the names of its dialect. */
export class Encoders {
  private readonly byFormat: Readonly<Record<Format, Encode>>;
  private readonly events: Readonly<Partial<Record<Format, EncodeEvent>>>;

  constructor(dialect: Dialect) {
    const messageOf = (object: JsonObject): TypeRow => {
      const type = typeOfObject(dialect, object);
      if (type === undefined) throw new InvariantError("an object without a message was promised in protobuf", object);
      return type;
    };
    const protobuf: Encode = Object.assign((object: JsonObject) => encodeProtobuf(messageOf(object), object), {
      slices: (object: Readonly<Record<string, unknown>>) =>
        protobufSlices(messageOf(object as JsonObject), object as JsonObject),
      list: (head: JsonObject, items: readonly JsonObject[]) => protobufListSlices(messageOf(head), head, items),
    });
    const cbor: Encode = Object.assign((object: JsonObject) => cborOf(typeOfObject(dialect, object), object), {
      slices: (object: Readonly<Record<string, unknown>>) =>
        cborSlices(typeOfObject(dialect, object as JsonObject), object as JsonObject),
      list: (head: JsonObject, items: readonly JsonObject[]) =>
        cborListSlices(typeOfObject(dialect, head), head, items),
    });
    this.byFormat = { json: compactJson, yaml, protobuf, cbor };
    this.events = {
      protobuf: (type, object) => encodeWatchFrame(type, protobuf(object)),
      cbor: (type, object) => encodeCborEvent(type, cbor(object)),
    };
  }

  of(format: Format): Encode {
    return this.byFormat[format];
  }

  /** Undefined for lines of JSON. */
  ofEvents(format: Format): EncodeEvent | undefined {
    return this.events[format];
  }
}
