/**
 * From a body to a draft: read, recognised, walked, defaulted. What the types do not know is dropped, and reported as
 * the request's level of field validation says. Errors are `ApiError`s with the observed texts.
 * Source: document 1, field validation of request bodies; the facts, section 4; recorded answers (01, 06).
 */
import { apiVersionFromDialect, apiVersionInDialect, type Dialect } from "../../wire/dialect.ts";
import { encodeJson, goQuote } from "../../wire/go-strings.ts";
import { joinGroupVersion } from "../../wire/resources.ts";
import { structOfKind } from "../../wire/schema.ts";
import { badRequest, invalid, type ApiError } from "../contract/errors.ts";
import type { Json, JsonObject } from "../contract/http-message.ts";
import { invalidValue } from "./causes.ts";
import { type Draft, type FieldValidation, isObject, type Target } from "../contract/objects.ts";
import { strictProblems } from "./strict-problems.ts";
import { jsonReadings, readJsonBody } from "./json-body.ts";
import { isLargeObject, requireFewValues, valuesMax } from "./value-limit.ts";
import type { WalkedAhead } from "./walk-ahead.ts";
import { describe, WalkContext } from "./walk-context.ts";
import { walkOfStruct } from "./walker.ts";
import { readYamlBody } from "./yaml-body.ts";

export type BodyFormat = "json" | "yaml";

export interface Decoded {
  readonly draft: Draft;
  /** Texts for Warning headers, in order; empty unless the level is Warn. */
  readonly warnings: readonly string[];
}

/**
 * Decodes a body for `target`. A missing kind or apiVersion is the endpoint's. Throws `ApiError` 400.
 * An object handed over in process is copied, never kept, but for parts of it that are `previous`'s own, which is frozen and of
 * this type.
 */
export function decodeObject(
  body: Uint8Array | JsonObject | undefined,
  format: BodyFormat,
  target: Target,
  level: FieldValidation,
  previous?: JsonObject,
): Decoded {
  const { draft, warnings } = walkRead(readBody(body, format, target), body, target, level, previous);
  return { draft: finishDraft(draft, target), warnings };
}

/**
 * The same for a body that has been read, but for the names and defaults of its kind: those are for `finishDraft`. `ahead`: what has been
 * walked of it before.
 */
export function walkRead(
  read: ReadBody,
  body: Uint8Array | JsonObject | undefined,
  target: Target,
  level: FieldValidation,
  previous?: JsonObject,
  ahead?: WalkedAhead,
): Decoded {
  const gvk = recognise(read, target, body);
  const context = new WalkContext();
  context.ahead = ahead;
  context.isLarge =
    body instanceof Uint8Array ? body.length > largeBytesMin : body !== undefined && isLargeObject(body);
  const draft = walkOfStruct(target.type)(read.value, context, previous) as Draft;
  if (context.error !== undefined) throw unhandled(gvk, target, context.error);
  const strict = target.type.custom ? strictErrors(read, context) : strictErrorsInOrder(read, context, body, target);
  if (strict.length > 0 && level === "Strict") {
    throw unhandled(gvk, target, `strict decoding error: ${strictText(read, strict)}`);
  }
  return { draft, warnings: level === "Warn" ? strict : none };
}

/** A smaller body has no map so large that its keys are better listed at once. */
const largeBytesMin = 64 * 1024;

const none: readonly string[] = Object.freeze([]);

/** More are not told. */
const unknownMax = 100;

function strictErrors({ duplicates }: ReadBody, { unknown }: WalkContext): readonly string[] {
  if (unknown.length === 0) return duplicates;
  return [...duplicates, ...unknown.slice(0, unknownMax).map((path) => `unknown field ${goQuote(path)}`)];
}

/** JSON tells of both as they come in the text, and looks at nothing inside what it does not know. */
function strictErrorsInOrder(
  read: ReadBody,
  context: WalkContext,
  body: Uint8Array | JsonObject | undefined,
  { type }: Target,
): readonly string[] {
  if (read.yaml || read.duplicates.length === 0 || !(body instanceof Uint8Array)) return strictErrors(read, context);
  return strictProblems(body, type, context.unknown);
}

