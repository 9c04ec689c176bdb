/**
 * What a webhook is sent and what its answer means: AdmissionReview v1.
 * Source: the published request and response forms and their errors.
 */
import { apiVersionInDialect, type Dialect, groupInDialect } from "../../../wire/dialect.ts";
import { encodeJson, goQuote } from "../../../wire/go-strings.ts";
import { readJsonSteps } from "../../../wire/json-reader.ts";
import { quickJsonSteps } from "../../../wire/json-scan.ts";
import { ApiError, toldCharactersMax } from "../../contract/errors.ts";
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { applyJsonPatch, PatchFailure, readJsonPatch } from "../../objects/json-patch.ts";
import { isObject } from "../../contract/objects.ts";
import { largeMapSteps } from "../../objects/large-maps.ts";
import { isDeeperThan } from "../../objects/nesting.ts";
import {
  bodyValuesMax,
  hasFewInJson,
  isLargeValue,
  rememberLarge,
  requireFewValues,
} from "../../objects/value-limit.ts";
import type { ResourcePlace } from "../requests/route.ts";
import { tellable } from "../requests/warnings.ts";
import type { AdmissionReview } from "./admission.ts";
import type { Webhook } from "./webhooks-match.ts";

/** The body that is posted. The objects in it are the request's own. */
export function reviewBody(review: AdmissionReview, uid: string, dialect: Dialect): JsonObject {
  const { dryRun, options, ...about } = requestOf(review, dialect);
  const { object = null, oldObject = null } = review;
  const request = { uid, ...about, object, oldObject, dryRun, options };
  const apiVersion = apiVersionInDialect(dialect, "admission.svc.io/v1");
  return { kind: "AdmissionReview", apiVersion, request } as unknown as JsonObject;
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

/** The reply, or why the body is none. Stops now and then where the patch is long. */
export function* replySteps(
  body: unknown,
  uid: string,
  dialect: Dialect,
  mutating: boolean,
): Generator<void, Reply | string> {
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
  const operations = patch === undefined || patch === "" ? undefined : yield* readPatch(patch);
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
    warnings: Array.isArray(warnings)
      ? tellable(warnings.filter((text): text is string => typeof text === "string"))
      : [],
  };
}

/** Of one word of an answer that makes no sense, as it is told back: whoever says more than this is told so much of it. */
const wordCharactersMax = 100_000;

/** What should be a text, as it came. */
const shown = (value: unknown): string =>
  beginning(typeof value === "string" ? value : value === undefined ? "" : encodeJson(value), wordCharactersMax);

const beginning = (text: string, charactersMax: number): string =>
  text.length <= charactersMax ? text : text.slice(0, charactersMax).toWellFormed();

/** Whether what an answer says is to be carried out in steps. */
export function isLongReply(body: unknown): boolean {
  const response = isObject(body) ? body["response"] : undefined;
  const patch = isObject(response) ? response["patch"] : undefined;
  return typeof patch === "string" && patch.length >= longPatchCharactersMin;
}

const longPatchCharactersMin = 128 * 1024;

/** The patch is a document in base64. */
function* readPatch(patch: unknown): Generator<void, readonly Json[] | string> {
  let text: string;
  try {
    text = atob(String(patch));
  } catch {
    return unreadablePatch; // no base64
  }
  yield;
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
  yield;
  if (!hasFewInJson(bytes)) return `response.patch has more than ${bodyValuesMax} values`;
  yield;
  const read = (yield* quickJsonSteps(bytes)) ?? (yield* readJsonSteps(bytes));
  if (!read.ok) return unreadablePatch;
  return Array.isArray(read.value) ? (read.value as Json[]) : "response.patch is not a list";
}

const unreadablePatch = "response.patch cannot be read";

/**
 * The object after a webhook's patch, read again by `decode`; says of `turn` whether it is large, and stops between its parts. Throws
 * 500, as the real server does for a patch that does not fit and for an object that is none of its kind any more.
 */
export function* patchedSteps(
  object: JsonObject,
  patch: readonly Json[],
  decode: (object: JsonObject) => Generator<void, JsonObject>,
  turn: { isLarge: boolean },
): Generator<void, JsonObject> {
  try {
    yield;
    const { operations } = readJsonPatch(patch as unknown as Json);
    yield;
    const document = applyJsonPatch(object, operations) as JsonObject;
    turn.isLarge ||= isLargeValue(document);
    yield;
    if (turn.isLarge) {
      requireFewValues(document);
      rememberLarge(document);
      yield;
      yield* largeMapSteps(document, object);
      yield;
    }
    const made = yield* decode(document);
    yield;
    return made;
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
  const text = why === "" ? `${deniedBy} without explanation` : `${deniedBy}: ${told(why)}`;
  const known = typeof code === "number" && code >= 400 && code <= 599 ? code : 400;
  const word = reason === "" ? undefined : told(reason);
  return new ApiError(known, word, text, isObject(details) ? toldDetails(details) : undefined);
}

const told = (value: Json): string =>
  beginning(typeof value === "string" ? value : encodeJson(value), toldCharactersMax);

/** Details as they came; of more than has room, what the published form knows, and so many causes. */
function toldDetails(details: JsonObject): JsonObject {
  if (!isDeeperThan(detailsDepthMax, details) && charactersLeft(details, toldCharactersMax) >= 0) return details;
  let left = toldCharactersMax;
  const kept: Record<string, Json> = {};
  for (const field of ["name", "group", "kind", "uid"]) {
    const { [field]: value } = details;
    if (typeof value === "string" && (left -= value.length) >= 0) kept[field] = value;
  }
  const { causes, retryAfterSeconds } = details;
  if (Array.isArray(causes)) {
    const flat = (causes as readonly Json[]).filter((cause) => !isDeeperThan(detailsDepthMax, cause));
    const end = flat.findIndex((cause) => (left = charactersLeft(cause, left)) < 0);
    kept["causes"] = end < 0 ? flat : flat.slice(0, end);
  }
  if (typeof retryAfterSeconds === "number") kept["retryAfterSeconds"] = retryAfterSeconds;
  return kept;
}

/** Of details that are told as they came. */
const detailsDepthMax = 100;

/** Of `room`, when a value has been written; below 0 as soon as there is too little. */
function charactersLeft(value: Json, room: number): number {
  let left = room;
  const open: Json[] = [value];
  for (let next = open.pop(); next !== undefined && left >= 0; next = open.pop()) {
    left -= typeof next === "string" ? next.length : scalarCharacters;
    if (typeof next !== "object" || next === null) continue;
    for (const [key, each] of Object.entries(next)) {
      left -= Array.isArray(next) ? 1 : key.length;
      open.push(each as Json);
    }
  }
  return left;
}

const scalarCharacters = 4;

/** What stands in an answer that is none. */
export function failureText(body: unknown): string {
  if (typeof body === "string") return beginning(body, wordCharactersMax);
  try {
    return beginning(JSON.stringify(body ?? ""), wordCharactersMax);
  } catch {
    return beginning(encodeJson(body), wordCharactersMax); // deeper than the engine goes
  }
}

export const failedCall = (webhook: Webhook, why: string): ApiError =>
  internal(`failed calling webhook ${goQuote(webhook.name)}: ${why}`);

function internal(why: string): ApiError {
  return new ApiError(500, "InternalError", `Internal error occurred: ${why}`, { causes: [{ message: why }] });
}
