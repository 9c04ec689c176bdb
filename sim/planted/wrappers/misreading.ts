/** What a planted bug at the edge of the server is made of, and what such bugs share. */
import { decodeCbor, encodeCbor } from "../../../wire/cbor.ts";
import { encodeJson } from "../../../wire/go-strings.ts";
import { readJson } from "../../../wire/json-reader.ts";
import { patchMediaTypes, withoutParameters } from "../../../wire/media-types.ts";
import { emptyQuery, parseQuery, type Query } from "../../apiserver/requests/url.ts";
import type { Place, ResourcePlace } from "../../apiserver/requests/route.ts";
import type { Encode } from "../../apiserver/encodings/encode.ts";
import type { ApiRequest, Json, JsonObject, Payload, ResponseHeaders } from "../../contract/http-message.ts";
import { isObject } from "../../contract/objects.ts";
import type { Profile } from "../../contract/profile.ts";
import { parseYaml } from "../../objects/yaml-body.ts";

export interface Misreading {
  /** What the server takes the request for. */
  readonly request?: (request: ApiRequest, memory: Memory, server: ServerSeen) => ApiRequest;
  /** True: the answer is compared with what was there when the request came (`Seen.before`). */
  readonly asksBefore?: true;
  /** `object` is what the answer says. */
  readonly status?: (status: number, request: ApiRequest, memory: Memory, object: JsonObject | undefined) => number;
  /** What it prints in place of a complete answer that is an object. */
  readonly answer?: (object: JsonObject, status: number, request: ApiRequest, memory: Memory, seen: Seen) => JsonObject;
  /** The same for the object of a watch event. */
  readonly event?: (object: JsonObject) => JsonObject;
  /** The headers it sends with a complete answer. */
  readonly headers?: (headers: ResponseHeaders, request: ApiRequest, status: number) => ResponseHeaders;
  /** The body it sends in place of a complete one, whatever that is. */
  readonly payload?: (payload: Payload, status: number, request: ApiRequest, seen: Seen) => Payload;
}

/** What such a server remembers from one request to the next. */
export interface Memory {
  count: number;
  readonly poisoned: Set<string>;
}

/** What a bug can ask the server that it sits in front of. */
export interface ServerSeen {
  readonly profile: Profile;
  /** Undefined for a path that cannot be read. */
  placeOf(path: string): Place | undefined;
  /** The object at a path, or of the subresource there, as it is stored now. */
  stored(path: string): JsonObject | undefined;
  /** Writes the stored object at a path again, as it is, under a version of its own. */
  touch(path: string): void;
  /** How objects become bytes of this type. */
  encode(contentType: string): Encode;
}

