/**
 * Three types of JSON schemas that are one thing or another in JSON, and a message with a field for each in protobuf:
 * a boolean or a schema, a schema or a list of schemas, a schema or a list of names.
 */
import type { Json } from "../../../contract/http-message.ts";
import { boolCodec, readFields, requireWireType, stringCodec, type ValueCodec, wireTypes } from "./values.ts";

/** The codec of a schema's alternative by its type's last name; undefined for all other types. `schema` is the codec of a schema. */
export function schemaAlternative(name: string, schema: () => ValueCodec): ValueCodec | undefined {
  if (name === "JSONSchemaPropsOrBool") return schemaOrBool(schema);
  if (name === "JSONSchemaPropsOrArray") return schemaOrList(schema, schema);
  return name === "JSONSchemaPropsOrStringArray" ? schemaOrList(schema, () => stringCodec) : undefined;
}

/** A boolean in field 1, a schema in field 2. */
function schemaOrBool(schema: () => ValueCodec): ValueCodec {
  return {
    wireType: wireTypes.delimited,
    write(writer, value) {
      writer.fork();
      writer.uint32(tagOf(1, boolCodec));
      boolCodec.write(writer, value !== false); // beside a schema the boolean is true
      if (isObject(value)) {
        writer.uint32(tagOf(2, schema()));
        schema().write(writer, value);
      }
      writer.ldelim();
    },
    read(reader) {
      const found = readParts(reader, { 1: boolCodec, 2: schema() });
      return found[2]?.at(-1) ?? found[1]?.at(-1) ?? false;
    },
    isZero: () => false,
  };
}

/** A schema in field 1, or a list in field 2. */
function schemaOrList(schema: () => ValueCodec, element: () => ValueCodec): ValueCodec {
  return {
    wireType: wireTypes.delimited,
    write(writer, value) {
      writer.fork();
      if (isObject(value)) {
        writer.uint32(tagOf(1, schema()));
        schema().write(writer, value);
      }
      for (const item of Array.isArray(value) ? (value as readonly Json[]) : []) {
        writer.uint32(tagOf(2, element()));
        element().write(writer, item);
      }
      writer.ldelim();
    },
    read(reader) {
      const found = readParts(reader, { 1: schema(), 2: element() });
      return found[1]?.at(-1) ?? found[2] ?? null;
    },
    isZero: () => false,
  };
}

function readParts(
  reader: Parameters<ValueCodec["read"]>[0],
  codecs: Readonly<Record<number, ValueCodec>>,
): Readonly<Record<number, readonly Json[]>> {
  const found: Record<number, Json[]> = {};
  readFields(reader, reader.uint32(), (number, wireType) => {
    const codec = codecs[number];
    if (codec === undefined) return false;
    requireWireType(wireType, codec.wireType, String(number));
    (found[number] ??= []).push(codec.read(reader, undefined));
    return true;
  });
  return found;
}

const tagOf = (number: number, codec: ValueCodec): number => (number << 3) | codec.wireType;

const isObject = (value: Json | undefined): boolean =>
  typeof value === "object" && value !== null && !Array.isArray(value);
