/** Every way in which an object becomes bytes. */
import { encodeCborEvent } from "../../../wire/cbor.ts";
import type { Dialect } from "../../../wire/dialect.ts";
import { encodeJson, encodePrettyJson } from "../../../wire/go-strings.ts";
import { InvariantError } from "../../kernel/invariant.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { cborOf } from "./cbor.ts";
import { utf8 } from "./encodings.ts";
import { encodeProtobuf, encodeWatchFrame, typeOfObject } from "./protobuf/envelope.ts";
import { yamlText } from "./yaml.ts";

/** Formats that this server reads and writes. */
export type Format = "json" | "yaml" | "protobuf" | "cbor";

export type Encode = (object: JsonObject) => Uint8Array;

/** A watch event; `object` is the event's object. */
export type EncodeEvent = (type: string, object: JsonObject) => Uint8Array;

export const compactJson: Encode = (object) => utf8(`${encodeJson(object)}\n`);

/** With indentation and without the final newline. */
export const prettyJson: Encode = (object) => utf8(encodePrettyJson(object));

export const yaml: Encode = (object) => utf8(yamlText(object));

/** The encoders of one server, whose objects carry the names of its dialect. */
export class Encoders {
  private readonly byFormat: Readonly<Record<Format, Encode>>;
  private readonly events: Readonly<Partial<Record<Format, EncodeEvent>>>;

  constructor(dialect: Dialect) {
    const protobuf: Encode = (object) => {
      const type = typeOfObject(dialect, object);
      if (type === undefined) throw new InvariantError("an object without a message was promised in protobuf", object);
      return encodeProtobuf(type, object);
    };
    const cbor: Encode = (object) => cborOf(typeOfObject(dialect, object), object);
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
