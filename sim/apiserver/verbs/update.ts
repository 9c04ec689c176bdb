/**
 * PUT, and what it has in common with PATCH: build the new object from the present one, admit it, prepare and
 * validate it, store it by compare-and-set, and start again when somebody else was faster.
 * Source: document 1, Updates; the facts, section 4, Update, D13 and D14.
 */
import { omitNullTimes } from "../../objects/null-times.ts";
import { refreshQuotas, requireQuota, requireRoomForStatus, whenCounted } from "./resource-quota.ts";
import { finalizerWarnings } from "../../kinds/custom/finalizer-warnings.ts";
import { type Cause, conflict, invalid, notFound, staleVersion, unmapped } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { seal } from "../../objects/seal.ts";
import { type Draft, metadataOf, ownMetadata } from "../../contract/objects.ts";
import { offerOf } from "../answers/negotiate.ts";
import { respondObject } from "../answers/respond.ts";
import type { Run } from "../requests/run.ts";
import { type ServedResource, storageKey } from "../catalogue/served-resource.ts";
import { decodeInSteps, requireFewDecoded, warn } from "./body.ts";
import { requireBodySize } from "../requests/body-size.ts";
import { createDraft } from "./create.ts";
import { type WriteOptions, writeOptions } from "./options.ts";
import { allocateAddresses } from "./service-addresses.ts";
import {
  admitted,
  readied,
  requireCreate,
  requireName,
  settleNamespace,
  requireFewTracked,
  trackInSteps,
} from "./steps.ts";
import { invalidObject, type Live, type Writer } from "./writer.ts";

export function update(writer: Writer, run: Run, resource: ServedResource, subresource: string): void {
  const { context } = writer;
  const { namespace, name } = run.resourcePlace;
  context.negotiator.negotiate(run.request.headers["accept"], offerOf(run));
  requireBodySize(run);
  const options = writeOptions(context, "UpdateOptions", run.query);
  const previous = writer.present(run, resource);
  const attempt = (body: Draft, sentUid: string): void => {
    const live = writer.live(resource, namespace, name, writer.keyOf(run, resource));
    if (sentUid !== "" && sentUid !== (live === undefined ? "" : metadataOf(live.object).uid)) {
      throw uidConflict(resource, namespace, name, sentUid, live);
    }
    const draft: Draft = { ...body };
    if (live === undefined) {
      if (subresource !== "" || !createsOnUpdate(writer, resource)) throw notFound(resource.name, name);
      // A version that no object has is a stale one: whoever read it must not bring the object back.
      if (parseVersion(metadataOf(draft).resourceVersion) !== 0) throw staleVersion(resource.name, name);
      requireCreate(writer, run, resource, () =>
        createDraft(writer, run, resource, draft, options, (made) => respondObject(context, run, 201, made)),
      );
      return;
    }
    const again = (): void => attempt(body, sentUid);
    run.meets(live, again, () => {
      const write: UpdateOf = { resource, subresource, live, draft, options, conditional: true };
      change(writer, run, write, (stored) => {
        if (stored === undefined) again();
        else respondObject(context, run, 200, stored);
      });
    });
  };
  decodeInSteps({ context, run, resource, level: options.fieldValidation, previous }, (body) => {
    settleNamespace(body, namespace);
    requireName(body, name);
    run.next(() => {
      requireFewDecoded(run, body);
      run.next(() => {
        seal(body); // each attempt starts from the body as it was sent
        run.next(() => attempt(body, metadataOf(body).uid ?? ""));
      });
    });
  });
}

export interface UpdateOf {
  readonly resource: ServedResource;
  /** "" for the object itself. */
  readonly subresource: string;
  readonly live: Live;
  /** Becomes the stored object. */
  readonly draft: Draft;
  readonly options: WriteOptions;
  /** Judge the draft's resourceVersion: a PUT's always, a patch's when it names one. */
  readonly conditional: boolean;
  /** The draft's managedFields say already who owns what: an application's do. */
  readonly owned?: boolean;
  /** Admission has judged what the request sent, which is not the draft: a scale. */
  readonly isAdmitted?: boolean;
}

