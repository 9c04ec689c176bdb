/** Planted bugs of what a server makes of a request: its path, its parameters, its headers, its body. */
import type { ApiRequest } from "../../contract/http-message.ts";
import { verbOf } from "../../apiserver/requests/route.ts";
import {
  type Misreading,
  type ServerSeen,
  dropped,
  isTo,
  parametersOf,
  resourceOf,
  rewritten,
  without,
  withoutOperations,
  withoutValues,
} from "./misreading.ts";

export const requestMisreadings = {
  "impersonation-ignored": {
    request: (request) => withHeaders(request, (name) => !name.startsWith("impersonate-")),
  },
  "accept-params-no-fallback": {
    request(request, _memory, server) {
      const { accept } = request.headers;
      const isOther = server.placeOf(request.path)?.is === "other"; // of discovery and schemas others decide
      return accept === undefined || isOther ? request : accepting(request, accept.split(",", 1)[0] as string);
    },
  },
  "metadata-watch-is-whole": {
    request(request, _memory, server) {
      const { accept } = request.headers;
      if (accept === undefined || !isWatch(request, server)) return request;
      return accepting(request, accept.replaceAll(partialParameters, ""));
    },
  },
  "table-include-object-ignored": {
    request: (request) => ({
      ...request,
      query: withoutValues(request.query, "includeObject", (value) => value !== "None" && value !== "Object"),
    }),
  },
  "bad-query-param-ignored": {
    request(request, _memory, server) {
      const isRead = request.method === "GET" && resourceOf(request, server) !== undefined;
      const isGood = (value: string): boolean => /^[+-]?[0-9]+$/.test(value) && Math.abs(Number(value)) < 2 ** 63;
      return isRead ? { ...request, query: withoutValues(request.query, "limit", isGood) } : request;
    },
  },
  "unwatchable-watch-200": {
    request(request, _memory, server) {
      if (!isWatch(request, server) || resourceOf(request, server)?.row.verbs.includes("watch")) return request;
      const query = without(request.query, "watch", "allowWatchBookmarks", "sendInitialEvents");
      return { ...request, path: request.path.replace("/watch/", "/"), query };
    },
  },
  "watch-path-unselected": {
    request: (request, _memory, server) => (isWatchPath(request, server) ? ofAll(request, server) : request),
  },
  "watch-path-name-ignored": {
    request(request, _memory, server) {
      const isOfOne = isWatchPath(request, server) && resourceOf(request, server)?.name !== "";
      return isOfOne ? ofAll(request, server) : request;
    },
  },
  "watch-path-forgets-version": {
    request: (request, _memory, server) =>
      isWatchPath(request, server) ? { ...request, query: without(request.query, "resourceVersion") } : request,
  },
  "collection-forgets-fields": {
    request: (request, _memory, server) =>
      isTo(request, server, "", "DELETE") ? { ...request, query: without(request.query, "fieldSelector") } : request,
  },
  "deletecollection-partial-unreported": {
    request(request, _memory, server) {
      const isOfMany = isTo(request, server, "", "DELETE") && resourceOf(request, server)?.name === "";
      return isOfMany ? { ...request, query: `${without(request.query, "limit")}&limit=3` } : request;
    },
  },
  "create-with-version-taken": {
    request(request, _memory, server) {
      const isCreate = isTo(request, server, "", "POST") && resourceOf(request, server)?.row.resource !== "bindings";
      return isCreate ? withoutVersion(request) : request;
    },
  },
  "status-of-any-uid": {
    request: (request, _memory, server) =>
      isTo(request, server, "status", "PUT") ? rewritten(request, (body) => dropped(body, "metadata", "uid")) : request,
  },
  "patch-rv-not-a-precondition": {
    request(request, _memory, server) {
      const isPlain = ["", "status"].some((subresource) => isTo(request, server, subresource, "PATCH"));
      return isPlain && !/apply-patch/.test(request.headers["content-type"] ?? "") ? withoutVersion(request) : request;
    },
  },
  "scale-takes-stale": {
    request: (request, _memory, server) =>
      isTo(request, server, "scale", "PUT", "PATCH") ? withoutVersion(request) : request,
  },
  "binding-wipes-uid-precondition": {
    request(request, _memory, server) {
      const isBinding =
        isTo(request, server, "binding", "POST") || resourceOf(request, server)?.row.resource === "bindings";
      if (!isBinding) return request;
      return rewritten(request, (body) => dropped(dropped(body, "metadata", "uid"), "metadata", "resourceVersion"));
    },
  },
  "eviction-of-any-version": {
    request: (request, _memory, server) =>
      isTo(request, server, "eviction", "POST")
        ? rewritten(request, (body) => dropped(body, "deleteOptions", "preconditions", "resourceVersion"))
        : request,
  },
} as const satisfies Record<string, Misreading>;

const accepting = (request: ApiRequest, accept: string): ApiRequest => ({
  ...request,
  headers: { ...request.headers, accept },
});

const partialParameters = /\s*;\s*(as=PartialObjectMetadata|g=meta\.[^;,]*|v=v1(beta1)?)(?=[;,\s]|$)/g;

function withHeaders(request: ApiRequest, isKept: (name: string) => boolean): ApiRequest {
  const headers = Object.fromEntries(Object.entries(request.headers).filter(([name]) => isKept(name)));
  return { ...request, headers };
}

function isWatch(request: ApiRequest, server: ServerSeen): boolean {
  const place = resourceOf(request, server);
  return place !== undefined && verbOf(place, request.method, parametersOf(request).flag("watch")) === "watch";
}

const isWatchPath = (request: ApiRequest, server: ServerSeen): boolean =>
  resourceOf(request, server)?.watchPrefix === true;

/** The same watch without its selectors, of the whole collection. */
function ofAll(request: ApiRequest, server: ServerSeen): ApiRequest {
  const isOfOne = resourceOf(request, server)?.name !== "";
  const path = isOfOne ? request.path.slice(0, request.path.replace(/\/$/, "").lastIndexOf("/")) : request.path;
  return { ...request, path, query: without(request.query, "labelSelector", "fieldSelector") };
}

/** The version is a field of the body, or what operations of a patch say of that field. */
function withoutVersion(request: ApiRequest): ApiRequest {
  const read = rewritten(request, (body) => dropped(body, "metadata", "resourceVersion"));
  return withoutOperations(read, ({ op, path }) => path === "/metadata/resourceVersion" && op !== "test");
}
