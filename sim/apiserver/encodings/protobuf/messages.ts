/**
 * Messages by the type tables, in both directions. What the real encoder writes is not what proto3 says: a field held
 * by value is always written, be it empty; a pointer only when it is set; fields stand in the order of their numbers
 * and maps in the order of their keys. The library reads and writes the wire's primitives; its own message classes
 * know nothing of these rules, and would need generated code.
 * Source: document 1, Protobuf envelope; recorded bytes.
 */
import protobuf from "protobufjs/minimal.js";
import { sortByBytes } from "../../../../wire/go-strings.ts";
import type { FieldRow, Shape, TypeRow } from "../../../../wire/schema.ts";
import { InvariantError } from "../../../kernel/invariant.ts";
import type { Json, JsonObject } from "../../../contract/http-message.ts";
import { bodyValuesMax } from "../../../objects/value-limit.ts";
import { presenceOf, zeroOfField } from "../../../objects/zero-values.ts";
import { guarded, readCounted, readInSteps, readNowOrLater } from "./reading.ts";
import { schemaAlternative } from "./schema-alternatives.ts";
import {
  boolCodec,
  bytesCodec,
  doubleCodec,
  int32Codec,
  int64Codec,
  namedCodecs,
  ProtobufError,
  type Reader,
  readFields,
  requireWireType,
  stringCodec,
  type ValueCodec,
  wireTypes,
  type Writer,
  type Written,
} from "./values.ts";

/** The bytes of an object without any envelope. */
export function encodeMessage(type: TypeRow, object: JsonObject): Uint8Array {
  const writer = protobuf.Writer.create();
  writePlan(planOf(type), writer, object);
  return writer.finish();
}

/** The same in steps: stops each time that much has been written. */
export function* encodeMessageSteps(type: TypeRow, object: JsonObject): Generator<void, Uint8Array> {
  const writer = protobuf.Writer.create();
  yield* planSteps(planOf(type), writer, object, { bytes: 0 });
  return writer.finish();
}

/**
 * An object as its JSON would be read: fields held by value that are zero are left out. `fieldsMax`: as many as it may have, at any
 * depth. Throws `ProtobufError`.
 */
export function decodeMessage(type: TypeRow, bytes: Uint8Array, fieldsMax = bodyValuesMax): JsonObject {
  return guarded(bytes, (reader) => readPlan(planOf(type), reader, bytes.length, {}), fieldsMax);
}

/** The same in steps: entries of maps and messages of lists are read after what holds them. Throws `ProtobufError`. */
export function* decodeMessageSteps(type: TypeRow, bytes: Uint8Array): Generator<void, JsonObject> {
  const object: Record<string, Json> = {};
  yield* readInSteps(bytes, (reader) => readPlan(planOf(type), reader, bytes.length, object));
  return object;
}

interface MessagePlan {
  /** In the order of their numbers. */
  readonly slots: readonly Slot[];
  readonly byNumber: ReadonlyMap<number, Slot>;
}

interface Slot {
  readonly number: number;
  /** The field of the object; of a message whose fields JSON shows among its holder's, "". */
  readonly name: string;
  write(writer: Writer, object: JsonObject): void;
  /** As `write`, of what may hold much. */
  readonly steps?: (writer: Writer, object: JsonObject, written: Written) => Generator<void, void>;
  read(reader: Reader, wireType: number, into: Record<string, Json>): void;
}

const plans = new Map<TypeRow, MessagePlan>();

function planOf(type: TypeRow): MessagePlan {
  let plan = plans.get(type);
  if (plan === undefined) plans.set(type, (plan = planFields(type, type.rows, 0)));
  return plan;
}

/** `depth` counts the messages that were opened on the way to these fields without an object of their own. */
function planFields(type: TypeRow, rows: readonly FieldRow[], within: number): MessagePlan {
  const slots: Slot[] = [];
  const nested = new Map<number, FieldRow[]>();
  for (const field of rows) {
    if (field.protobuf === undefined) continue; // kind and apiVersion are in the envelope
    const holder = field.protobuf.within[within];
    if (holder === undefined) slots.push(slotOf(type, field));
    else nested.set(holder, [...(nested.get(holder) ?? []), field]);
  }
  for (const [number, fields] of nested) slots.push(nestedSlot(number, planFields(type, fields, within + 1)));
  slots.sort((left, right) => left.number - right.number);
  return { slots, byNumber: new Map(slots.map((slot) => [slot.number, slot])) };
}

