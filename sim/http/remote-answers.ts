/**
 * What a server says, as objects that can be relied upon: of the kind that was asked for, each field of its type, nulls left out, no
 * deeper and no larger than anybody means. A published client reads answers into types, too; what does not fit has not been answered.
 */
import protobuf from "protobufjs/minimal.js";
import { apiVersionFromDialect, type Dialect } from "../../wire/dialect.ts";
import { answerValuesMax, hasFewJsonValues } from "../../wire/json-values.ts";
import { findResource, splitGroupVersion } from "../../wire/resources.ts";
import { decodeProtobuf, openEnvelope, typeOfObject } from "../apiserver/encodings/protobuf/envelope.ts";
import type { JsonObject } from "../contract/http-message.ts";
import { isObject } from "../contract/objects.ts";
import { isDeeperThan } from "../objects/nesting.ts";
import { depthMax, WalkContext } from "../objects/walk-context.ts";
import { walkOfStruct } from "../objects/walker.ts";

/** Kinds that stand for any other: a refusal, and what a watch tells of its end. */
const statusKind = "Status";

export interface AnswerReader {
  /** Of an answer to a request at this path. Undefined: it makes no sense. */
  answer(path: string, bytes: Uint8Array, isProtobuf: boolean): JsonObject | undefined;
  /** Of a watch at this path; its object may be a status. */
  event(path: string, bytes: Uint8Array, isProtobuf: boolean): JsonObject | undefined;
}

export function answerReader(dialect: Dialect): AnswerReader {
  const read = (bytes: Uint8Array, isProtobuf: boolean): unknown =>
    isProtobuf ? protobufObject(dialect, bytes) : jsonValue(bytes);
  return {
    answer: (path, bytes, isProtobuf) => typed(dialect, read(bytes, isProtobuf), kindsAt(dialect, path)),
    event(path, bytes, isProtobuf) {
      const event = isProtobuf ? watchEvent(bytes) : jsonValue(bytes);
      if (!isObject(event) || typeof event["type"] !== "string") return undefined;
      const inner: unknown = event["object"];
      const value = inner instanceof Uint8Array ? protobufObject(dialect, inner) : inner;
      const object = typed(dialect, value, kindsAt(dialect, path));
      return object === undefined ? undefined : { type: event["type"], object };
    },
  };
}

/** Undefined for what is no JSON, and for more values than an answer may have. */
function jsonValue(bytes: Uint8Array): unknown {
  if (!hasFewJsonValues(bytes, answerValuesMax)) return undefined;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("utf8");
  try {
    return halfEscape.test(text) ? JSON.parse(text, wellFormed) : JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Half of a character, or one that is written in two halves. */
const halfEscape = /\\u[dD][89a-fA-F]/;

/** Halves alone are no text, and can be sent to nobody. */
const wellFormed = (_key: string, value: unknown): unknown =>
  typeof value === "string"
    ? value.replaceAll(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd")
    : value;

function protobufObject(dialect: Dialect, bytes: Uint8Array): JsonObject | undefined {
  try {
    const body = openEnvelope(bytes);
    const type = typeOfObject(dialect, { kind: body.kind, apiVersion: body.apiVersion });
    return type === undefined ? undefined : decodeProtobuf(type, body, answerValuesMax);
  } catch {
    return undefined;
  }
}

/** The type, and the object in its envelope. */
function watchEvent(frame: Uint8Array): { readonly type: string; readonly object: Uint8Array } | undefined {
  try {
    const reader = protobuf.Reader.create(frame);
    let type = "";
    let object = new Uint8Array();
    while (reader.pos < reader.len) {
      const tag = reader.uint32();
      if (tag >>> 3 === 1) type = reader.string();
      else if (tag >>> 3 === 2) {
        const end = reader.uint32() + reader.pos;
        while (reader.pos < end) {
          const inner = reader.uint32();
          if (inner >>> 3 === 1) object = Uint8Array.from(reader.bytes());
          else reader.skipType(inner & 7);
        }
      } else reader.skipType(tag & 7);
    }
    return { type, object };
  } catch {
    return undefined;
  }
}

/** Kinds of what is asked for at a path: one object or a list of them. Undefined: no path of a table's, so that any kind will do. */
function kindsAt(dialect: Dialect, path: string): ReadonlySet<string> | undefined {
  const [, groupVersion = "", rest = ""] = /^\/api(?:s\/([^/]+\/[^/]+)|\/v1)(?:\/(.*))?$/.exec(path) ?? [];
  const [group, version] = splitGroupVersion(groupVersion === "" ? "v1" : apiVersionFromDialect(dialect, groupVersion));
  const segments = rest.split("/");
  const [resource = "", , subresource] =
    segments[0] === "namespaces" && segments.length > 2 ? segments.slice(2) : segments;
  if (subresource !== undefined && subresource !== "status") return undefined;
  const row = findResource(group, version, resource);
  return row === undefined ? undefined : new Set([row.kind, `${row.kind}List`, statusKind]);
}

function typed(dialect: Dialect, value: unknown, kinds: ReadonlySet<string> | undefined): JsonObject | undefined {
  if (!isObject(value)) return undefined;
  const { kind, apiVersion } = value;
  if (typeof kind !== "string" || typeof apiVersion !== "string") return undefined;
  if (kinds?.has(kind) === false) return undefined;
  const type = typeOfObject(dialect, value);
  if (type === undefined) return isDeeperThan(depthMax, value) ? undefined : value;
  const context = new WalkContext();
  const object = walkOfStruct(type)(value, context, undefined) as JsonObject;
  return context.error === undefined ? { ...object, kind, apiVersion } : undefined;
}
