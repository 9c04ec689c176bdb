/**
 * Objects in CBOR. They look as in JSON, but that fields of bytes hold bytes, which JSON has to show as base64.
 */
import { decodeBase64 } from "../../../wire/base64.ts";
import { type CborValue, encodeCbor, encodeCborHead, encodeCborSequence } from "../../../wire/cbor.ts";
import type { Shape, TypeRow } from "../../../wire/schema.ts";
import { InvariantError } from "../../kernel/invariant.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { withoutType } from "./without-type.ts";

/** `type` is undefined for an object that has no type in the tables. */
export function cborOf(type: TypeRow | undefined, object: JsonObject): Uint8Array {
  const convert = type === undefined ? undefined : ofStruct(type);
  return encodeCbor(convert === undefined ? object : convert(object));
}

/** Items that are written in one step. */
const itemsPerStep = 200;

/** A list, some items at a time. */
export function* cborListSlices(
  type: TypeRow | undefined,
  head: JsonObject,
  items: readonly JsonObject[],
): Generator<Uint8Array> {
  const convert = (type === undefined ? undefined : ofStruct(type)) ?? ((value: Json) => value as CborValue);
  yield encodeCborHead(convert(head) as { readonly [key: string]: CborValue }, "items", items.length);
  for (let at = 0; at < items.length; at += itemsPerStep) {
    const part = convert({ items: items.slice(at, at + itemsPerStep).map(withoutType) }) as {
      readonly items: readonly CborValue[];
    };
    yield encodeCborSequence(part.items);
  }
}

type Convert = (value: Json) => CborValue;

/** Undefined where there are no bytes anywhere below. */
const converters = new Map<TypeRow, Convert | undefined>();

function ofStruct(type: TypeRow): Convert | undefined {
  if (converters.has(type)) return converters.get(type);
  converters.set(type, undefined); // types that contain themselves hold no bytes
  const fields = new Map<string, Convert>();
  for (const { name, shape } of type.rows) {
    const convert = ofShape(shape);
    if (convert !== undefined) fields.set(name, convert);
  }
  const convert = fields.size === 0 ? undefined : mapping((name) => fields.get(name));
  converters.set(type, convert);
  return convert;
}

function ofShape(shape: Shape): Convert | undefined {
  switch (shape.is) {
    case "struct":
      return ofStruct(shape.type);
    case "list": {
      const convert = ofShape(shape.items);
      return convert === undefined
        ? undefined
        : (list) => (Array.isArray(list) ? list.map(convert) : (list as CborValue));
    }
    case "map": {
      const convert = ofShape(shape.values);
      return convert === undefined ? undefined : mapping(() => convert);
    }
    case "scalar":
      return shape.format === "byte" ? bytes : undefined;
    default:
      return undefined;
  }
}

function mapping(converterOf: (name: string) => Convert | undefined): Convert {
  return (value) => {
    if (value === null || typeof value !== "object" || Array.isArray(value)) return value as CborValue;
    const entries = Object.entries(value as JsonObject);
    return Object.fromEntries(entries.map(([name, part]) => [name, converterOf(name)?.(part) ?? part]));
  };
}

function bytes(value: Json): CborValue {
  if (typeof value !== "string") return value as CborValue;
  const decoded = decodeBase64(value);
  if (typeof decoded === "number") throw new InvariantError("stored bytes are not base64", value);
  return decoded;
}
