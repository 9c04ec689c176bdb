/**
 * Every error a client can meet, as a Status object and its code. Thrown inside the server, turned into a
 * response in one place. Shapes and texts: the facts, section 1; reasons are the wire's.
 */
import type { JsonObject } from "./http-message.ts";

export interface Cause {
  readonly reason: string;
  readonly message: string;
  readonly field?: string;
}

/**
 * Of the texts of causes, or of what else is told of one body; one more may be told. Simplification: the real server tells all, in
 * an answer that can be thousands of times as long as the request.
 */
export const toldCharactersMax = 1_000_000;

/** As many of the texts as may be told. */
export function toldOf(texts: readonly string[]): readonly string[] {
  let charactersLeft = toldCharactersMax;
  const last = texts.findIndex((text) => (charactersLeft -= text.length) < 0);
  return last < 0 ? texts : texts.slice(0, last + 1);
}

/** A resource as errors name it: the plural and its group, in the dialect ("" for the core group). */
export interface ResourceName {
  readonly group: string;
  readonly resource: string;
}

export class ApiError extends Error {
  readonly code: number;
  readonly status: JsonObject;
  /** Seconds for a Retry-After header; the same number is in the Status. */
  readonly retryAfterSeconds: number | undefined;
  /** The same error with other words for its causes, where these are what it says. */
  retold: ((reword: (causes: readonly Cause[]) => readonly Cause[]) => ApiError) | undefined;

  constructor(
    code: number,
    reason: string | undefined,
    message: string,
    details?: JsonObject,
    metadata: JsonObject = {},
  ) {
    // It is an answer, and nobody looks at its stack, which would cost more than all the rest of it.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
    this.code = code;
    const retryAfterSeconds = details?.["retryAfterSeconds"];
    // Details may be a webhook's, and this becomes a header.
    this.retryAfterSeconds = typeof retryAfterSeconds === "number" ? retryAfterSeconds : undefined;
    this.status = {
      kind: "Status",
      apiVersion: "v1",
      metadata,
      status: "Failure",
      message,
      ...(reason === undefined ? {} : { reason }),
      ...(details === undefined ? {} : { details }),
      code,
    };
  }
}

/** The body of such an answer, for whoever stands in front of a server and refuses in its place. */
export const failureStatus = (code: number, reason: string, message: string, details?: JsonObject): JsonObject =>
  new ApiError(code, reason, message, details).status;

const qualified = ({ group, resource }: ResourceName): string => (group === "" ? resource : `${resource}.${group}`);

const named = ({ group, resource }: ResourceName, name: string): JsonObject => compact({ name, group, kind: resource });

/** Drops empty strings, as the wire omits them. */
function compact(fields: Record<string, JsonObject[string] | undefined>): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== ""),
  ) as JsonObject;
}

export const badRequest = (message: string): ApiError => new ApiError(400, "BadRequest", message);

export const unauthorized = (): ApiError => new ApiError(401, "Unauthorized", "Unauthorized");

export const notFound = (resource: ResourceName, name: string): ApiError =>
  new ApiError(404, "NotFound", `${qualified(resource)} "${name}" not found`, named(resource, name));

/** A path inside a served group and version that names no resource. */
export const noSuchResource = (): ApiError =>
  new ApiError(404, "NotFound", "the server could not find the requested resource", {});

export const methodNotAllowed = (): ApiError =>
  new ApiError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {});

export const alreadyExists = (resource: ResourceName, name: string, deleting = false): ApiError =>
  new ApiError(
    409,
    "AlreadyExists",
    `${deleting ? "object is being deleted: " : ""}${qualified(resource)} "${name}" already exists`,
    named(resource, name),
  );

export const generateNameExhausted = (resource: ResourceName, name: string): ApiError =>
  new ApiError(
    409,
    "AlreadyExists",
    `${qualified(resource)} "${name}" already exists, the server was not able to generate a unique name for the object`,
    { ...named(resource, name), retryAfterSeconds: 1 },
  );

/** `detail` follows `Operation cannot be fulfilled on … "name": `. */
export const conflict = (resource: ResourceName, name: string, detail: string): ApiError =>
  new ApiError(
    409,
    "Conflict",
    `Operation cannot be fulfilled on ${qualified(resource)} "${name}": ${detail}`,
    named(resource, name),
  );

export const staleVersion = (resource: ResourceName, name: string): ApiError =>
  conflict(
    resource,
    name,
    "the object has been modified; please apply your changes to the latest version and try again",
  );

/** All reasons why a conflict is no stale version keep the same reason word. */
export const forbidden = (resource: ResourceName, name: string, detail: string, causes?: readonly Cause[]): ApiError =>
  new ApiError(403, "Forbidden", `${qualified(resource)}${name === "" ? "" : ` "${name}"`} is forbidden: ${detail}`, {
    ...named(resource, name),
    ...(causes === undefined ? {} : { causes: causes as unknown as JsonObject[string] }),
  });

/** 422 with every cause; `kind` and `group` in the dialect. One error stands plain, several in brackets, duplicates once. */
export function invalid(kind: string, group: string, name: string, causes: readonly Cause[], code = 422): ApiError {
  const texts = [
    ...new Set(causes.map((cause) => (cause.field === undefined ? cause.message : `${cause.field}: ${cause.message}`))),
  ];
  const list = texts.length === 1 ? texts[0] : `[${texts.join(", ")}]`;
  const subject = group === "" ? kind : `${kind}.${group}`;
  const error = new ApiError(
    code,
    code === 422 ? "Invalid" : "BadRequest",
    `${subject} "${name}" is invalid: ${list}`,
    {
      ...compact({ name, group, kind }),
      causes: causes as unknown as JsonObject[string],
    },
  );
  error.retold = (reword) => {
    const reworded = reword(causes);
    return reworded === causes ? error : invalid(kind, group, name, reworded, code);
  };
  return error;
}

/** 410. `reason` is Expired everywhere; a continue token that can be resumed comes in the metadata. */
export const expired = (message: string, metadata: JsonObject = {}): ApiError =>
  new ApiError(410, "Expired", message, undefined, metadata);

export const notAcceptable = (message: string, emptyDetails: boolean): ApiError =>
  new ApiError(406, "NotAcceptable", message, emptyDetails ? {} : undefined);

export const unsupportedMediaType = (message: string, emptyDetails: boolean): ApiError =>
  new ApiError(415, "UnsupportedMediaType", message, emptyDetails ? {} : undefined);

export const tooLarge = (message: string): ApiError => new ApiError(413, "RequestEntityTooLarge", message);

/** 504 for a version that the server has not reached. `retryAfterSeconds` 0 leaves the header out. */
export const tooLargeVersion = (requested: string, current: number, retryAfterSeconds = 1): ApiError =>
  new ApiError(504, "Timeout", `Timeout: Too large resource version: ${requested}, current: ${current}`, {
    causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }],
    ...(retryAfterSeconds === 0 ? {} : { retryAfterSeconds }),
  });

export const timeout = (message: string): ApiError => new ApiError(504, "Timeout", message, {});

/** 500 with the text of what went wrong, which clients are not meant to act on. */
export const internalError = (message: string): ApiError =>
  new ApiError(500, "InternalError", `Internal error occurred: ${message}`, { causes: [{ message }] });

/** An error that nothing mapped: 500 without a reason, the text bare. */
export const unmapped = (message: string): ApiError => new ApiError(500, undefined, message);