/** A body as a value, of whatever kind. */
export interface ReadBody {
  readonly value: unknown;
  /** Ready texts. */
  readonly duplicates: readonly string[];
  readonly yaml: boolean;
}

/** The reader of YAML reports its duplicates as one error of several lines. */
function strictText({ duplicates, yaml }: ReadBody, strict: readonly string[]): string {
  if (!yaml || duplicates.length === 0) return strict.join(", ");
  const lines = duplicates.map((text) => `\n  ${text}`).join("");
  return [`yaml: unmarshal errors:${lines}`, ...strict.slice(duplicates.length)].join(", ");
}

/** Reads a body. Throws `ApiError` 400 or 413. */
export function readBody(body: Uint8Array | JsonObject | undefined, format: BodyFormat, target: Target): ReadBody {
  if (body !== undefined && !(body instanceof Uint8Array)) return { value: body, duplicates: none, yaml: false };
  const bytes = body ?? noBytes;
  if (format === "yaml") {
    const read = readYamlBody(bytes);
    if (!read.ok) throw unrecognised(target, read.error, bytes);
    requireFewValues(read.value);
    return { value: read.value, duplicates: read.duplicates, yaml: true };
  }
  const { read, hasFew } = readJsonBody(bytes, jsonReadings.objects(target.type.custom === true));
  if (!read.ok) throw unrecognised(target, `couldn't get version/kind; json parse error: ${read.error}`, bytes);
  if (!hasFew && bytes.length > manyBytesMin) requireFewValues(read.value);
  return { value: read.value, duplicates: read.duplicates.map(duplicateText), yaml: false };
}

/** Of fewer bytes there are not too many values. */
const manyBytesMin = 2 * valuesMax;
const noBytes = new Uint8Array(0);
const lenient = new TextDecoder();

export const duplicateText = (path: string): string => `duplicate field ${goQuote(path)}`;

interface GroupVersionKind {
  readonly kind: string;
  /** Without the group. */
  readonly version: string;
}

/** Which kind the body says it is; refused unless it is the endpoint's. */
function recognise(read: ReadBody, target: Target, body: Uint8Array | JsonObject | undefined): GroupVersionKind {
  const bytes = body instanceof Uint8Array ? body : noBytes;
  const { value } = read;
  if (value !== null && !isObject(value)) {
    throw unrecognised(target, `couldn't get version/kind; json parse error: ${notAnObject(value)}`, bytes);
  }
  const sentKind = stringField(value, "kind", target, bytes);
  if (target.type.custom && sentKind === "") {
    const body = bytes.length > 0 ? lenient.decode(bytes) : encodeJson(value);
    throw unrecognised(target, `Object 'Kind' is missing in '${body}'`, bytes);
  }
  const kind = sentKind || target.kind;
  const { expected } = knownOf(target);
  const sent = stringField(value, "apiVersion", target, bytes);
  const apiVersion = sent === "" ? expected : apiVersionFromDialect(target.dialect, sent);
  const gvk = { kind, version: apiVersion.slice(apiVersion.lastIndexOf("/") + 1) };
  if (target.type.custom) requireCustomKind(kind, sent, target, value);
  else if (kind !== target.kind || (apiVersion !== expected && target.alsoRead?.includes(apiVersion) !== true))
    refuseKind(gvk, apiVersion, target);
  return gvk;
}

function notAnObject(value: unknown): string {
  const found = describe(value);
  return `json: cannot unmarshal ${found} into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`;
}

/** Throws 400 for what is no text; nothing is "". */
export function stringField(
  value: JsonObject | null,
  field: string,
  target: Pick<Target, "kind">,
  bytes: Uint8Array,
): string {
  const text = value !== null && Object.hasOwn(value, field) ? value[field] : undefined;
  if (text === undefined || text === null) return "";
  if (typeof text === "string") return text;
  const found = describe(text);
  const error = `json: cannot unmarshal ${found} into Go struct field .${field} of type string`;
  throw unrecognised(target, `couldn't get version/kind; json parse error: ${error}`, bytes);
}

