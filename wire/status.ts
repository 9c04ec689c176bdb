/**
 * The Status object: the words of its reasons and causes, and a strict look at whether a body is one.
 * Source: the facts, section 1.
 */

/** `reason` of a Status, with the code it comes with. `Gone` is legacy: 410 says `Expired` today. */
export const reasonCodes = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  AlreadyExists: 409,
  Conflict: 409,
  Expired: 410,
  Gone: 410,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  ServerTimeout: 500,
  StorageReadError: 500,
  ServiceUnavailable: 503,
  Timeout: 504,
} as const;

export type StatusReason = keyof typeof reasonCodes;

/** `reason` of one of a Status's causes. */
export const causeReasons = [
  "FieldValueNotFound",
  "FieldValueRequired",
  "FieldValueDuplicate",
  "FieldValueInvalid",
  "FieldValueNotSupported",
  "FieldValueForbidden",
  "FieldValueTooLong",
  "FieldValueTooMany",
  "FieldValueTypeInvalid",
  "InternalError",
  "UnexpectedServerResponse",
  "FieldManagerConflict",
  "ResourceVersionTooLarge",
  "NamespaceTerminating",
  "DisruptionBudget",
] as const;

export type CauseReason = (typeof causeReasons)[number];

export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

export interface StatusDetails {
  readonly name?: string;
  readonly group?: string;
  /** The plural of the resource; the Kind in a 422 `Invalid` and in a failed precondition of a deletion. */
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

export interface Status {
  readonly kind: "Status";
  readonly apiVersion: "v1";
  readonly metadata: { readonly continue?: string; readonly resourceVersion?: string };
  readonly status?: "Success" | "Failure";
  readonly message?: string;
  /** One of `reasonCodes`, or a word that this table does not know; absent where the server has no reason. */
  readonly reason?: string;
  readonly details?: StatusDetails;
  /** Absent from the Status that answers a deletion. */
  readonly code?: number;
}

/** The first thing that keeps `value` from being a Status, as `path: rule`; undefined for a Status. */
export function statusDefect(value: unknown): string | undefined {
  if (!isObject(value)) return ". must be an object";
  if (value["kind"] !== "Status") return ".kind must be Status";
  if (value["apiVersion"] !== "v1") return ".apiVersion must be v1";
  if (!isObject(value["metadata"])) return ".metadata must be an object";
  if (value["status"] !== undefined && value["status"] !== "Success" && value["status"] !== "Failure") {
    return ".status must be Success or Failure";
  }
  const details = value["details"];
  if (details !== undefined && !isObject(details)) return ".details must be an object";
  return (
    textDefect(value, "", ["message", "reason"]) ??
    integerDefect(value, "", "code", 100, 599) ??
    (details === undefined ? undefined : detailsDefect(details))
  );
}

export function isStatus(value: unknown): value is Status {
  return statusDefect(value) === undefined;
}

/** True for a failure with that reason and the code that belongs to it. */
export function isFailure(value: unknown, reason: StatusReason): value is Status {
  return isStatus(value) && value.status === "Failure" && value.reason === reason && value.code === reasonCodes[reason];
}

function detailsDefect(details: Readonly<Record<string, unknown>>): string | undefined {
  const own =
    textDefect(details, ".details", ["name", "group", "kind", "uid"]) ??
    integerDefect(details, ".details", "retryAfterSeconds", 0, 2 ** 31 - 1);
  const causes = details["causes"];
  if (own !== undefined || causes === undefined) return own;
  if (!Array.isArray(causes)) return ".details.causes must be a list";
  for (const [at, cause] of causes.entries()) {
    const path = `.details.causes[${at}]`;
    if (!isObject(cause)) return `${path} must be an object`;
    const defect = textDefect(cause, path, ["reason", "message", "field"]);
    if (defect !== undefined) return defect;
  }
  return undefined;
}

function textDefect(
  value: Readonly<Record<string, unknown>>,
  path: string,
  names: readonly string[],
): string | undefined {
  const bad = names.find((name) => value[name] !== undefined && typeof value[name] !== "string");
  return bad === undefined ? undefined : `${path}.${bad} must be a string`;
}

function integerDefect(
  value: Readonly<Record<string, unknown>>,
  path: string,
  name: string,
  min: number,
  max: number,
): string | undefined {
  const number = value[name];
  if (number === undefined) return undefined;
  const fits = Number.isInteger(number) && (number as number) >= min && (number as number) <= max;
  return fits ? undefined : `${path}.${name} must be an integer from ${min} to ${max}`;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