function writePlan(plan: MessagePlan, writer: Writer, object: JsonObject): void {
  for (const slot of plan.slots) slot.write(writer, object);
}

function* planSteps(plan: MessagePlan, writer: Writer, object: JsonObject, written: Written): Generator<void, void> {
  for (const slot of plan.slots) {
    if (slot.steps !== undefined) {
      yield* slot.steps(writer, object, written);
      continue;
    }
    const before = writer.len;
    slot.write(writer, object);
    if (isMuch(written, writer.len - before)) yield;
  }
}

/** True when so many bytes more make it much; then it is counted anew. */
function isMuch(written: Written, bytes: number): boolean {
  written.bytes += bytes;
  if (written.bytes < bytesPerStep) return false;
  written.bytes = 0;
  return true;
}

const bytesPerStep = 64 * 1024;

function readPlan(plan: MessagePlan, reader: Reader, length: number, into: Record<string, Json>): JsonObject {
  readCounted(reader, length, (number, wireType) => {
    const slot = plan.byNumber.get(number);
    slot?.read(reader, wireType, into);
    return slot !== undefined;
  });
  return into;
}

/** Held by value, and thus always written. */
function nestedSlot(number: number, plan: MessagePlan): Slot {
  return {
    number,
    name: "",
    write(writer, object) {
      writer.uint32((number << 3) | wireTypes.delimited).fork();
      writePlan(plan, writer, object);
      writer.ldelim();
    },
    *steps(writer, object, written) {
      writer.uint32((number << 3) | wireTypes.delimited).fork();
      yield* planSteps(plan, writer, object, written);
      writer.ldelim();
    },
    read(reader, wireType, into) {
      requireWireType(wireType, wireTypes.delimited, String(number));
      readPlan(plan, reader, reader.uint32(), into);
    },
  };
}

function slotOf(type: TypeRow, field: FieldRow): Slot {
  const { shape } = field;
  if (shape.is === "map") return mapSlot(type, field, shape.values);
  if (shape.is === "list") {
    return field.protobuf?.repeated === true
      ? listSlot(type, field, shape.items)
      : wrappedListSlot(type, field, shape.items);
  }
  return singleSlot(type, field);
}

function singleSlot(type: TypeRow, field: FieldRow): Slot {
  const { name } = field;
  const number = numberOf(field);
  const codec = codecOf(type, field.shape, field.typeName, field.protobuf?.type);
  const tag = (number << 3) | codec.wireType;
  const pointer = isPointer(type, field);
  const shown = presenceOf(type, field) === "always";
  const { steps } = codec;
  return {
    number,
    name,
    ...(steps !== undefined && {
      *steps(writer: Writer, object: JsonObject, written: Written) {
        const value = object[name];
        if (pointer && (value === undefined || value === null)) return;
        writer.uint32(tag);
        yield* steps(writer, value, written);
      },
    }),
    write(writer, object) {
      const value = object[name];
      if (pointer && (value === undefined || value === null)) return;
      writer.uint32(tag);
      codec.write(writer, value);
    },
    read(reader, wireType, into) {
      requireWireType(wireType, codec.wireType, name);
      const value = codec.read(reader, into[name]);
      if (pointer || shown || !codec.isZero(value)) into[name] = value;
      else delete into[name];
    },
  };
}

/** Structs that are empty when unset and yet no pointers. */
const opaqueValues = new Set(["ControllerRevision.data"]);

function isPointer(type: TypeRow, field: FieldRow): boolean {
  const isBytes = field.shape.is === "scalar" && field.shape.format === "byte";
  const presence = presenceOf(type, field);
  if (isBytes || presence === "set") return !opaqueValues.has(`${type.name.split(".").pop() ?? ""}.${field.name}`);
  return field.shape.is === "struct" && zeroOfField(type, field) === null;
}

