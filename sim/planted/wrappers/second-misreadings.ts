/** Planted bugs at the edges of the server, of the second round. Rows: `sim/planted/second-unforeseen-bugs.ts`. */
import type { ApiRequest, Json, JsonObject } from "../../contract/http-message.ts";
import { encodeJson } from "../../../wire/go-strings.ts";
import { isObject, metadataOf } from "../../contract/objects.ts";
import { withResourceVersion } from "../../objects/system-fields.ts";
import {
  type Misreading,
  dropped,
  isTo,
  rewritten,
  textOf,
  typeOf,
  withParameter,
  without,
  withoutOperations,
} from "./misreading.ts";

export const secondMisreadings = {
  "patch-tests-unheeded": {
    request: (request) =>
      is(request, "PATCH", "json-patch") ? withoutOperations(request, ({ op }) => op === "test") : request,
  },
  "set-selector-by-first-value": {
    request: (request) =>
      withParameter(request, "labelSelector", (text) => text.replace(/\bin \(([^,)]*),[^)]*\)/g, "in ($1)")),
  },
  "unequal-name-selects-all": {
    request: (request) =>
      withParameter(request, "fieldSelector", (text) =>
        text
          .split(",")
          .filter((term) => !term.startsWith("metadata.name!="))
          .join(","),
      ),
  },
  "apply-of-any-version": {
    request: (request) => (is(request, "PATCH", "apply-patch") ? withoutVersion(request) : request),
  },
  "status-takes-stale": {
    // The version that there is, and not none: many types are not updated without one.
    request(request, _memory, server) {
      const live = isTo(request, server, "status", "PUT") ? server.stored(request.path) : undefined;
      if (live === undefined) return request;
      const { resourceVersion = "" } = metadataOf(live);
      return rewritten(request, (body) => (namesVersion(body) ? withResourceVersion(body, resourceVersion) : body));
    },
  },
  "collection-forgets-policy": {
    request: (request) =>
      request.method === "DELETE" && isCollection(request.path)
        ? rewritten({ ...request, query: without(request.query, "propagationPolicy") }, (body) =>
            dropped(body, "propagationPolicy"),
          )
        : request,
  },
  "strict-forgets-yaml": {
    request: (request) =>
      /yaml/.test(typeOf(request)) && request.method !== "PATCH"
        ? { ...request, query: without(request.query, "fieldValidation") }
        : request,
  },
  "manager-of-update-unheeded": {
    request: (request) =>
      request.method === "PUT" ? { ...request, query: without(request.query, "fieldManager") } : request,
  },
  "body-of-other-namespace-taken": {
    request: (request) =>
      request.method === "POST" && request.path.includes("/namespaces/")
        ? rewritten(request, (body) => dropped(body, "metadata", "namespace"))
        : request,
  },
  "uid-of-update-unheeded": {
    request: (request) =>
      request.method === "PUT" ? rewritten(request, (body) => dropped(body, "metadata", "uid")) : request,
  },
  "patch-type-with-charset-refused": {
    request: (request) =>
      request.method === "PATCH" && typeOf(request).includes(";")
        ? { ...request, headers: { ...request.headers, "content-type": "application/octet-stream" } }
        : request,
  },
  "grace-in-query-unheeded": {
    request: (request) =>
      request.method === "DELETE" ? { ...request, query: without(request.query, "gracePeriodSeconds") } : request,
  },
  "policy-in-query-unheeded": {
    request: (request) =>
      request.method === "DELETE" ? { ...request, query: without(request.query, "propagationPolicy") } : request,
  },
  "large-integers-rounded": {
    request: (request) => (/\d{16}/.test(textOf(request)) ? rewritten(request, rounded) : request),
  },
  "later-pages-without-limit": {
    request: (request) =>
      /(^|&)continue=./.test(request.query) ? { ...request, query: without(request.query, "limit") } : request,
  },
  "second-field-term-unheeded": {
    request: (request) => withParameter(request, "fieldSelector", (text) => text.split(",")[0] ?? ""),
  },
  "limited-exact-is-present": {
    request: (request) =>
      /(^|&)limit=[1-9]/.test(request.query) && /(^|&)resourceVersionMatch=Exact(&|$)/.test(request.query)
        ? { ...request, query: without(without(request.query, "resourceVersionMatch"), "resourceVersion") }
        : request,
  },
  "review-forgets-user-uid": {
    answer: (object, _status, { path }) =>
      path.endsWith("/tokenreviews") ? dropped(object, "status", "user", "uid") : object,
  },
  "rules-review-incomplete": {
    answer(object, _status, { path }) {
      const said = object["status"];
      if (!path.endsWith("/selfsubjectrulesreviews") || !isObject(said)) return object;
      const rules = said["resourceRules"] as readonly Json[] | undefined;
      return { ...object, status: { ...said, resourceRules: rules?.slice(1) ?? [] } };
    },
  },
  "refusals-name-nobody": {
    answer: (object, status) => (status === 404 || status === 409 ? dropped(object, "details", "name") : object),
  },
  "exists-is-conflict": {
    answer: (object) => (object["reason"] === "AlreadyExists" ? { ...object, reason: "Conflict" } : object),
  },
  "micro-times-in-seconds": {
    answer: (object) => inSeconds(object),
  },
  "warnings-of-patches-untold": {
    headers: ({ warning: _, ...headers }, { method }) =>
      method === "PATCH" || _ === undefined ? headers : { ...headers, warning: _ },
  },
} as const satisfies Record<string, Misreading>;

const is = (request: ApiRequest, method: string, type: string): boolean =>
  request.method === method && typeOf(request).includes(type);

const namesVersion = ({ metadata }: JsonObject): boolean =>
  isObject(metadata) && typeof metadata["resourceVersion"] === "string" && metadata["resourceVersion"] !== "";

const withoutVersion = (request: ApiRequest): ApiRequest =>
  rewritten(request, (body) => dropped(body, "metadata", "resourceVersion"));

/** A path that ends in the name of a type: of the core group, or of another, in a namespace or in none. */
const isCollection = (path: string): boolean =>
  /^\/(api\/[^/]+|apis\/[^/]+\/[^/]+)\/(namespaces\/[^/]+\/)?[^/]+$/.test(path);

function inSeconds(object: JsonObject): JsonObject {
  const text = encodeJson(object); // integers beyond 2^53 are bigints
  const changed = text.replaceAll(/(T\d\d:\d\d:\d\d)\.\d{6}Z/g, "$1.000000Z");
  return changed === text ? object : (JSON.parse(changed) as JsonObject);
}

/** As a reader that knows doubles alone has it. */
const rounded = (body: JsonObject): JsonObject => JSON.parse(encodeJson(body)) as JsonObject;
