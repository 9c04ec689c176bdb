/**
 * Planted bugs at the edges of the server: what it makes of a request before anything else looks at it, and what it
 * prints. Nothing of this exists while none of them is on. Rows: `sim/planted/edge-bugs.ts`.
 */
import type { ApiRequest, JsonObject, Payload, Responder, ResponseHeaders } from "../contract/http-message.ts";
import type { EdgeBugName } from "../planted/edge-bugs.ts";
import type { ServerBugs } from "../planted/server-bugs.ts";

interface Misreading {
  /** What the server takes the request for. */
  readonly request?: (request: ApiRequest, memory: Memory) => ApiRequest;
  /** What it prints in place of a complete answer that is an object. */
  readonly answer?: (object: JsonObject, status: number, request: ApiRequest, memory: Memory) => JsonObject;
  readonly status?: (status: number, request: ApiRequest, memory: Memory) => number;
}

/** What such a server remembers from one request to the next. */
interface Memory {
  count: number;
  readonly poisoned: Set<string>;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const misreadings: Readonly<Record<EdgeBugName, Misreading>> = {
  "status-dry-run-is-real": {
    request: (request) =>
      request.path.endsWith("/status") ? { ...request, query: without(request.query, "dryRun") } : request,
  },
  "null-in-patch-is-a-change": {
    request: (request, memory) =>
      request.method === "PATCH" && textOf(request).includes("null") ? touched(request, memory) : request,
  },
  "watch-by-number-is-a-list": {
    request: (request) => ({ ...request, query: request.query.replace(/(^|&)watch=1(?=&|$)/, "") }),
  },
  "token-for-every-audience": {
    request: (request) =>
      request.path.endsWith("/token") ? rewritten(request, (body) => dropped(body, "spec", "audiences")) : request,
  },
  "review-for-every-audience": {
    request: (request) =>
      request.path.endsWith("/tokenreviews")
        ? rewritten(request, (body) => dropped(body, "spec", "audiences"))
        : request,
  },
  "groups-grow": {
    answer(object, status, { path }, memory) {
      if (status !== 201 || !path.endsWith("/selfsubjectreviews")) return object;
      memory.count += 1;
      const said = object["status"] as { userInfo: { groups?: readonly string[] } };
      const groups = [...(said.userInfo.groups ?? []), ...Array<string>(memory.count).fill("system:authenticated")];
      return { ...object, status: { ...said, userInfo: { ...said.userInfo, groups } } };
    },
  },
  "odd-records-poison": {
    request(request, memory) {
      if (request.method !== "GET" && /"managedFields":\[\{"manager":"m","operation":"Odd"/.test(textOf(request)))
        memory.poisoned.add(request.path);
      return request;
    },
    status: (status, { path, method, headers }, memory) =>
      method === "PATCH" && memory.poisoned.has(path) && /apply/.test(headers["content-type"] ?? "") ? 500 : status,
  },
  "conflict-is-no-status": {
    answer: (object, status) => (status === 409 ? { ...object, apiVersion: undefined as never } : object),
  },
  "causes-have-no-reason": {
    answer(object, status) {
      const details = object["details"] as { causes?: readonly JsonObject[] } | undefined;
      if (status !== 422 || details?.causes === undefined) return object;
      return { ...object, details: { ...details, causes: details.causes.map((cause) => ({ ...cause, reason: "" })) } };
    },
  },
  "field-selected-pages-are-counted": {
    answer(object, _status, { query }) {
      const metadata = object["metadata"] as JsonObject | undefined;
      if (!/fieldSelector=/.test(query) || !Array.isArray(object["items"])) return object;
      return { ...object, metadata: { ...metadata, remainingItemCount: 1 } };
    },
  },
  "watch-off-is-on": {
    request: (request) => ({ ...request, query: request.query.replace(/(^|&)watch=(0|false)(?=&|$)/, "$1watch=1") }),
  },
  "empty-selector-selects-nothing": {
    request: (request) => ({
      ...request,
      query: request.query.replace(/(^|&)labelSelector=(?=&|$)/, "$1labelSelector=nobody.example.com%2Fhas"),
    }),
  },
  "zero-limit-is-a-limit": {
    answer: (object, status, { query }) =>
      status === 200 && /(^|&)limit=0(&|$)/.test(query) && Array.isArray(object["items"])
        ? { ...object, items: [] }
        : object,
  },
};

/** Undefined when none of these bugs is planted. `bugs` says at each request which of them show. */
export function misreader(
  planted: ServerBugs,
  bugs: ServerBugs = planted,
): ((request: ApiRequest, responder: Responder) => readonly [ApiRequest, Responder]) | undefined {
  const names = (Object.keys(misreadings) as EdgeBugName[]).filter((name) => planted[name]);
  if (names.length === 0) return undefined;
  const memory: Memory = { count: 0, poisoned: new Set() };
  return (request, responder) => {
    const on = names.filter((name) => bugs[name]).map((name) => misreadings[name]);
    const read = on.reduce((asked, one) => one.request?.(asked, memory) ?? asked, request);
    return [read, new Misprinter(responder, read, on, memory)];
  };
}

class Misprinter implements Responder {
  readonly #to: Responder;
  readonly #request: ApiRequest;
  readonly #on: readonly Misreading[];
  readonly #memory: Memory;

  constructor(to: Responder, request: ApiRequest, on: readonly Misreading[], memory: Memory) {
    this.#to = to;
    this.#request = request;
    this.#on = on;
    this.#memory = memory;
  }

  respond(status: number, headers: ResponseHeaders, payload: Payload): void {
    const { object } = payload;
    const code = this.#on.reduce((said, one) => one.status?.(said, this.#request, this.#memory) ?? said, status);
    const printed =
      object === undefined || payload.contentType !== "application/json"
        ? object
        : this.#on.reduce((said, one) => one.answer?.(said, code, this.#request, this.#memory) ?? said, object);
    this.#to.respond(
      code,
      headers,
      printed === object || printed === undefined ? payload : printedAs(payload, printed),
    );
  }

  open(status: number, headers: ResponseHeaders): void {
    this.#to.open(status, headers);
  }

  frame(payload: Payload): number {
    return this.#to.frame(payload);
  }

  whenTaken(resume: () => void): void {
    if (this.#to.whenTaken === undefined) resume();
    else this.#to.whenTaken(resume);
  }

  close(): void {
    this.#to.close();
  }
}

function printedAs({ contentType }: Payload, object: JsonObject): Payload {
  const bytes = encoder.encode(`${JSON.stringify(object)}\n`);
  return { object, contentType, bytes: () => bytes };
}

const without = (query: string, name: string): string =>
  query
    .split("&")
    .filter((pair) => pair !== name && !pair.startsWith(`${name}=`))
    .join("&");

const textOf = ({ body }: ApiRequest): string => (body instanceof Uint8Array ? decoder.decode(body) : "");

function rewritten(request: ApiRequest, change: (body: JsonObject) => JsonObject): ApiRequest {
  const text = textOf(request);
  if (!text.startsWith("{")) return request;
  try {
    return { ...request, body: encoder.encode(JSON.stringify(change(JSON.parse(text) as JsonObject))) };
  } catch {
    return request; // what cannot be read is for others to refuse
  }
}

/** Without the field that the path leads to. */
function dropped(object: JsonObject, ...path: readonly string[]): JsonObject {
  const [field = "", ...rest] = path;
  const inner = object[field];
  if (rest.length === 0)
    return Object.fromEntries(Object.entries(object).filter(([name]) => name !== field)) as JsonObject;
  return typeof inner === "object" && inner !== null
    ? { ...object, [field]: dropped(inner as JsonObject, ...rest) }
    : object;
}

/** The object gets an annotation of which nobody had spoken. */
function touched(request: ApiRequest, memory: Memory): ApiRequest {
  memory.count += 1;
  return rewritten(request, (body) => {
    const metadata = (body["metadata"] ?? {}) as JsonObject;
    const annotations = {
      ...(metadata["annotations"] as JsonObject | undefined),
      "example.com/touched": String(memory.count),
    };
    return { ...body, metadata: { ...metadata, annotations } };
  });
}
