/**
 * Objects in CBOR. They look as in JSON, but that fields of bytes hold bytes, which JSON has to show as base64.
 */
import { decodeBase64 } from "../../../wire/base64.ts";
import {
  type CborForm,
  type CborValue,
  encodeCbor,
  encodeCborHead,
  encodeCborParts,
  encodeCborSequence,
} from "../../../wire/cbor.ts";
import type { Shape, TypeRow } from "../../../wire/schema.ts";
import { InvariantError } from "../../kernel/invariant.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { withoutType } from "./without-type.ts";

/** `type` is undefined for an object that has no type in the tables. */
export const cborOf = (type: TypeRow | undefined, object: JsonObject): Uint8Array => encodeCbor(object, formOf(type));

/** The same, a part at a time. */
export const cborSlices = (type: TypeRow | undefined, object: JsonObject): Generator<Uint8Array> =>
  encodeCborParts(object, formOf(type));

/** A list, some items at a time. */
export function* cborListSlices(
  type: TypeRow | undefined,
  head: JsonObject,
  items: readonly JsonObject[],
): Generator<Uint8Array> {
  const form = formOf(type);
  yield encodeCborHead(head, "items", items.length, form);
  yield* encodeCborSequence(withoutTypes(items), form?.below?.("items")?.below?.(""));
}

function* withoutTypes(items: readonly JsonObject[]): Generator<CborValue> {
  for (const item of items) yield withoutType(item);
}

const formOf = (type: TypeRow | undefined): CborForm | undefined => (type === undefined ? undefined : ofStruct(type));

/** Undefined where there are no bytes anywhere below. */
const forms = new Map<TypeRow, CborForm | undefined>();

function ofStruct(type: TypeRow): CborForm | undefined {
  if (forms.has(type)) return forms.get(type);
  forms.set(type, undefined); // types that contain themselves hold no bytes
  const fields = new Map<string, CborForm>();
  for (const { name, shape } of type.rows) {
    const form = ofShape(shape);
    if (form !== undefined) fields.set(name, form);
  }
  const form = fields.size === 0 ? undefined : { below: (name: string) => fields.get(name) };
  forms.set(type, form);
  return form;
}

function ofShape(shape: Shape): CborForm | undefined {
  switch (shape.is) {
    case "struct":
      return ofStruct(shape.type);
    case "list":
      return allBelow(ofShape(shape.items));
    case "map":
      return allBelow(ofShape(shape.values));
    case "scalar":
      return shape.format === "byte" ? { bytes } : undefined;
    default:
      return undefined;
  }
}

const allBelow = (form: CborForm | undefined): CborForm | undefined => form && { below: () => form };

function bytes(text: string): Uint8Array {
  const decoded = decodeBase64(text);
  if (typeof decoded === "number") throw new InvariantError("stored bytes are not base64", text);
  return decoded;
}
