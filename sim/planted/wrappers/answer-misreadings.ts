/** Planted bugs of what a server prints as an answer, whatever it has done. */
import { jsonMediaType, negotiate, representations } from "../../../wire/media-types.ts";
import { defaultPrinter } from "../../apiserver/answers/table.ts";
import { TextPayload } from "../../apiserver/encodings/payload.ts";
import { encodeJson } from "../../../wire/go-strings.ts";
import { invalid } from "../../contract/errors.ts";
import type { ApiRequest, Json, JsonObject, Payload } from "../../contract/http-message.ts";
import { isObject, metadataOf } from "../../contract/objects.ts";
import { withResourceVersion } from "../../objects/system-fields.ts";
import {
  type Misreading,
  type Seen,
  type ServerSeen,
  dropped,
  isTo,
  parametersOf,
  printedAs,
  resourceOf,
} from "./misreading.ts";

export const answerMisreadings = {
  "error-not-status-object": {
    headers: (headers, _request, status) =>
      status === 404 ? { ...headers, "x-content-type-options": "nosniff" } : headers,
    payload: (payload, status) =>
      status === 404 && payload.object?.["kind"] === "Status"
        ? new TextPayload(`${payload.object["message"] as string}\n`)
        : payload,
  },
  "unsupported-media-wrong-code": {
    status: (status) => (status === 415 ? 500 : status),
    answer: (object) => (object["kind"] === "Status" && object["code"] === 415 ? { ...object, code: 500 } : object),
  },
  "discovery-wrong-content-type": {
    payload: (payload, status, { path }, { server }) =>
      status === 200 && isDiscovery(path, server) && !payload.contentType.includes(";")
        ? { ...plain(payload), contentType: "text/plain" }
        : payload,
  },
  "protobuf-unmarshalable-half-200": {
    request(request, _memory, server) {
      if (!isOfCustomInProtobuf(request, server)) return request;
      return { ...request, headers: { ...request.headers, accept: jsonMediaType } };
    },
    // The head is out when it turns out that nothing holds the object.
    payload: (payload, status, _request, { server, original }) =>
      status < 300 && isOfCustomInProtobuf(original, server)
        ? new TextPayload("k8s\0", server.profile.dialect.protobufMediaType)
        : payload,
  },
  "protobuf-lists-drop-token": {
    payload(payload, _status, _request, { server }) {
      const { object, contentType } = payload;
      if (object === undefined || contentType !== server.profile.dialect.protobufMediaType) return payload;
      return "items" in object ? printedAs(payload, dropped(object, "metadata", "continue"), server) : payload;
    },
  },
  "table-default-columns": { answer: withDefaultColumns, event: withDefaultColumns },
  "table-drops-page": {
    answer: (object) =>
      isOfMeta(object, "Table") || isOfMeta(object, "PartialObjectMetadataList")
        ? dropped(dropped(object, "metadata", "continue"), "metadata", "remainingItemCount")
        : object,
  },
  "table-cells-misplaced": {
    answer: (object) => withCellsMoved(object),
    event: (object) => withCellsMoved(object),
  },
  "create-existing-wrong-error": {
    status: (status, _request, _memory, object) => (object?.["reason"] === "AlreadyExists" ? 422 : status),
    answer(object, _status, request, _memory, { server }) {
      const place = resourceOf(request, server);
      if (object["reason"] !== "AlreadyExists" || place === undefined) return object;
      const { name } = object["details"] as { readonly name: string };
      const message = `Duplicate value: ${JSON.stringify(name)}`;
      const cause = { reason: "FieldValueDuplicate", message, field: "metadata.name" };
      return invalid(place.row.kind, place.resourceName.group, name, [cause]).status;
    },
  },
  "fake-create-mutates-on-error": {
    answer(object, status, request, _memory, { server }) {
      const isReal = !parametersOf(request).has("dryRun");
      if (status === 409 && object["reason"] === "AlreadyExists" && isReal && isTo(request, server, "", "POST"))
        server.touch(`${request.path}/${(object["details"] as { readonly name: string }).name}`);
      return object;
    },
  },
  "rv-not-bumped-on-write": {
    asksBefore: true,
    answer: (object, status, request, _memory, { before }) =>
      isUpdate(request, status) && before !== undefined
        ? withResourceVersion(object, metadataOf(before).resourceVersion ?? "")
        : object,
  },
  "noop-update-returns-empty-rv": {
    asksBefore: true,
    answer: (object, status, request, _memory, seen) =>
      isUpdate(request, status) && changesNothing(object, request, seen) ? withResourceVersion(object, "") : object,
  },
} as const satisfies Record<string, Misreading>;

/** The indexes of versions, of groups and of what is in one; not everything at once, which says what it is. */
function isDiscovery(path: string, server: ServerSeen): boolean {
  const place = server.placeOf(path);
  if (place?.is === "version" || place?.is === "group") return true;
  return place?.is === "other" && ["", "api", "apis"].includes(place.segments.join("/"));
}

const plain = (payload: Payload): Payload => ({
  object: payload.object,
  contentType: payload.contentType,
  bytes: () => payload.bytes(),
});

function isOfCustomInProtobuf(request: ApiRequest, server: ServerSeen): boolean {
  const { accept } = request.headers;
  const isWatch = parametersOf(request).flag("watch");
  if (accept === undefined || isWatch || resourceOf(request, server)?.row.custom !== true) return false;
  const { dialect, featureGates } = server.profile;
  const offered = representations(dialect, { protobuf: true, cbor: featureGates.CBORServingAndStorage });
  return negotiate(accept, offered, () => true)?.representation.mediaType === dialect.protobufMediaType;
}

const isOfMeta = ({ kind, apiVersion }: JsonObject, wanted: string): boolean =>
  kind === wanted && typeof apiVersion === "string" && apiVersion.startsWith("meta.");

/** Of a row without its object nothing is known but its cells. */
function withDefaultColumns(table: JsonObject): JsonObject {
  if (!isOfMeta(table, "Table")) return table;
  const { columns, row } = defaultPrinter;
  const rows = ((table["rows"] ?? []) as readonly { readonly cells: readonly Json[]; readonly object: Json }[]).map(
    ({ cells, object }) => {
      const seen = isObject(object) ? object : ({ metadata: { name: cells[0] } } as JsonObject);
      return { ...row(seen, 0), object };
    },
  );
  // Only the first event of a watch has any.
  const columnDefinitions = table["columnDefinitions"] === null ? null : (columns as unknown as Json);
  return { ...table, columnDefinitions, rows: rows as unknown as Json };
}

function withCellsMoved(object: JsonObject): JsonObject {
  if (!isOfMeta(object, "Table")) return object;
  const rows = ((object["rows"] ?? []) as readonly { readonly cells: readonly Json[] }[]).map(({ cells, ...row }) => ({
    ...row,
    cells: [...cells.slice(-1), ...cells.slice(0, -1)],
  }));
  return { ...object, rows };
}

const isUpdate = ({ method }: ApiRequest, status: number): boolean =>
  status === 200 && (method === "PUT" || method === "PATCH");

/** A dry run shows the version that there is, whatever it would change. */
function changesNothing(object: JsonObject, request: ApiRequest, { before }: Seen): boolean {
  if (before === undefined || metadataOf(before).resourceVersion !== metadataOf(object).resourceVersion) return false;
  return !parametersOf(request).has("dryRun") || encodeJson(before) === encodeJson(object);
}