function listSlot(type: TypeRow, field: FieldRow, items: Shape): Slot {
  const { name } = field;
  const number = numberOf(field);
  const codec = codecOf(type, items, namedIn(items), field.protobuf?.type);
  const tag = (number << 3) | codec.wireType;
  const { steps } = codec;
  return {
    number,
    name,
    *steps(writer, object, written) {
      for (const item of (object[name] ?? []) as readonly Json[]) {
        const before = writer.len;
        writer.uint32(tag);
        if (steps !== undefined) yield* steps(writer, item, written);
        else codec.write(writer, item);
        if (steps === undefined && isMuch(written, writer.len - before)) yield;
      }
    },
    write(writer, object) {
      for (const item of (object[name] ?? []) as readonly Json[]) {
        writer.uint32(tag);
        codec.write(writer, item);
      }
    },
    read(reader, wireType, into) {
      const list = (into[name] ??= []) as Json[];
      const packed = wireType === wireTypes.delimited && codec.wireType !== wireTypes.delimited;
      if (!packed) {
        requireWireType(wireType, codec.wireType, name);
        if (steps === undefined) list.push(codec.read(reader, undefined));
        else {
          const at = list.push(null) - 1;
          readNowOrLater(reader, (part) => (list[at] = codec.read(part, undefined)));
        }
        return;
      }
      const end = reader.uint32() + reader.pos;
      if (end > reader.len) throw new ProtobufError("unexpected EOF");
      while (reader.pos < end) list.push(codec.read(reader, undefined));
    },
  };
}

/** A list that is a message of its own, with the elements in field 1. */
function wrappedListSlot(type: TypeRow, field: FieldRow, items: Shape): Slot {
  const { name } = field;
  const number = numberOf(field);
  const codec = wrappedList(type, items);
  return {
    number,
    name,
    write(writer, object) {
      if (object[name] === undefined || object[name] === null) return;
      writer.uint32((number << 3) | codec.wireType);
      codec.write(writer, object[name]);
    },
    read(reader, wireType, into) {
      requireWireType(wireType, codec.wireType, name);
      into[name] = codec.read(reader, into[name]);
    },
  };
}

function wrappedList(type: TypeRow, items: Shape): ValueCodec {
  const codec = codecOf(type, items, namedIn(items), undefined);
  return {
    wireType: wireTypes.delimited,
    write(writer, value) {
      writer.fork();
      for (const item of (value ?? []) as readonly Json[]) {
        writer.uint32((1 << 3) | codec.wireType);
        codec.write(writer, item);
      }
      writer.ldelim();
    },
    read(reader, before) {
      const list = [...((before ?? []) as readonly Json[])];
      readFields(reader, reader.uint32(), (number, wireType) => {
        if (number !== 1) return false;
        requireWireType(wireType, codec.wireType, "items");
        list.push(codec.read(reader, undefined));
        return true;
      });
      return list;
    },
    isZero: () => false,
  };
}

function mapSlot(type: TypeRow, field: FieldRow, values: Shape): Slot {
  const { name } = field;
  const number = numberOf(field);
  const codec =
    values.is === "list"
      ? wrappedList(type, values.items)
      : codecOf(type, values, namedValue(field) ?? namedIn(values), field.protobuf?.type);
  const writeEntry = (writer: Writer, key: string, value: Json | undefined): void => {
    writer.uint32((number << 3) | wireTypes.delimited).fork();
    writer.uint32((1 << 3) | wireTypes.delimited).string(key);
    writer.uint32((2 << 3) | codec.wireType);
    codec.write(writer, value);
    writer.ldelim();
  };
  const readEntry = (reader: Reader, map: Record<string, Json>): void => {
    let key = "";
    let value: Json | undefined;
    readFields(reader, reader.uint32(), (part, partType) => {
      if (part === 1) key = stringCodec.read(reader, undefined) as string;
      else if (part === 2) {
        requireWireType(partType, codec.wireType, name);
        value = codec.read(reader, undefined);
      } else return false;
      return true;
    });
    own(map, key, value ?? zeroOf(codec));
  };
  return {
    number,
    name,
    write(writer, object) {
      const map = object[name] as JsonObject | undefined | null;
      if (map === undefined || map === null) return;
      for (const key of sortByBytes(Object.keys(map))) writeEntry(writer, key, map[key]);
    },
    *steps(writer, object, written) {
      const map = object[name] as JsonObject | undefined | null;
      if (map === undefined || map === null) return;
      for (const key of sortByBytes(Object.keys(map))) {
        const before = writer.len;
        writeEntry(writer, key, map[key]);
        if (isMuch(written, writer.len - before)) yield;
      }
    },
    read(reader, wireType, into) {
      requireWireType(wireType, wireTypes.delimited, name);
      const map = (into[name] ??= {}) as Record<string, Json>;
      readNowOrLater(reader, (entry) => readEntry(entry, map));
    },
  };
}

