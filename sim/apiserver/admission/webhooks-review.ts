/**
 * What a webhook is sent and what its answer means: AdmissionReview v1.
 * Source: the published request and response forms and their errors.
 */
import { apiVersionInDialect, type Dialect, groupInDialect } from "../../../wire/dialect.ts";
import { encodeJson, goQuote } from "../../../wire/go-strings.ts";
import { parseJsonStrict } from "../../../wire/json-scan.ts";
import { ApiError } from "../../contract/errors.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { copyJson } from "../../objects/copy.ts";
import { applyJsonPatch, PatchFailure, readJsonPatch } from "../../objects/json-patch.ts";
import { isObject } from "../../contract/objects.ts";
import type { ResourcePlace } from "../requests/route.ts";
import type { AdmissionReview } from "./admission.ts";
import type { Webhook } from "./webhooks-match.ts";

/** The body that is posted. A copy through and through: what a webhook does to it stays with it. */
export function reviewBody(review: AdmissionReview, uid: string, dialect: Dialect): JsonObject {
  const { dryRun, options, ...about } = requestOf(review, dialect);
  const { object = null, oldObject = null } = review;
  const request = { uid, ...about, object, oldObject, dryRun, options };
  const apiVersion = apiVersionInDialect(dialect, "admission.svc.io/v1");
  return copyJson({ kind: "AdmissionReview", apiVersion, request } as unknown as JsonObject);
}

/** What a review says of the request beside the objects. */
export function requestOf(review: AdmissionReview, dialect: Dialect) {
  const { place, asked = place, operation, namespace, name, user, dryRun } = review;
  const { extra } = user;
  return {
    kind: kindOf(place, dialect),
    resource: resourceOf(place),
    subResource: place.subresource?.subresource,
    requestKind: kindOf(asked, dialect),
    requestResource: resourceOf(asked),
    requestSubResource: asked.subresource?.subresource,
    name: name === "" ? undefined : name,
    namespace: (isNamespace(place) ? name : namespace) || undefined,
    operation,
    userInfo: { username: user.name, uid: user.uid === "" ? undefined : user.uid, groups: user.groups, extra },
    dryRun,
    options: operation === "CONNECT" ? null : optionsOf(operation, review, dialect),
  };
}

const optionsOf = (operation: keyof typeof optionsKinds, { options }: AdmissionReview, dialect: Dialect) => ({
  kind: optionsKinds[operation],
  apiVersion: `${groupInDialect(dialect, "meta.svc.io")}/v1`,
  ...options,
});

/** A namespace counts as lying in itself. */
const isNamespace = ({ row }: ResourcePlace): boolean => row.group === "" && row.resource === "namespaces";

/** The kind of the body: a subresource may have one of its own. */
function kindOf({ row, resourceName, subresource }: ResourcePlace, dialect: Dialect) {
  if (subresource === undefined) return { group: resourceName.group, version: row.version, kind: row.kind };
  const { group, version, kind } = subresource;
  return { group: groupInDialect(dialect, group), version, kind };
}

function resourceOf({ row, resourceName }: ResourcePlace) {
  return { group: resourceName.group, version: row.version, resource: row.resource };
}

const optionsKinds = {
  CREATE: "CreateOptions",
  UPDATE: "UpdateOptions",
  DELETE: "DeleteOptions",
} as const;

/** A webhook's answer that could be understood. */
export interface Reply {
  readonly allowed: boolean;
  /** Why not, as a Status. */
  readonly status: JsonObject | undefined;
  readonly patch: readonly Json[] | undefined;
  readonly warnings: readonly string[];
}

/** The reply, or why the body is none. */
export function readReply(body: unknown, uid: string, dialect: Dialect, mutating: boolean): Reply | string {
  if (!isObject(body)) return "received invalid webhook response: expected an object";
  const found = `${shown(body["apiVersion"])}, Kind=${shown(body["kind"])}`;
  const wanted = `${apiVersionInDialect(dialect, "admission.svc.io/v1")}, Kind=AdmissionReview`;
  if (found !== wanted)
    return `received invalid webhook response: expected webhook response of ${wanted}, got ${found}`;
  const { response } = body;
  if (!isObject(response)) return "received invalid webhook response: webhook response was absent";
  const { uid: echoed = "", allowed, status, patch, patchType = "", warnings } = response;
  if (echoed !== uid) {
    return `received invalid webhook response: expected response.uid=${goQuote(uid)}, got ${goQuote(shown(echoed))}`;
  }
  const operations = patch === undefined || patch === "" ? undefined : readPatch(patch);
  if (typeof operations === "string") return `received invalid webhook response: ${operations}`;
  if (operations !== undefined && !mutating) return "received invalid webhook response: response.patch is not allowed";
  if (operations !== undefined && patchType !== "JSONPatch") {
    return patchType === ""
      ? "received invalid webhook response: webhook returned response.patch but not response.patchType"
      : `received invalid webhook response: webhook returned invalid response.patchType of ${goQuote(shown(patchType))}`;
  }
  return {
    allowed: allowed === true,
    status: isObject(status) ? status : undefined,
    patch: operations,
    warnings: Array.isArray(warnings) ? warnings.filter((text): text is string => typeof text === "string") : [],
  };
}

/** What should be a text, as it came. */
const shown = (value: unknown): string =>
  typeof value === "string" ? value : value === undefined ? "" : encodeJson(value);

/** The patch is a document in base64. */
function readPatch(patch: unknown): readonly Json[] | string {
  try {
    const bytes = Uint8Array.from(atob(String(patch)), (letter) => letter.charCodeAt(0));
    const read = parseJsonStrict(bytes);
    if (!read.ok) return unreadablePatch;
    return Array.isArray(read.value) ? (read.value as Json[]) : "response.patch is not a list";
  } catch {
    return unreadablePatch; // no base64
  }
}

const unreadablePatch = "response.patch cannot be read";

/**
 * The object after a webhook's patch, read again by `decode`. Throws 500, as the real server does for a patch that does
 * not fit and for an object that is none of its kind any more.
 */
export function patched(
  object: JsonObject,
  patch: readonly Json[],
  decode: (object: JsonObject) => JsonObject,
): JsonObject {
  try {
    return decode(applyJsonPatch(object, readJsonPatch(patch as unknown as Json).operations) as JsonObject);
  } catch (error) {
    if (error instanceof PatchFailure || error instanceof ApiError) throw internal(withoutPlace(error.message));
    throw error;
  }
}

/** What is wrong with an object, without the words for a body that a client sent. */
const withoutPlace = (message: string): string => message.replace(/^.*? cannot be handled as an? \S+: /, "");

/** A refusal in the webhook's own words; a code below 400 would be none. */
export function denial(webhook: Webhook, status: JsonObject = {}): ApiError {
  const deniedBy = `admission webhook ${goQuote(webhook.name)} denied the request`;
  const { message = "", reason = "", code = 0, details } = status;
  const why = message !== "" ? message : reason;
  const text = why === "" ? `${deniedBy} without explanation` : `${deniedBy}: ${shown(why)}`;
  const known = typeof code === "number" && code >= 400 && code <= 599 ? code : 400;
  const word = reason === "" ? undefined : shown(reason);
  return new ApiError(known, word, text, isObject(details) ? details : undefined);
}

export const failedCall = (webhook: Webhook, why: string): ApiError =>
  internal(`failed calling webhook ${goQuote(webhook.name)}: ${why}`);

function internal(why: string): ApiError {
  return new ApiError(500, "InternalError", `Internal error occurred: ${why}`, { causes: [{ message: why }] });
}
