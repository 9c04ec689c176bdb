/**
 * Patches end to end: the body of a PATCH is read, applied to the stored object, and the result decoded as a body
 * would be. What the patch left alone is kept, not copied.
 * Source: the facts, section 4, Patch and Field validation; recorded answers (05, 06).
 */
import { drained } from "../../wire/steps.ts";
import { sortByBytes, encodeJson, goQuote } from "../../wire/go-strings.ts";
import type { TypeRow } from "../../wire/schema.ts";
import { type ApiError, badRequest, invalid } from "../contract/errors.ts";
import type { Json, JsonObject } from "../contract/http-message.ts";
import { inTurns } from "../expressions/pace.ts";
import { type Decoded, duplicateText, finishDraft } from "./decode.ts";
import { goValue } from "./go-values.ts";
import { applyJsonPatch, PatchFailure, readJsonPatch, rejectedPatch } from "./json-patch.ts";
import { applyMergePatch } from "./merge-patch.ts";
import { sortedJson } from "./sorted-json.ts";
import { applyStrategicMerge } from "./strategic-merge.ts";
import { type Draft, type FieldValidation, isObject, type Target } from "../contract/objects.ts";
import { largeMapSteps } from "./large-maps.ts";
import { isDeeperThan } from "./nesting.ts";
import { jsonReadings, readJsonBody } from "./json-body.ts";
import { isLargeObject, requireFewValues } from "./value-limit.ts";
import type { WalkedAhead } from "./walk-ahead.ts";
import { depthMax, UnstructuredContext, WalkContext } from "./walk-context.ts";
import { walkOfStruct } from "./walker.ts";

/** A patch that has been read once and can be applied again and again, as a write that lost a race needs. */
export interface Patch {
  /** Duplicates and unknown members of the patch itself, as texts. */
  readonly problems: readonly string[];
  /** So much that what it is applied to may come to have too many values. */
  readonly isLarge: boolean;
  /** The patched document; shares what it did not change. Throws `ApiError` 422. */
  readonly apply: (document: JsonObject) => Json;
  /** Of a strategic merge patch a refusal shows the patch, not the document, and names types in other words. */
  readonly strategic?: JsonObject;
}

export interface PatchDecoding {
  readonly level: FieldValidation;
  /** Status of a refusal at level Strict: 400 by the documents, 422 as observed. */
  readonly strictStatus: 400 | 422;
}

/** Reads a JSON merge patch. Throws `ApiError` 400. */
export function readMergePatchBody(body: Uint8Array | JsonObject | undefined): Patch {
  const { value, duplicates } = readBody(body);
  if (!isObject(value)) {
    const error = `json: cannot unmarshal ${jsonType(value)} into Go value of type map[string]interface {}`;
    throw badRequest(`error decoding patch: ${error}`);
  }
  return {
    isLarge: isLarge(body),
    problems: duplicates.map(duplicateText),
    apply: (document) => applyMergePatch(document, value),
  };
}

/** Reads a strategic merge patch for a type. Throws `ApiError` 400. */
export function readStrategicPatchBody(body: Uint8Array | JsonObject | undefined, type: TypeRow): Patch {
  const { value, duplicates } = readBody(body, "");
  if (!isObject(value)) {
    throw badRequest(`json: cannot unmarshal ${jsonType(value)} into Go value of type map[string]interface {}`);
  }
  return {
    isLarge: isLarge(body),
    problems: duplicates.map(duplicateText),
    apply: (document) => applyStrategicMerge(document, value, type),
    strategic: value,
  };
}

/** Reads a JSON Patch, by its RFC or as loosely as the observed server. Throws `ApiError`: 400 for no list of objects, 413 for too many, 422 for operations without sense. */
export function readJsonPatchBody(body: Uint8Array | readonly Json[] | JsonObject | undefined, isLoose = false): Patch {
  const { value, duplicates } = readBody(body);
  const { operations, unknown } = rejecting(() => readJsonPatch(value as Json, isLoose));
  return {
    isLarge: isLarge(body),
    problems: [
      ...duplicates.map((path) => `json patch ${duplicateText(path)}`),
      ...unknown.map((path) => `json patch unknown field ${goQuote(path)}`),
    ],
    apply: (document) => rejecting(() => applyJsonPatch(document, operations, isLoose)),
  };
}