/** What an entry without a value holds: what no bytes at all would be read as. */
function zeroOf(codec: ValueCodec): Json {
  const nothing = protobuf.Reader.create(codec.wireType === wireTypes.fixed64 ? new Uint8Array(8) : new Uint8Array(1));
  return codec.read(nothing, undefined);
}

/** Keys are a client's: `__proto__` is one like any other. */
function own(map: Record<string, Json>, key: string, value: Json): void {
  if (key === "__proto__")
    Object.defineProperty(map, key, { value, enumerable: true, configurable: true, writable: true });
  else map[key] = value;
}

/** `holder` is the type whose field it is. `protobufType` tells integers apart; only the fields' own lists and maps lack it. */
function codecOf(
  holder: TypeRow,
  shape: Shape,
  typeName: string | undefined,
  protobufType: string | undefined,
): ValueCodec {
  const named =
    typeName === undefined
      ? undefined
      : (namedCodecs[typeName] ?? schemaAlternative(lastName(typeName), () => structCodec(holder)));
  if (named !== undefined) return named;
  switch (shape.is) {
    case "struct":
      return structCodec(shape.type);
    case "either":
      return namedCodecs[shape.types.includes("integer") ? intOrString : quantity] as ValueCodec;
    case "opaque":
      return namedCodecs[json] as ValueCodec;
    case "scalar":
      return scalarCodec(shape, protobufType);
    default:
      throw new InvariantError("the type table holds a list or a map where protobuf has none", shape);
  }
}

const intOrString = "~apimachinery.pkg.util.intstr.IntOrString";
const quantity = "~apimachinery.pkg.api.resource.Quantity";
const json = "~apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON";

function scalarCodec(shape: Shape & { readonly is: "scalar" }, protobufType: string | undefined): ValueCodec {
  if (shape.type === "string")
    return shape.format === "byte" ? bytesCodec : (namedCodecs[timeOf(shape)] ?? stringCodec);
  if (shape.type === "boolean") return boolCodec;
  if (shape.type === "number" || protobufType === "double") return doubleCodec;
  return protobufType === "int64" || shape.format === "int64" ? int64Codec : int32Codec;
}

/** Times in lists and maps have lost their type's name; none of them has a fraction. */
const timeOf = (shape: Shape & { readonly is: "scalar" }): string =>
  shape.format === "date-time" ? "~apimachinery.pkg.apis.meta.v1.Time" : "";

const lastName = (typeName: string): string => typeName.slice(typeName.lastIndexOf(".") + 1);

/** Of a map's values only the message's own name is known. */
const namedValue = ({ protobuf: field }: FieldRow): string | undefined =>
  /^map<string, (JSON\w+)>$/.exec(field?.type ?? "")?.[1];

const namedIn = (shape: Shape): string | undefined => (shape.is === "struct" ? shape.type.name : undefined);

const structCodecs = new Map<TypeRow, ValueCodec>();

function structCodec(type: TypeRow): ValueCodec {
  let codec = structCodecs.get(type);
  if (codec === undefined) structCodecs.set(type, (codec = makeStructCodec(type)));
  return codec;
}

const empty: JsonObject = Object.freeze({});

function makeStructCodec(type: TypeRow): ValueCodec {
  let plan: MessagePlan | undefined; // made at first use: types contain each other
  return {
    wireType: wireTypes.delimited,
    write(writer, value) {
      writer.fork();
      writePlan((plan ??= planOf(type)), writer, (value ?? empty) as JsonObject);
      writer.ldelim();
    },
    *steps(writer, value, written) {
      writer.fork();
      yield* planSteps((plan ??= planOf(type)), writer, (value ?? empty) as JsonObject, written);
      writer.ldelim();
    },
    read: (reader, before) =>
      readPlan((plan ??= planOf(type)), reader, reader.uint32(), (before ?? {}) as Record<string, Json>),
    isZero: () => false,
  };
}

function numberOf({ name, protobuf: field }: FieldRow): number {
  if (field === undefined) throw new InvariantError("a field has no number in protobuf", name);
  return field.number;
}
