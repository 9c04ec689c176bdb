/** Planted bugs of what a server makes of requests and prints as answers. Rows: `sim/planted/edge-bugs.ts`. */
import type { ApiRequest, JsonObject } from "../../contract/http-message.ts";
import type { EdgeBugName } from "../edge-bugs.ts";
import { type Memory, type Misreading, dropped, rewritten, textOf, without } from "./misreading.ts";

export const firstMisreadings: Readonly<Record<EdgeBugName, Misreading>> = {
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