/** A custom resource's kind is judged as a field; its version is not. */
function requireCustomKind(kind: string, apiVersion: string, target: Target, value: JsonObject | null): void {
  const expected = apiVersionInDialect(target.dialect, joinGroupVersion(target.group, target.version));
  if (apiVersion !== expected) {
    throw badRequest(
      `the API version in the data (${apiVersion}) does not match the expected API version (${expected})`,
    );
  }
  if (kind === target.kind) return;
  const name = isObject(value?.["metadata"]) ? value["metadata"]["name"] : undefined;
  const group = expected.slice(0, expected.lastIndexOf("/"));
  throw invalid(target.kind, group, typeof name === "string" ? name : "", [
    invalidValue("kind", kind, `must be ${target.kind}`),
  ]);
}

/** The observed server names its own source. */
const schemeFolder = ({ name }: Dialect): string => (name === "kubernetes" ? "k8s.io/kubernetes/" : "");

function refuseKind(gvk: GroupVersionKind, apiVersion: string, target: Target): never {
  const { dialect } = target;
  if (structOfKind(apiVersion, gvk.kind) === undefined) {
    const error = `no kind ${goQuote(gvk.kind)} is registered for version ${goQuote(apiVersionInDialect(dialect, apiVersion))} in scheme "${schemeFolder(dialect)}pkg/api/legacyscheme/scheme.go:30"`;
    throw unhandled(gvk, target, error);
  }
  if (gvk.kind === target.kind) {
    const expected = apiVersionInDialect(dialect, joinGroupVersion(target.group, target.version));
    throw badRequest(
      `the API version in the data (${apiVersionInDialect(dialect, apiVersion)}) does not match the expected API version (${expected})`,
    );
  }
  const error = `converting (${gvk.version}.${gvk.kind}) to (${packageOf(target.group)}.${target.kind}): unknown conversion`;
  throw unhandled(gvk, target, error);
}

/** The Go package of a group's own types: the first word of its name. */
const packageOf = (group: string): string => (group === "" ? "core" : (group.split(".", 1)[0] as string));

/** 400 for a body whose kind is known and whose content is not to be read. */
export function unhandled({ kind, version }: GroupVersionKind, target: Target, error: string): ApiError {
  return badRequest(`${kind} in version ${goQuote(version)} cannot be handled as a ${target.kind}: ${error}`);
}

/** 400 for a body that does not even say what it is. */
export function unrecognised(target: Pick<Target, "kind">, error: string, bytes: Uint8Array): ApiError {
  return badRequest(
    `the object provided is unrecognized (must be of type ${target.kind}): ${error} (${summary(bytes)})`,
  );
}

const summaryMax = 30;

/** The beginning of a body: as text when it looks like JSON, else in hex. */
function summary(bytes: Uint8Array): string {
  if (bytes.length === 0) return "<empty>";
  const head = bytes.subarray(0, summaryMax);
  const text =
    bytes[0] === 123 ? lenient.decode(head) : Array.from(head, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return bytes.length > summaryMax ? `${text} ...` : text;
}

/** Names the kind as the server spells it, and fills in the kind's defaults. */
export function finishDraft(draft: Draft, target: Target): Draft {
  const { apiVersion } = knownOf(target);
  let named = draft;
  if (draft["kind"] === undefined || draft["apiVersion"] === undefined || Object.isFrozen(draft)) {
    named = { kind: target.kind as Json, apiVersion, ...draft };
  }
  named["kind"] = target.kind;
  named["apiVersion"] = apiVersion;
  target.defaults?.(named, target.dialect);
  return named;
}

/** What follows from a target, and is needed for every body. */
interface Known {
  /** Group and version in the `svc` dialect. */
  readonly expected: string;
  /** The same as clients spell it. */
  readonly apiVersion: string;
}

const known = new WeakMap<Target, Known>();

function knownOf(target: Target): Known {
  let found = known.get(target);
  if (found === undefined) {
    const { group, version, dialect } = target;
    const expected = joinGroupVersion(group, version);
    const apiVersion = apiVersionInDialect(dialect, expected);
    known.set(target, (found = { expected, apiVersion }));
  }
  return found;
}
