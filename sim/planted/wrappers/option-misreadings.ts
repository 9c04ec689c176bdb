/** Planted bugs of what a server makes of the options of a write: in its query, or in its body. */
import type { ApiRequest, Json, JsonObject } from "../../contract/http-message.ts";
import { isObject } from "../../contract/objects.ts";
import {
  type Misreading,
  dropped,
  isApply,
  isTo,
  parametersOf,
  resourceOf,
  rewritten,
  without,
  withoutValues,
} from "./misreading.ts";

export const optionMisreadings = {
  "dry-run-persists": {
    request(request, _memory, server) {
      const { method } = request;
      if (method === "PATCH" || method === "DELETE") return withDryRuns(request, isNotAll);
      return isTo(request, server, "eviction", "POST") ? withDryRunsInside(request, isNotAll) : request;
    },
  },
  "dry-run-invalid-value-accepted": {
    request(request, _memory, server) {
      if (request.method === "GET" || resourceOf(request, server) === undefined) return request;
      const isEviction = isTo(request, server, "eviction", "POST");
      return withDryRuns(isEviction ? withDryRunsInside(request, isAll) : request, isAll);
    },
  },
  "scale-dry-run-is-real": {
    request: (request, _memory, server) =>
      isTo(request, server, "scale", "PUT", "PATCH") ? withDryRuns(request, isNotAll) : request,
  },
  "eviction-dry-run-evicts": {
    request: (request, _memory, server) =>
      isTo(request, server, "eviction", "POST") ? withDryRunsInside(withDryRuns(request, isNotAll), isNotAll) : request,
  },
  "collection-dry-run-in-body-is-real": {
    request(request, _memory, server) {
      const isOfMany = isTo(request, server, "", "DELETE") && resourceOf(request, server)?.name === "";
      return isOfMany ? rewritten(request, (body) => withValues(body, isNotAll)) : request;
    },
  },
  "delete-precondition-ignored": {
    request: (request, _memory, server) =>
      isTo(request, server, "", "DELETE") ? rewritten(request, (body) => dropped(body, "preconditions")) : request,
  },
  "unsafe-delete-heeds-no-options": {
    request(request, _memory, server) {
      const { profile } = server;
      if (!profile.featureGates.AllowUnsafeMalformedObjectDeletion || !isTo(request, server, "", "DELETE"))
        return request;
      const isUnsafe = parametersOf(request).flag(unsafe);
      const query = isUnsafe ? without(request.query, ...optionNames) : request.query;
      return rewritten({ ...request, query }, (body) =>
        body[unsafe] === true ? optionNames.reduce((left, name) => dropped(left, name), body) : body,
      );
    },
  },
  "status-apply-takes-over": {
    request(request, _memory, server) {
      if (!isApply(request) || !isTo(request, server, "status", "PATCH")) return request;
      return { ...request, query: `${without(request.query, "force")}&force=true` };
    },
  },
} as const satisfies Record<string, Misreading>;

const unsafe = "ignoreStoreReadErrorWithClusterBreakingPotential";

/** What may not stand beside it. */
const optionNames = ["dryRun", "propagationPolicy", "orphanDependents", "gracePeriodSeconds", "preconditions"];

const isAll = (value: unknown): boolean => value === "All";
const isNotAll = (value: unknown): boolean => value !== "All";

/** Those values of `dryRun` alone that are to be kept, in the query and, of a deletion, in the body. */
function withDryRuns(request: ApiRequest, isKept: (value: unknown) => boolean): ApiRequest {
  const read = { ...request, query: withoutValues(request.query, "dryRun", isKept) };
  return request.method === "DELETE" ? rewritten(read, (body) => withValues(body, isKept)) : read;
}

/** The same in the options of a deletion that an eviction brings. */
function withDryRunsInside(request: ApiRequest, isKept: (value: unknown) => boolean): ApiRequest {
  return rewritten(request, (body) => {
    const { deleteOptions } = body;
    return isObject(deleteOptions) ? { ...body, deleteOptions: withValues(deleteOptions, isKept) } : body;
  });
}

function withValues(body: JsonObject, isKept: (value: unknown) => boolean): JsonObject {
  const { dryRun } = body;
  return Array.isArray(dryRun) ? { ...body, dryRun: (dryRun as readonly Json[]).filter(isKept) } : body;
}