/** What is known of one request besides itself. */
export interface Seen {
  readonly server: ServerSeen;
  /** As it came. */
  readonly original: ApiRequest;
  /** What was stored at its path then. Only with `asksBefore`. */
  readonly before: JsonObject | undefined;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export const without = (query: string, ...names: readonly string[]): string =>
  query
    .split("&")
    .filter((pair) => !names.some((name) => pair === name || pair.startsWith(`${name}=`)))
    .join("&");

/** The query without those values of a parameter that are not to be kept. */
export const withoutValues = (query: string, name: string, isKept: (value: string) => boolean): string =>
  query
    .split("&")
    .filter((pair) => !(pair === name || pair.startsWith(`${name}=`)) || isKept(decoded(pair.slice(name.length + 1))))
    .join("&");

function decoded(value: string): string {
  try {
    return decodeURIComponent(value.replaceAll("+", " "));
  } catch {
    return value; // what cannot be read is for others to refuse
  }
}

/** The request with one of its parameters read as `change` has it. */
export function withParameter(request: ApiRequest, name: string, change: (text: string) => string): ApiRequest {
  if (!request.query.includes(`${name}=`)) return request;
  const pairs = request.query.split("&").map((pair) => {
    if (!pair.startsWith(`${name}=`)) return pair;
    try {
      const text = decodeURIComponent(pair.slice(name.length + 1).replaceAll("+", " "));
      return `${name}=${encodeURIComponent(change(text))}`;
    } catch {
      return pair; // what cannot be read is for others to refuse
    }
  });
  return { ...request, query: pairs.join("&") };
}

/** The parameters of a query; none when it cannot be read. */
export function parametersOf({ query }: ApiRequest): Query {
  try {
    return parseQuery(query);
  } catch {
    return emptyQuery;
  }
}

export const textOf = ({ body }: ApiRequest): string => (body instanceof Uint8Array ? decoder.decode(body) : "");

export const typeOf = ({ headers }: ApiRequest): string => headers["content-type"] ?? "";

/** The request with another body: one that was an object, in JSON, YAML or CBOR. What is not changed stays as it was sent. */
export function rewritten(request: ApiRequest, change: (body: JsonObject) => JsonObject): ApiRequest {
  return withBody(request, (body) => (isObject(body) ? change(body) : body));
}

/** The patch without those of its operations that are not to be kept. */
export function withoutOperations(request: ApiRequest, isDropped: (operation: JsonObject) => boolean): ApiRequest {
  return withBody(request, (body) => {
    if (!Array.isArray(body)) return body;
    const kept = (body as readonly Json[]).filter((operation) => !isObject(operation) || !isDropped(operation));
    return kept.length === body.length ? body : kept;
  });
}

/** The patch with each of its operations as `change` has it. */
export const withOperations = (request: ApiRequest, change: (operation: JsonObject) => JsonObject): ApiRequest =>
  withBody(request, (body) =>
    Array.isArray(body) ? (body as readonly Json[]).map((each) => (isObject(each) ? change(each) : each)) : body,
  );

function withBody(request: ApiRequest, change: (body: Json) => Json): ApiRequest {
  const { body } = request;
  if (body === undefined || (body instanceof Uint8Array && body.length === 0)) return request;
  if (!(body instanceof Uint8Array)) {
    const changed = change(body);
    return changed === body ? request : { ...request, body: changed as JsonObject };
  }
  const isCbor = typeOf(request).includes("cbor");
  try {
    const read = isCbor ? (decodeCbor(body) as Json) : readText(decoder.decode(body));
    const changed = change(read);
    if (changed === read) return request;
    return { ...request, body: isCbor ? encodeCbor(changed) : encoder.encode(encodeJson(changed)) };
  } catch {
    return request; // what cannot be read is for others to refuse
  }
}

/** What is JSON is YAML as well. */
function readText(text: string): Json {
  const json = readJson(text);
  if (json.ok) return json.value as Json;
  const yaml = parseYaml(text);
  return yaml.ok ? (yaml.value as Json) : null;
}

/** The object without the field that the path leads to; the same object where there is none. */
export function dropped(object: JsonObject, ...path: readonly string[]): JsonObject {
  const [field = "", ...rest] = path;
  const inner = object[field];
  if (inner === undefined) return object;
  if (rest.length === 0)
    return Object.fromEntries(Object.entries(object).filter(([name]) => name !== field)) as JsonObject;
  if (!isObject(inner)) return object;
  const left = dropped(inner, ...rest);
  return left === inner ? object : { ...object, [field]: left };
}

/** Where the request leads, when it is to a resource. */
export function resourceOf({ path }: ApiRequest, server: ServerSeen): ResourcePlace | undefined {
  const place = server.placeOf(path);
  return place?.is === "resource" ? place.place : undefined;
}

/** Whether the request is one of these methods to this subresource; `""` is the object itself, or its collection. */
export function isTo(
  request: ApiRequest,
  server: ServerSeen,
  subresource: string,
  ...methods: readonly string[]
): boolean {
  if (!methods.includes(request.method)) return false;
  const place = resourceOf(request, server);
  return place !== undefined && (place.subresource?.subresource ?? "") === subresource;
}

export const isApply = (request: ApiRequest): boolean =>
  request.method === "PATCH" && applyTypes.has(withoutParameters(typeOf(request)));

const applyTypes: ReadonlySet<string> = new Set([patchMediaTypes.apply, patchMediaTypes.applyCbor]);

/** The object in place of the payload's own, in the same representation. */
export function printedAs({ contentType }: Payload, object: JsonObject, server: ServerSeen): Payload {
  const encode = server.encode(contentType);
  let bytes: Uint8Array | undefined;
  return { object, contentType, bytes: () => (bytes ??= encode(object)) };
}
