/** Planted bugs at the edges of the server, of the third round. Rows: `sim/planted/third-unforeseen-bugs.ts`. */
import type { ApiRequest, Json, JsonObject } from "../../contract/http-message.ts";
import { isObject, metadataOf } from "../../contract/objects.ts";
import { withResourceVersion } from "../../objects/system-fields.ts";
import {
  type Misreading,
  dropped,
  isTo,
  parametersOf,
  resourceOf,
  rewritten,
  typeOf,
  withOperations,
  withParameter,
  without,
} from "./misreading.ts";

export const thirdMisreadings = {
  "named-watch-forgets-labels": {
    request: (request) =>
      isWatch(request) && /metadata\.name/.test(parametersOf(request).first("fieldSelector") ?? "")
        ? { ...request, query: without(request.query, "labelSelector") }
        : request,
  },
  "zero-timeout-ends-watch": {
    request: (request) =>
      isWatch(request) ? withParameter(request, "timeoutSeconds", (text) => (text === "0" ? "1" : text)) : request,
  },
  "later-pages-count-selected": {
    answer(object, _status, request) {
      const { metadata } = object;
      const isLater = (parametersOf(request).first("continue") ?? "") !== "";
      if (!isLater || !isObject(metadata) || !metadata["continue"]) return object;
      return { ...object, metadata: { remainingItemCount: 1, ...metadata } };
    },
  },
  "pointer-escapes-misordered": {
    request: (request) =>
      typeOf(request).includes("json-patch")
        ? withOperations(request, (operation) =>
            ["path", "from"].reduce((changed, name) => {
              const pointer = changed[name];
              return typeof pointer === "string" ? { ...changed, [name]: pointer.replaceAll("~01", "~1") } : changed;
            }, operation),
          )
        : request,
  },
  "retained-keys-unheeded": {
    request: (request) =>
      typeOf(request).includes("strategic-merge-patch") ? rewritten(request, withoutRetained) : request,
  },
  "dry-run-names-nothing": {
    answer: (object, status, request) =>
      status === 201 && parametersOf(request).has("dryRun") && metadataOf(object).generateName !== undefined
        ? dropped(object, "metadata", "name")
        : object,
  },
  "second-precondition-unheeded": {
    request: (request) =>
      request.method === "DELETE"
        ? rewritten(request, (body) => {
            const { preconditions } = body;
            const isOfBoth = isObject(preconditions) && preconditions["uid"] !== undefined;
            return isOfBoth ? dropped(body, "preconditions", "resourceVersion") : body;
          })
        : request,
  },
  "going-is-answered-as-before": {
    asksBefore: true,
    answer(object, _status, { method }, _memory, { before }) {
      const isNew = before !== undefined && metadataOf(before).deletionTimestamp === undefined;
      if (method !== "DELETE" || !isNew || metadataOf(object).deletionTimestamp === undefined) return object;
      const unmarked = dropped(
        dropped(object, "metadata", "deletionTimestamp"),
        "metadata",
        "deletionGracePeriodSeconds",
      );
      return withResourceVersion(unmarked, metadataOf(before).resourceVersion ?? "");
    },
  },
  "one-warning-is-enough": {
    headers: ({ warning, ...headers }) =>
      warning === undefined ? headers : { ...headers, warning: [warning].flat().slice(0, 1) },
  },
  "writes-are-answered-whole": {
    request: (request) => (request.method === "GET" ? request : withAccept(request, (text) => text.replace(form, ""))),
  },
  "accept-weights-unheeded": {
    request: (request) => withAccept(request, (text) => text.replaceAll(/\s*;\s*q=[\d.]*/g, "")),
  },
  "selectable-fields-select-all": {
    request: (request, _memory, server) =>
      resourceOf(request, server)?.row.custom === true
        ? withParameter(request, "fieldSelector", (text) =>
            text
              .split(",")
              .filter((term) => term.startsWith("metadata."))
              .join(","),
          )
        : request,
  },
  "aggregated-without-subresources": {
    answer: (object) =>
      object["kind"] === "APIGroupDiscoveryList" ? (withoutInside(object, /^subresources$/) as JsonObject) : object,
  },
  "exact-lists-forget-labels": {
    request: (request) =>
      parametersOf(request).first("resourceVersionMatch") === "Exact"
        ? { ...request, query: without(request.query, "labelSelector") }
        : request,
  },
  "deletions-from-sets-unheeded": {
    request: (request) =>
      typeOf(request).includes("strategic-merge-patch")
        ? rewritten(request, (body) => withoutInside(body, /^\$deleteFromPrimitiveList\//) as JsonObject)
        : request,
  },
  "core-events-without-series": {
    answer: (object, _status, { path }) => (isOfCoreEvents(path) ? withoutSeries(object) : object),
    event: (object) =>
      object["apiVersion"] === "v1" && object["kind"] === "Event" ? dropped(object, "series") : object,
  },
  "leases-take-stale": {
    request(request, _memory, server) {
      const isOfLease = isTo(request, server, "", "PUT") && resourceOf(request, server)?.row.resource === "leases";
      const live = isOfLease ? server.stored(request.path) : undefined;
      if (live === undefined) return request;
      const { resourceVersion = "" } = metadataOf(live);
      return rewritten(request, (body) =>
        metadataOf(body).resourceVersion === undefined ? body : withResourceVersion(body, resourceVersion),
      );
    },
  },
  "table-objects-are-metadata": {
    request: (request) => withParameter(request, "includeObject", (text) => (text === "Object" ? "Metadata" : text)),
  },
  "wished-address-unheeded": {
    request: (request, _memory, server) =>
      isTo(request, server, "", "POST") && resourceOf(request, server)?.row.resource === "services"
        ? rewritten(request, (body) =>
            isObject(body["spec"]) && body["spec"]["clusterIP"] === "None"
              ? body
              : dropped(dropped(body, "spec", "clusterIP"), "spec", "clusterIPs"),
          )
        : request,
  },
  "tokens-are-bound-to-nothing": {
    request: (request, _memory, server) =>
      isTo(request, server, "token", "POST")
        ? rewritten(request, (body) => dropped(body, "spec", "boundObjectRef"))
        : request,
  },
  "eviction-forgets-grace": {
    request: (request, _memory, server) =>
      isTo(request, server, "eviction", "POST")
        ? rewritten(request, (body) => dropped(body, "deleteOptions", "gracePeriodSeconds"))
        : request,
  },
} as const satisfies Record<string, Misreading>;

/** The parameters of a media type that name another form of what it holds. */
const form = /;\s*(as|g|v)=[^;,]*/g;

const isWatch = (request: ApiRequest): boolean => request.method === "GET" && parametersOf(request).flag("watch");

const withAccept = (request: ApiRequest, change: (text: string) => string): ApiRequest => {
  const { accept } = request.headers;
  return accept === undefined ? request : { ...request, headers: { ...request.headers, accept: change(accept) } };
};

const withoutRetained = (body: JsonObject): JsonObject => withoutInside(body, /^\$retainKeys$/) as JsonObject;

const isOfCoreEvents = (path: string): boolean => /^\/api\/v1\/(namespaces\/[^/]+\/)?events(\/|$)/.test(path);

function withoutSeries(object: JsonObject): JsonObject {
  const { items } = object;
  if (!Array.isArray(items)) return dropped(object, "series");
  return { ...object, items: (items as readonly JsonObject[]).map((item) => dropped(item, "series")) };
}

/** The value without such fields wherever it has any. */
function withoutInside(value: Json, name: RegExp): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map((each) => withoutInside(each, name));
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([field]) => !name.test(field));
  return Object.fromEntries(kept.map(([field, inner]) => [field, withoutInside(inner as Json, name)])) as JsonObject;
}