/** From a built draft to the store. `done` gets what was stored, or undefined when the object changed meanwhile. */
export function change(
  writer: Writer,
  run: Run,
  write: UpdateOf,
  done: (stored: JsonObject | undefined) => void,
): void {
  const { resource, subresource, live, draft, options, owned = false, isAdmitted = false } = write;
  const { law } = writer;
  // Before anything is compared: what is stored does not have them either.
  if (!writer.context.profile.nullCreationTimes) omitNullTimes(draft);
  const { namespace = "", name = "" } = metadataOf(live.object);
  const admission = { operation: "UPDATE", namespace, name, object: draft, oldObject: live.object, options } as const;
  const mayUseMore = subresource === "" && resource.strategy.quota?.growsOnUpdate === true;
  const go = (object: Draft): void => {
    settleVersion(writer, write, object);
    law.prepareForUpdate(object, live.object, resource.strategy, subresource);
    const judge = (): readonly Cause[] => law.validateUpdate(object, live.object, resource.strategy, subresource);
    const judged = (causes: readonly Cause[]): void => {
      if (causes.length > 0) throw invalidObject(resource, name, causes);
      warn(run, resource.strategy.rules.warnings?.(object as JsonObject, live.object) ?? []);
      if (resource.custom !== undefined) warn(run, finalizerWarnings(object as JsonObject, live.object));
      run.next(() => {
        if (mayUseMore) whenCounted(writer, run, resource, namespace, () => settle(object));
        else settle(object);
      });
    };
    if (resource.custom === undefined && !run.isLarge) judged(judge());
    else run.next(() => run.judge(judge, judged));
  };
  const settle = (object: Draft): void => {
    if (run.isLarge) requireRoomForStatus(writer, resource, object);
    if (resource.strategy.allocatesAddresses) allocateAddresses(writer, resource, object, live.object, options.dryRun);
    if (mayUseMore) requireQuota(writer, resource, object, live.object);
    const stored = commit(writer, run, write, object);
    if (!options.dryRun && mayChangeUsage(writer, resource, live)) refreshQuotas(writer, namespace, resource, name);
    done(stored);
  };
  const goOn = (): void => {
    if (isAdmitted) go(draft);
    else run.next(() => admitted(writer, run, admission, (object) => readied(run, object, go)));
  };
  if (owned) goOn();
  else
    trackInSteps(writer, run, resource, draft, live.object, options, subresource, () =>
      requireFewTracked(run, draft, goOn),
    );
}

/** What was going may have gone; a quota may have changed, or an object may use more, or have ended. */
function mayChangeUsage(writer: Writer, resource: ServedResource, { object }: Live): boolean {
  const { quota } = resource.strategy;
  return (
    metadataOf(object).deletionTimestamp !== undefined ||
    resource === writer.quotas ||
    quota?.growsOnUpdate === true ||
    quota?.hasEnded !== undefined
  );
}

function commit(
  writer: Writer,
  { isLarge }: Run,
  { resource, live, options }: UpdateOf,
  object: Draft,
): JsonObject | undefined {
  if (writer.law.removesItself(object, live.object) && !hasSpecFinalizers(resource, object)) {
    // The answer is the object as submitted, at the version that it had.
    return writer.remove(live, options.dryRun) === undefined ? undefined : (object as JsonObject);
  }
  return writer.replace(resource, live, object, options.dryRun, isLarge, true);
}

/** What others live in also waits for the finalizers in its spec. */
function hasSpecFinalizers(resource: ServedResource, object: Draft): boolean {
  if (!resource.strategy.isEmptiedFirst) return false;
  const spec = object["spec"] as JsonObject | undefined;
  return ((spec?.["finalizers"] as readonly string[] | undefined) ?? []).length > 0;
}

/** Compares the draft's version with the stored one, or fills it in. Throws 409 or 422. */
function settleVersion(writer: Writer, write: UpdateOf, draft: Draft): void {
  const { resource, live, conditional } = write;
  const current = metadataOf(live.object).resourceVersion as string;
  const { name = "" } = metadataOf(live.object);
  const sent = parseVersion(metadataOf(draft).resourceVersion);
  if (conditional) {
    const unconditional =
      writer.context.profile.unconditionalUpdate === "by-type" && resource.strategy.unconditionalUpdate;
    if (sent === 0 && !unconditional) throw versionRequired(resource, name);
    if (sent !== 0 && String(sent) !== current) throw staleVersion(resource.name, name);
  }
  ownMetadata(draft).resourceVersion = current;
}

function createsOnUpdate(writer: Writer, resource: ServedResource): boolean {
  return writer.context.profile.createOnUpdate === "all" || resource.strategy.createOnUpdate;
}

/** Absent, empty and `0` are 0. The real server answers a garbled one with a bare 500. */
function parseVersion(text: string | undefined): number {
  if (text === undefined || text === "") return 0;
  if (/^\d+$/.test(text)) return Number(text);
  throw unmapped(`strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`);
}

/** Here, alone, the kind of an invalid object is its plural. */
function versionRequired(resource: ServedResource, name: string): Error {
  const cause = {
    reason: "FieldValueInvalid",
    message: "Invalid value: 0x0: must be specified for an update",
    field: "metadata.resourceVersion",
  };
  return invalid(resource.row.resource, resource.group, name, [cause]);
}

function uidConflict(
  resource: ServedResource,
  namespace: string,
  name: string,
  sent: string,
  live: Live | undefined,
): Error {
  const found = live === undefined ? "" : (metadataOf(live.object).uid ?? "");
  return conflict(
    resource.name,
    name,
    `StorageError: invalid object, Code: 4, Key: ${storageKey(resource, namespace, name)}, ResourceVersion: 0, ` +
      `AdditionalErrorMsg: Precondition failed: UID in precondition: ${sent}, UID in object meta: ${found}`,
  );
}
