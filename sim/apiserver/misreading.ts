/** What a planted bug at the edge of the server is made of, and what such bugs share. */
import type { ApiRequest, JsonObject, ResponseHeaders } from "../contract/http-message.ts";

export interface Misreading {
  /** What the server takes the request for. */
  readonly request?: (request: ApiRequest, memory: Memory) => ApiRequest;
  /** What it prints in place of a complete answer that is an object. */
  readonly answer?: (object: JsonObject, status: number, request: ApiRequest, memory: Memory) => JsonObject;
  /** The headers it sends with a complete answer. */
  readonly headers?: (headers: ResponseHeaders, request: ApiRequest) => ResponseHeaders;
  readonly status?: (status: number, request: ApiRequest, memory: Memory) => number;
}

/** What such a server remembers from one request to the next. */
export interface Memory {
  count: number;
  readonly poisoned: Set<string>;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export const without = (query: string, name: string): string =>
  query
    .split("&")
    .filter((pair) => pair !== name && !pair.startsWith(`${name}=`))
    .join("&");

export const textOf = ({ body }: ApiRequest): string => (body instanceof Uint8Array ? decoder.decode(body) : "");

export function rewritten(request: ApiRequest, change: (body: JsonObject) => JsonObject): ApiRequest {
  const text = textOf(request);
  if (!text.startsWith("{")) return request;
  try {
    return { ...request, body: encoder.encode(JSON.stringify(change(JSON.parse(text) as JsonObject))) };
  } catch {
    return request; // what cannot be read is for others to refuse
  }
}

/** The object without the field that the path leads to. */
export function dropped(object: JsonObject, ...path: readonly string[]): JsonObject {
  const [field = "", ...rest] = path;
  const inner = object[field];
  if (rest.length === 0)
    return Object.fromEntries(Object.entries(object).filter(([name]) => name !== field)) as JsonObject;
  return typeof inner === "object" && inner !== null
    ? { ...object, [field]: dropped(inner as JsonObject, ...rest) }
    : object;
}
