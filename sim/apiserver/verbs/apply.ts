/**
 * PATCH with an applied configuration: creates the object or merges into it, with an owner for every field. Computed
 * again when somebody else was faster.
 * Source: document 1, Updates 2 and 3; the facts, section 4, server-side apply.
 */
import { patchMediaTypes, withoutParameters } from "../../../wire/media-types.ts";
import { drained } from "../../../wire/steps.ts";
import { badRequest, conflict, notFound } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { invalidConfiguration, kindText } from "../../objects/apply/apply.ts";
import { type Configuration, readConfiguration } from "../../objects/apply/configuration.ts";
import { finishDraft } from "../../objects/decode.ts";
import type { Tracked } from "../../objects/managed-fields.ts";
import { type Draft, metadataOf, ownMetadata, type Target } from "../../contract/objects.ts";
import { largeMapSteps } from "../../objects/large-maps.ts";
import { requireFewOwned, requireFewValues } from "../../objects/value-limit.ts";
import { UnstructuredContext } from "../../objects/walk-context.ts";
import { walkAheadSteps } from "../../objects/walk-ahead.ts";
import { walkOfStruct } from "../../objects/walker.ts";
import { offerOf } from "../answers/negotiate.ts";
import { respondObject } from "../answers/respond.ts";
import type { Run } from "../requests/run.ts";
import type { ServedResource } from "../catalogue/served-resource.ts";
import { requireFewDecoded, warn } from "./body.ts";
import { requireBodySize } from "../requests/body-size.ts";
import { createDraft } from "./create.ts";
import { type ApplyPatchOptions, applyPatchOptions } from "./options.ts";
import { requireCreate, requireName, settleNamespace } from "./steps.ts";
import { change } from "./update.ts";
import type { Live, Writer } from "./writer.ts";

/** Is the body of this PATCH a configuration? */
export function isApply(run: Run): boolean {
  const type = withoutParameters(run.request.headers["content-type"] ?? "");
  return type === patchMediaTypes.apply || type === patchMediaTypes.applyCbor;
}

export function apply(writer: Writer, run: Run, resource: ServedResource, subresource: string): void {
  const { context } = writer;
  const { namespace, name } = run.resourcePlace;
  context.negotiator.negotiate(run.request.headers["accept"], offerOf(run));
  requireBodySize(run);
  const options = applyPatchOptions(context, run.query);
  const configuration = lateConfiguration(run);

  const attempt = (): void => {
    const live = writer.live(resource, namespace, name);
    if (live === undefined && subresource !== "") throw notFound(resource.name, name);
    if (live === undefined) merge(live);
    else run.meets(live, attempt, () => merge(live));
  };
  const merge = (live: Live | undefined): void => {
    const { target, strategy, apiVersion } = resource;
    const place: ApplyPlace = { target, strategy, apiVersion, subresource, options };
    const configured = configuration();
    run.next(() =>
      run.steps(appliedSteps(writer, run, live?.object, configured, place), (draft) => write(live, draft)),
    );
  };
  const write = (live: Live | undefined, draft: Draft): void => {
    if (live === undefined) {
      create(writer, run, resource, draft, options);
      return;
    }
    settleNamespace(draft, namespace);
    requireName(draft, name);
    const before = metadataOf(live.object).resourceVersion;
    const conditional = metadataOf(draft).resourceVersion !== before;
    const update = { resource, subresource, live, draft, options, conditional, owned: true };
    run.next(() =>
      change(writer, run, update, (stored) => {
        if (stored === undefined) attempt();
        else respondObject(context, run, 200, stored);
      }),
    );
  };
  attempt();
}

function create(writer: Writer, run: Run, resource: ServedResource, draft: Draft, options: ApplyPatchOptions): void {
  const { context } = writer;
  const { namespace, name } = run.resourcePlace;
  const { uid = "" } = metadataOf(draft);
  if (uid !== "") {
    const text = `uid mismatch: the provided object specified uid ${uid}, and no existing object was found`;
    throw conflict(resource.name, name, text);
  }
  settleNamespace(draft, namespace);
  requireName(draft, name);
  requireCreate(writer, run, resource, () => {
    delete ownMetadata(draft).resourceVersion; // observed: of an object that is not there, no version is wrong
    createDraft(writer, run, resource, draft, options, (made) => respondObject(context, run, 201, made), true);
  });
}

/** What is applied to: a resource, or the scale of one. */
export interface ApplyPlace {
  readonly target: Target;
  readonly strategy: Tracked;
  /** In the dialect. */
  readonly apiVersion: string;
  readonly subresource: string;
  readonly options: ApplyPatchOptions;
}

/** The object that a configuration makes of `live`, decoded, with its owners. Throws 400, 409 or 500. */
export const applied = (...of: Parameters<typeof appliedSteps>): Draft => drained(appliedSteps(...of));

/** As `applied`; of a large object each step takes its time. */
function* appliedSteps(
  writer: Writer,
  run: Run,
  live: JsonObject | undefined,
  configuration: Configuration,
  place: ApplyPlace,
): Generator<void, Draft> {
  const { target, strategy, apiVersion, subresource, options } = place;
  const config = configuration.value;
  if (config["apiVersion"] !== apiVersion || config["kind"] !== target.kind) {
    throw badRequest(`invalid object type: ${kindText(config)}`);
  }
  const { object, managedFields } = yield* writer.law.apply(live, config, strategy, {
    manager: options.fieldManager,
    apiVersion,
    subresource,
    now: writer.times.now(),
    force: options.force,
    dialect: target.dialect,
  });
  if (run.isLarge) {
    requireFewValues(object, live);
    yield;
    requireFewOwned(managedFields);
    yield;
  }
  reportDuplicates(run, configuration, options);
  yield;
  const context = new UnstructuredContext();
  if (run.isLarge) {
    yield* largeMapSteps(object, live);
    context.ahead = yield* walkAheadSteps(target.type, object, live);
    yield;
  }
  context.isLarge = run.isLarge;
  const walked = walkOfStruct(target.type)(object, context, live) as Draft;
  if (context.error !== undefined) {
    const error = ` to proper version (${apiVersion}): ${context.error}`;
    throw invalidConfiguration(config, error, "convert new object");
  }
  yield;
  requireFewDecoded(run, walked, live);
  yield;
  const draft = finishDraft(walked, target);
  const metadata = ownMetadata(draft);
  if (managedFields.length === 0) delete metadata.managedFields;
  else metadata.managedFields = managedFields;
  return draft;
}

/** The configuration in the body, read at the first use: an object that must be there is looked for before. */
export function lateConfiguration(run: Run): () => Configuration {
  let configuration: Configuration | undefined;
  const isCbor = withoutParameters(run.request.headers["content-type"] ?? "") === patchMediaTypes.applyCbor;
  return () => (configuration ??= readConfiguration(run.request.body, isCbor ? "cbor" : "yaml"));
}

function reportDuplicates(run: Run, { duplicates }: Configuration, { fieldValidation }: ApplyPatchOptions): void {
  if (duplicates.length === 0 || fieldValidation === "Ignore") return;
  if (fieldValidation === "Warn") {
    warn(run, duplicates);
    return;
  }
  const lines = duplicates.map((text) => `\n  ${text}`).join("");
  throw badRequest(`error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:${lines}`);
}
