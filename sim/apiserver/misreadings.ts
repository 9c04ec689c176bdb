/**
 * Planted bugs at the edges of the server: what it makes of a request before anything else looks at it, and what it
 * prints. Nothing of this exists while none of them is on. Rows: `sim/planted/edge-bugs.ts`.
 */
import type { ApiRequest, JsonObject, Payload, Responder, ResponseHeaders } from "../contract/http-message.ts";
import { encodeJson } from "../../wire/go-strings.ts";
import type { EdgeBugName } from "../planted/edge-bugs.ts";
import type { ServerBugs } from "../planted/server-bugs.ts";
import { type Memory, type Misreading, dropped, rewritten, textOf, without } from "./misreading.ts";
import { secondMisreadings } from "./second-misreadings.ts";

const encoder = new TextEncoder();

const misreadings: Readonly<Record<EdgeBugName | keyof typeof secondMisreadings, Misreading>> = {
  ...secondMisreadings,
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
  "event-dry-run-unmanaged": {
    answer: (object, _status, { path, query }) =>
      /\/events(\/|$)/.test(path) && /(^|&)dryRun=/.test(query) ? dropped(object, "metadata", "managedFields") : object,
  },
  "event-patch-manager-unheeded": {
    request: (request) =>
      /\/events\//.test(request.path) && /merge-patch/.test(request.headers["content-type"] ?? "")
        ? { ...request, query: without(request.query, "fieldManager") }
        : request,
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

export const misreadingNames = Object.keys(misreadings) as readonly (keyof typeof misreadings)[];

/** Undefined when none of these bugs is planted. `bugs` says at each request which of them show. */
export function misreader(
  planted: ServerBugs,
  bugs: ServerBugs = planted,
): ((request: ApiRequest, responder: Responder) => readonly [ApiRequest, Responder]) | undefined {
  const names = misreadingNames.filter((name) => planted[name]);
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
    const sent = this.#on.reduce((said, one) => one.headers?.(said, this.#request) ?? said, headers);
    this.#to.respond(code, sent, printed === object || printed === undefined ? payload : printedAs(payload, printed));
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
  const bytes = encoder.encode(`${encodeJson(object)}\n`);
  return { object, contentType, bytes: () => bytes };
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
