/** Bodies in JSON: read at once, or in steps before, where they are large. */
import type { JsonDocument, JsonReadOptions, JsonSyntaxError } from "../../wire/json-reader.ts";
import { readJson } from "../../wire/json-reader.ts";
import { parseJsonStrict, quickJsonSteps } from "../../wire/json-scan.ts";
import { hasFewInJson, hasFewValues, requireFewInJson } from "./value-limit.ts";

interface Reading {
  /** Undefined: only the exact reader can tell. */
  readonly document: JsonDocument | undefined;
  /** It was found to have no more values than an object may have. */
  readonly hasFew: boolean;
}

const readings = new WeakMap<Uint8Array, Reading>();

/** Reads a body in steps, for whoever calls `readJsonBody` with it afterwards. What is wrong with it is told there. */
export function* jsonBodySteps(body: Uint8Array): Generator<void, void> {
  if (!hasFewInJson(body)) return;
  yield;
  const document = yield* quickJsonSteps(body);
  yield;
  readings.set(body, { document, hasFew: document !== undefined && hasFewValues(document.value) });
}

/** A body as it was read in steps, once: what was read is the caller's. Throws 413 for too many values in the text. */
export function readJsonBody(
  body: Uint8Array,
  options: JsonReadOptions = {},
): { readonly read: JsonDocument | JsonSyntaxError; readonly hasFew: boolean } {
  const reading = readings.get(body);
  if (reading === undefined) {
    requireFewInJson(body);
    return { read: parseJsonStrict(body, options), hasFew: false };
  }
  readings.delete(body);
  return { read: reading.document ?? readJson(body, options), hasFew: reading.hasFew };
}
