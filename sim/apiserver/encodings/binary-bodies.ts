/**
 * Request bodies in binary formats, as the objects that their JSON would have been read as. Field validation follows;
 * a protobuf message has no unknown fields to warn of.
 * Source: the facts, section 5; recorded refusals.
 */
import { CborError, decodeCbor } from "../../../wire/cbor.ts";
import { apiVersionFromDialect } from "../../../wire/dialect.ts";
import { joinGroupVersion } from "../../../wire/resources.ts";
import { structNamed } from "../../../wire/schema.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { unhandled, unrecognised } from "../../objects/decode.ts";
import { isObject, type Target } from "../../contract/objects.ts";
import { bodyValuesMax } from "../../objects/value-limit.ts";
import { decodeProtobuf, decodeProtobufSteps, openEnvelope, type ProtobufBody } from "./protobuf/envelope.ts";
import { ProtobufError } from "./protobuf/values.ts";

/** Throws `ApiError` 400. Of a body of another kind only the kind is read: it is refused for that. */
export function* protobufBodySteps(bytes: Uint8Array, target: Target): Generator<void, JsonObject> {
  const body = opened(bytes, target);
  const { kind, apiVersion } = body;
  const own = joinGroupVersion(target.group, target.version);
  const isOwn =
    (kind === "" || kind === target.kind) &&
    (apiVersion === "" || apiVersionFromDialect(target.dialect, apiVersion) === own);
  if (!isOwn) return { kind: kind || target.kind, apiVersion };
  try {
    return body.raw.length < longMin
      ? decodeProtobuf(target.type, body)
      : yield* decodeProtobufSteps(target.type, body);
  } catch (error) {
    if (error instanceof ProtobufError) throw unhandled(target, target, error.message);
    throw error;
  }
}

/** Bytes from which on a message is worth more than one step. */
const longMin = 64 * 1024;

/** Throws `ApiError` 400. */
export function readCborBody(bytes: Uint8Array, target: Pick<Target, "kind">): JsonObject {
  let value: unknown;
  try {
    value = decodeCbor(bytes, bodyValuesMax);
  } catch (error) {
    if (error instanceof CborError) throw unidentified(bytes, target, error.message);
    throw error;
  }
  if (!isObject(value))
    throw unidentified(bytes, target, `cbor: cannot unmarshal ${cborTypeOf(value)} into Go value of type v1.TypeMeta`);
  return value;
}

/** Options of a DELETE: of whatever kind and version, as the real server reads them. Throws `ApiError` 400. */
export function readProtobufOptions(bytes: Uint8Array): JsonObject {
  const target = { kind: "DeleteOptions" };
  const body = opened(bytes, target);
  try {
    return decodeProtobuf(structNamed("~apimachinery.pkg.apis.meta.v1.DeleteOptions"), body);
  } catch (error) {
    if (error instanceof ProtobufError) throw unrecognised(target, error.message, bytes);
    throw error;
  }
}

function opened(bytes: Uint8Array, target: Pick<Target, "kind">): ProtobufBody {
  try {
    return openEnvelope(bytes);
  } catch (error) {
    if (error instanceof ProtobufError) throw unrecognised(target, error.message, bytes);
    throw error;
  }
}

function unidentified(bytes: Uint8Array, target: Pick<Target, "kind">, error: string): Error {
  return unrecognised(target, `unable to determine group/version/kind: ${error}`, bytes);
}

function cborTypeOf(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (typeof value === "number" || typeof value === "bigint")
    return value < 0 ? "negative integer" : "positive integer";
  return typeof value === "string" ? "UTF-8 text string" : "primitives";
}
