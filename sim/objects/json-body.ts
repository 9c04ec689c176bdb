/** Bodies in JSON: read at once, or in steps before, where they are large. */
import {
  type JsonDocument,
  type JsonReadOptions,
  type JsonSyntaxError,
  readJsonSteps,
} from "../../wire/json-reader.ts";
import { parseJsonStrict, quickJsonSteps } from "../../wire/json-scan.ts";
import { hasFewInJson, hasFewValues, requireFewInJson } from "./value-limit.ts";

interface Reading {
  readonly read: JsonDocument | JsonSyntaxError;
  /** How it was read; undefined where that made no difference. */
  readonly options: JsonReadOptions | undefined;
  /** It was found to have no more values than an object may have. */
  readonly hasFew: boolean;
}

const readings = new WeakMap<Uint8Array, Reading>();

/** How a patch is read, and options of a deletion. */
const plainly: JsonReadOptions = {};
const builtIn: JsonReadOptions = { duplicateObjects: "merge", spelledNumbers: true };
const custom: JsonReadOptions = { duplicateObjects: "merge", spelledNumbers: false };

/** How JSON is read by whom it is for. */
export const jsonReadings = { plainly, objects: (isCustom: boolean) => (isCustom ? custom : builtIn) };

/** Reads a body in steps, for whoever calls `readJsonBody` with it afterwards, in the same way. What is wrong with it is told there. */
export function* jsonBodySteps(body: Uint8Array, options: JsonReadOptions): Generator<void, void> {
  if (!hasFewInJson(body)) return;
  yield;
  const quick = yield* quickJsonSteps(body);
  yield;
  const read = quick ?? (yield* readJsonSteps(body, options));
  yield;
  const hasFew = read.ok && hasFewValues(read.value);
  readings.set(body, { read, options: quick === undefined ? options : undefined, hasFew });
}

/** A body as it was read in steps, once: what was read is the caller's. Throws 413 for too many values in the text. */
export function readJsonBody(
  body: Uint8Array,
  options: JsonReadOptions,
): { readonly read: JsonDocument | JsonSyntaxError; readonly hasFew: boolean } {
  const reading = readings.get(body);
  readings.delete(body);
  if (reading !== undefined && (reading.options ?? options) === options) return reading;
  requireFewInJson(body);
  return { read: parseJsonStrict(body, options), hasFew: false };
}
