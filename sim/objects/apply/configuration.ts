/**
 * From the body of an application to a configuration: YAML, which JSON is too, or CBOR.
 * Source: document 1, Updates 2; the facts, section 4; recorded answers (06: apply-duplicate-*).
 */
import { CborError, decodeCbor } from "../../../wire/cbor.ts";
import { type JsonDocument, type JsonSyntaxError, readJsonSteps } from "../../../wire/json-reader.ts";
import { parseJsonStrict, quickJsonSteps } from "../../../wire/json-scan.ts";
import { drained } from "../../../wire/steps.ts";
import { type ApiError, badRequest } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { isObject } from "../../contract/objects.ts";
import { valuesOf } from "../members.ts";
import { requireFewInJson, requireFewValues, bodyValuesMax } from "../value-limit.ts";
import { depthMax } from "../walk-context.ts";
import { readYamlBody, type YamlBody, yamlBodySteps } from "../yaml-body.ts";

export interface Configuration {
  readonly value: JsonObject;
  /** Whole texts: `line 7: key "k" already set in map`. */
  readonly duplicates: readonly string[];
}

const none: readonly string[] = [];
const openingBrace = 123;
const backslash = 92; // some escapes of JSON are none of YAML

/** Reads a configuration. Throws `ApiError` 400. An object handed over in process is taken as it is. */
export function readConfiguration(body: Uint8Array | JsonObject | undefined, format: "yaml" | "cbor"): Configuration {
  if (body === undefined) return { value: {}, duplicates: none };
  if (!(body instanceof Uint8Array)) return { value: shallow(body, format), duplicates: none };
  const { value, duplicates } = format === "cbor" ? { value: readCbor(body), duplicates: none } : readYaml(body);
  if (value === null || value === undefined) return { value: {}, duplicates };
  if (isObject(value)) return { value: shallow(value, format), duplicates };
  const found = Array.isArray(value) ? "array" : typeof value === "boolean" ? "bool" : typeof value;
  const error = `json: cannot unmarshal ${found} into Go value of type map[string]interface {}`;
  throw badRequest(
    format === "cbor"
      ? `error decoding CBOR: ${error}`
      : `error decoding YAML: error unmarshaling JSON: while decoding JSON: ${error}`,
  );
}

/** Refuses what is nested too deep for anything that is stored. */
function shallow(value: JsonObject, format: "yaml" | "cbor"): JsonObject {
  let level: object[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth === depthMax) throw tooDeep(format);
    level = level.flatMap((each) => valuesOf(each).filter(isContainer));
  }
  return value;
}

const isContainer = (value: unknown): value is object => typeof value === "object" && value !== null;

const tooDeep = (format: "yaml" | "cbor"): ApiError =>
  badRequest(
    format === "cbor"
      ? "error decoding CBOR: exceeded max depth"
      : "error decoding YAML: error converting YAML to JSON: yaml: exceeded max depth",
  );

function readCbor(body: Uint8Array): unknown {
  try {
    return decodeCbor(body, bodyValuesMax);
  } catch (error) {
    throw error instanceof CborError ? badRequest(`error decoding CBOR: ${error.message}`) : error;
  }
}

interface Document {
  readonly value: unknown;
  readonly duplicates: readonly string[];
}

/** Bodies that were read in steps. */
const readings = new WeakMap<Uint8Array, Document>();

const readYaml = (body: Uint8Array): Document =>
  readings.get(body) ?? readQuickly(body) ?? drained(yamlDocumentSteps(readYamlBody(body)));

/** Throws `ApiError` for what is no YAML, or too much. */
function* yamlDocumentSteps(read: YamlBody): Generator<void, Document> {
  if (!read.ok) throw badRequest(`error decoding YAML: error converting YAML to JSON: ${read.error}`);
  requireFewValues(read.value);
  yield;
  return { value: asFloats(read.value), duplicates: read.duplicates };
}

/** JSON without surprises needs no YAML reader, which is much slower. Undefined: it does need it. */
const readQuickly = (body: Uint8Array): Document | undefined =>
  body[0] === openingBrace ? quickOf(parseJsonStrict(body), body) : undefined;

/** Throws `ApiError` for what is too deep. */
function quickOf(read: JsonDocument | JsonSyntaxError, body: Uint8Array): Document | undefined {
  if (!read.ok && read.error.endsWith("exceeded max depth")) throw tooDeep("yaml");
  if (!read.ok) return undefined;
  const { value, duplicates, unsafeNumbers } = read;
  const isPlain = duplicates.length === 0 && !unsafeNumbers && !body.includes(backslash);
  return isPlain ? { value, duplicates: none } : undefined;
}

/** Reads the YAML of a configuration in steps, for whoever calls `readConfiguration` with it afterwards. Throws `ApiError`. */
export function* configurationSteps(body: Uint8Array): Generator<void, void> {
  if (body[0] === openingBrace) {
    requireFewInJson(body);
    yield;
    const document = yield* quickJsonSteps(body);
    yield;
    const read = document ?? (yield* readJsonSteps(body));
    yield;
    const quick = quickOf(read, body);
    if (quick !== undefined) {
      readings.set(body, quick);
      return;
    }
    yield;
  }
  yield* yamlBodySteps(body);
  yield;
  readings.set(body, yield* yamlDocumentSteps(readYamlBody(body)));
}

/** Integers that no double holds are rounded, as the server's reader does; in the document itself, which is the reader's own. */
function asFloats(root: unknown): unknown {
  if (typeof root === "bigint") return Number(root);
  const open: unknown[] = [root];
  while (open.length > 0) {
    const container = open.pop();
    if (!isContainer(container)) continue;
    for (const key of Object.keys(container)) {
      const value = (container as Readonly<Record<string, unknown>>)[key];
      if (typeof value === "bigint") Reflect.defineProperty(container, key, { ...plain, value: Number(value) });
      else if (isContainer(value)) open.push(value);
    }
  }
  return root;
}

/** A property as an assignment makes it, of whatever name. */
const plain = { writable: true, enumerable: true, configurable: true };
