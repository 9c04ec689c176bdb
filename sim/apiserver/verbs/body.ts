/** Request bodies on their way to objects: size, format, decoding, and what the decoder has to say. */
import { append } from "../../../wire/lists.ts";
import { drained } from "../../../wire/steps.ts";
import { badRequest } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { finishDraft, readBody, stringField, walkRead } from "../../objects/decode.ts";
import { type Draft, isObject } from "../../contract/objects.ts";
import { jsonReadings, readJsonBody } from "../../objects/json-body.ts";
import { largeMapSteps } from "../../objects/large-maps.ts";
import { requireFewValues } from "../../objects/value-limit.ts";
import { type WalkedAhead, walkAheadSteps } from "../../objects/walk-ahead.ts";
import { readYamlBody } from "../../objects/yaml-body.ts";
import { offerOf } from "../answers/negotiate.ts";
import type { Format } from "../encodings/encode.ts";
import { requireBodySize } from "../requests/body-size.ts";
import type { Run } from "../requests/run.ts";
import { protobufBodySteps, readCborBody, readProtobufOptions } from "../encodings/binary-bodies.ts";
import type { ServedResource } from "../catalogue/served-resource.ts";
import type { ServerContext } from "./server-context.ts";
import type { FieldValidation } from "./options.ts";

/** What of a request's body becomes an object, of which it may share parts with the present one, `previous`. */
interface Reading {
  readonly context: ServerContext;
  readonly run: Run;
  readonly resource: Pick<ServedResource, "target">;
  readonly level: FieldValidation;
  readonly previous?: JsonObject | undefined;
}

/**
 * Reads the body, decodes it as an object of the resource's kind, and goes on: in steps for a large request. Throws 400, 413 or 415;
 * warnings go to the response.
 */
export function decodeInSteps(reading: Reading, proceed: (draft: Draft) => void): void {
  const { run } = reading;
  run.steps(bodySteps(reading), (body) => decodeValue(reading, body, proceed));
}

function decodeValue(reading: Reading, body: BodyValue, proceed: (draft: Draft) => void): void {
  const { run } = reading;
  const { value, walk, finish } = decodingOf(reading, body);
  const decode = (ahead?: WalkedAhead): void => {
    const walked = walk(ahead);
    run.next(() => {
      requireFewDecoded(run, walked); // before there is more of it
      run.next(() => proceed(finish(walked)));
    });
  };
  run.next(() => {
    if (!run.isLarge) decode();
    else run.steps(aheadSteps(reading, value), (ahead) => run.next(() => decode(ahead)));
  });
}

function* aheadSteps({ resource, previous }: Reading, value: unknown): Generator<void, WalkedAhead> {
  yield* largeMapSteps(value, previous);
  return yield* walkAheadSteps(resource.target.type, value, previous);
}

interface BodyValue {
  readonly format: Format;
  /** In a binary format the object that its JSON would have been read as. */
  readonly value: Uint8Array | JsonObject | undefined;
}

function* bodySteps({ context, run, resource: { target } }: Reading): Generator<void, BodyValue> {
  const { body } = run.request;
  const format = bodyFormat(context, run);
  if (format === "protobuf") return { format, value: yield* protobufBodySteps(body as Uint8Array, target) };
  return { format, value: format === "cbor" ? readCborBody(body as Uint8Array, target) : body };
}

/** A body as a value, and the two halves of its way to an object: what its type says of it, and what the defaults of its kind add. */
interface Decoding {
  readonly value: unknown;
  readonly walk: (ahead?: WalkedAhead) => Draft;
  readonly finish: (walked: Draft) => Draft;
}

function decodingOf({ run, resource: { target }, level, previous }: Reading, { format, value }: BodyValue): Decoding {
  const read = readBody(value, format === "yaml" ? "yaml" : "json", target);
  const validation = format === "protobuf" ? "Ignore" : level;
  const walk = (ahead?: WalkedAhead): Draft => {
    const { draft, warnings } = walkRead(read, value, target, validation, previous, ahead);
    warn(run, warnings);
    return draft;
  };
  return { value: read.value, walk, finish: (walked) => finishDraft(walked, target) };
}

/** The same in one step. */
export function decodeBody(
  context: ServerContext,
  run: Run,
  resource: Pick<ServedResource, "target">,
  level: FieldValidation,
): Draft {
  const reading = { context, run, resource, level };
  const { walk, finish } = decodingOf(reading, drained(bodySteps(reading)));
  const draft = finish(walk());
  requireFewDecoded(run, draft);
  return draft;
}

/** Throws 413 for a large body that was decoded: defaults may be many times what was sent. `before`: what is stored. */
export function requireFewDecoded(run: Run, draft: Draft, before?: JsonObject): void {
  if (run.isLarge) requireFewValues(draft, before);
}

/** The body of a DELETE as an object; undefined when it is empty. Throws 400, 413, 415, or the observed 500. */
export function decodeDeleteOptions(context: ServerContext, run: Run): JsonObject | undefined {
  const { body } = run.request;
  requireBodySize(run);
  if (body === undefined || (body instanceof Uint8Array && body.length === 0)) return undefined;
  if (!(body instanceof Uint8Array)) return optionsOnly(body, noBytes);
  const format = bodyFormat(context, run);
  if (format === "protobuf") return readProtobufOptions(body);
  if (format === "cbor") return readCborBody(body, options);
  const text = format === "yaml" ? readYamlBody(body) : readJsonBody(body, jsonReadings.plainly).read;
  if (text.ok && isObject(text.value)) return optionsOnly(text.value, body);
  throw badRequest(
    `the object provided is unrecognized (must be of type DeleteOptions): ${text.ok ? "not an object" : text.error}`,
  );
}

/** Whoever sends something else does not mean to delete with it. */
function optionsOnly(body: JsonObject, bytes: Uint8Array): JsonObject {
  const [kind, apiVersion] = ["kind", "apiVersion"].map((field) => stringField(body, field, options, bytes));
  if (kind === "" || kind === "DeleteOptions") return body;
  const what = `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`;
  throw badRequest(`the object provided is unrecognized (must be of type DeleteOptions): ${what}`);
}

const options = { kind: "DeleteOptions" };
const noBytes = new Uint8Array(0);

/** A body handed over in process has no format of its own. Throws 415. */
function bodyFormat(context: ServerContext, run: Run): Format {
  const { body, headers } = run.request;
  return body instanceof Uint8Array ? context.negotiator.bodyFormat(headers["content-type"], offerOf(run)) : "json";
}

export function warn(run: Run, warnings: readonly string[]): void {
  if (warnings.length === 0) return;
  run.warnings ??= [];
  append(run.warnings, warnings);
}