function rejecting<Result>(attempt: () => Result): Result {
  try {
    return attempt();
  } catch (error) {
    throw error instanceof PatchFailure ? rejectedPatch() : error;
  }
}

function readBody(
  body: Uint8Array | readonly Json[] | JsonObject | undefined,
  errorPrefix = "error decoding patch: ",
): { readonly value: unknown; readonly duplicates: readonly string[] } {
  if (body !== undefined && !(body instanceof Uint8Array)) return { value: body, duplicates: [] };
  const bytes = body ?? new Uint8Array(0);
  const { read } = readJsonBody(bytes, jsonReadings.plainly);
  if (!read.ok) throw badRequest(`${errorPrefix}${read.error}`);
  if (isDeeperThan(depthMax, read.value)) throw badRequest(`${errorPrefix}exceeded max depth`);
  return read;
}

const largeBytesMin = 32 * 1024;
const isLarge = (body: unknown): boolean => body instanceof Uint8Array && body.length >= largeBytesMin;

const jsonType = (value: unknown): string =>
  Array.isArray(value) ? "array" : value === null ? "null" : typeof value === "boolean" ? "bool" : typeof value;

/** `live` with `patch`: the document that `decodePatched` takes. Throws `ApiError`, 413 for too many values. */
export function* patchSteps(patch: Patch, live: JsonObject): Generator<void, Json> {
  const document = yield* inTurns(() => patch.apply(live));
  yield;
  if (!patch.isLarge && !isLargeObject(live)) return document;
  requireFewValues(document, live);
  yield;
  yield* largeMapSteps(document, live);
  return document;
}

/**
 * Applies `patch` to `live` and decodes the result as `target`. `live` is the stored object in this version; what is
 * unchanged in the result is `live`'s own. Throws `ApiError`. `document`: what `patchSteps` has made of the two; `ahead`: what has been walked of it before.
 */
export function decodePatched(
  patch: Patch,
  live: JsonObject,
  target: Target,
  options: PatchDecoding,
  document = drained(patchSteps(patch, live)),
  ahead?: WalkedAhead,
): Decoded {
  const context = patch.strategic === undefined ? new WalkContext() : new UnstructuredContext();
  context.ahead = ahead;
  context.isLarge = patch.isLarge || isLargeObject(live);
  const draft = walkOfStruct(target.type)(document ?? {}, context, live) as Draft;
  const refused = (error: string, status: number): ApiError => refusal(patch, document, error, status);
  if (context.error !== undefined) throw refused(context.error, 422);
  const unknown = context.unknown.map((path) => `unknown field ${goQuote(path)}`);
  if (patch.strategic !== undefined) sortByBytes(unknown);
  const strict = [...patch.problems, ...unknown];
  if (strict.length > 0 && options.level === "Strict") {
    throw refused(`strict decoding error: ${strict.join(", ")}`, options.strictStatus);
  }
  for (const field of ["kind", "apiVersion"]) {
    if ((draft[field] ?? live[field]) !== live[field]) throw refused(`${field} cannot be changed`, 422);
  }
  return { draft: finishDraft(draft, target), warnings: options.level === "Warn" ? strict : [] };
}

function refusal(patch: Patch, document: Json, error: string, status: number): ApiError {
  // Objects that the patch went into come out with their keys sorted, the others as the server writes them.
  const shown =
    patch.strategic === undefined ? encodeJson(sortedJson(document, Object.isFrozen)) : goValue(patch.strategic);
  const message = `Invalid value: ${goQuote(shown)}: ${error}`;
  return invalid("", "", "", [{ reason: "FieldValueInvalid", message, field: "patch" }], status);
}
