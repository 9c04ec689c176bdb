/**
 * DELETE of one object and of a collection.
 * Source: document 1, States and transitions; the facts, section 4, Delete, D18, D20 and D21.
 */
import { refreshQuotas } from "./resource-quota.ts";
import { refusesNamespaceDeletion } from "../admission/namespace-lifecycle.ts";
import { type ApiError, conflict, notFound } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { orderMetadata } from "../../objects/system-fields.ts";
import { type Draft, metadataOf, ownChild, ownMetadata } from "../../contract/objects.ts";
import { offerOf } from "../answers/negotiate.ts";
import { respondObject } from "../answers/respond.ts";
import type { Run } from "../requests/run.ts";
import type { ServedResource } from "../catalogue/served-resource.ts";
import { decodeDeleteOptions, warn } from "./body.ts";
import { type Doom, finalizersAfter, preconditionFailure } from "./deletion.ts";
import { type DeleteOptions, deleteOptions } from "./options.ts";
import { admitted } from "./steps.ts";
import { deleteUnreadable, notCorrupt } from "./unsafe-delete.ts";
import type { Live, Writer } from "./writer.ts";

export interface Deleted {
  /** The object as it now is, or as it was when it went. */
  readonly object: JsonObject;
  readonly removed: boolean;
}

export function deleteOne(writer: Writer, run: Run, resource: ServedResource): void {
  const { context } = writer;
  const { namespace, name } = run.resourcePlace;
  context.negotiator.negotiate(run.request.headers["accept"], offerOf(run));
  const options = deleteOptions(context, run.query, decodeDeleteOptions(context, run));
  warnOfOrphans(run, resource, options);
  if (options.ignoreStoreReadError) {
    deleteUnreadable(writer, run, resource);
    return;
  }
  deleteNamed(writer, run, resource, { namespace, name, options }, (deleted) => {
    if (deleted === undefined) throw notFound(resource.name, name);
    const status = !deleted.removed && options.orphanDependents === false ? 202 : 200;
    respondObject(context, run, status, answerTo(writer, resource, deleted));
  });
}

/** Whoever does not say what shall become of a type's dependents is told when they stay, whatever comes of the deletion. */
export function warnOfOrphans(run: Run, { strategy }: ServedResource, options: DeleteOptions): void {
  if (options.propagation !== undefined || options.orphanDependents !== undefined) return;
  const { orphanWarning } = strategy.rules;
  if (orphanWarning !== undefined) warn(run, [orphanWarning]);
}

export interface DeletionOf {
  readonly namespace: string;
  readonly name: string;
  readonly options: DeleteOptions;
  /** Admission has had its say already. */
  readonly isAdmitted?: boolean;
}

/** Deletes one object as far as it can be; `done` gets undefined when there is none. Throws through the run. */
export function deleteNamed(
  writer: Writer,
  run: Run,
  resource: ServedResource,
  deletion: DeletionOf,
  done: (deleted: Deleted | undefined) => void,
): void {
  const { namespace, name, options, isAdmitted = false } = deletion;
  if (resource.strategy.isEmptiedFirst) {
    const refused = refusesNamespaceDeletion(name, writer.context.protectedNamespaces);
    if (refused !== undefined) throw refused;
  }
  const attempt = (): void => {
    const live = writer.live(resource, namespace, name);
    if (live === undefined) {
      done(undefined);
      return;
    }
    if (options.ignoreStoreReadError) throw notCorrupt(resource, name);
    const failed = failedPrecondition(resource, live, options);
    if (failed !== undefined) throw failed;
    const admission = {
      operation: "DELETE",
      namespace,
      name,
      object: undefined,
      oldObject: live.object,
      options,
    } as const;
    const go = (): void => {
      const deleted = carryOut(writer, resource, live, options);
      if (deleted === "raced") {
        attempt();
        return;
      }
      if (deleted.removed && !options.dryRun) refreshQuotas(writer, namespace, resource, name);
      done(deleted);
    };
    if (isAdmitted) go();
    else admitted(writer, run, admission, go);
  };
  attempt();
}

function failedPrecondition(resource: ServedResource, live: Live, options: DeleteOptions): ApiError | undefined {
  if (resource.strategy.isEmptiedFirst) return failedNamespacePrecondition(resource, live, options);
  return preconditionFailure(live.object, options, resource.strategy, resource.group);
}

function failedNamespacePrecondition(
  resource: ServedResource,
  live: Live,
  options: DeleteOptions,
): ApiError | undefined {
  const { uid = "", resourceVersion = "", name = "" } = metadataOf(live.object);
  for (const [label, wanted, found] of [
    ["UID", options.uid, uid],
    ["ResourceVersion", options.resourceVersion, resourceVersion],
  ] as const) {
    if (wanted === undefined || wanted === found) continue;
    const detail = `Precondition failed: ${label} in precondition: ${wanted}, ${label} in object meta: ${found}`;
    return conflict(resource.name, name, detail);
  }
  return undefined;
}

/** One step for what holds the object, and the removal when nothing does. */
function carryOut(writer: Writer, resource: ServedResource, live: Live, options: DeleteOptions): Deleted | "raced" {
  const marks =
    resource.strategy.rules.markDeleted !== undefined && metadataOf(live.object).deletionTimestamp === undefined;
  const doom = resource.strategy.isEmptiedFirst
    ? namespaceDoom(writer, resource, live, options)
    : marks
      ? kindDoom(writer, resource, live)
      : generalDoom();
  if (doom.is === "pending") return { object: live.object, removed: false };
  if (doom.is === "remove") return remove(live);
  const marked = writer.replace(resource, live, doom.draft, options.dryRun);
  if (marked === undefined) return "raced";
  if (!doom.thenRemove) return { object: marked, removed: false };
  // The mark is a write of its own: watchers see the object modified before it is gone.
  if (options.dryRun) return { object: marked, removed: true };
  const now = writer.live(resource, metadataOf(marked).namespace ?? "", metadataOf(marked).name ?? "") as Live;
  return remove(now);

  function generalDoom(): Doom {
    const { times, context } = writer;
    const { gracefulDeletionTime } = context.profile;
    return writer.law.doomOf(live.object, { strategy: resource.strategy, options, times, gracefulDeletionTime });
  }

  function remove(last: Live): Deleted | "raced" {
    const gone = writer.remove(last, options.dryRun);
    return gone === undefined ? "raced" : { object: gone, removed: true };
  }
}

/** The kind has a mark of its own, and something that waits for it. */
function kindDoom({ times }: Writer, { strategy }: ServedResource, live: Live): Doom {
  const draft: Draft = { ...live.object };
  const metadata = ownMetadata(draft);
  metadata.deletionTimestamp = times.now();
  strategy.rules.markDeleted?.(draft, times.now(), strategy.dialect);
  orderMetadata(draft);
  return { is: "mark", draft, thenRemove: false };
}

/**
 * A namespace first becomes Terminating and waits for the finalizers in its spec, which the namespace controller
 * takes away when it has emptied it. Then it goes like everything else.
 */
function namespaceDoom(writer: Writer, resource: ServedResource, live: Live, options: DeleteOptions): Doom {
  const { times, context } = writer;
  const { gracefulDeletionTime } = context.profile;
  const doomContext = { strategy: resource.strategy, options, times, gracefulDeletionTime };
  if (metadataOf(live.object).deletionTimestamp !== undefined) {
    const spec = (live.object["spec"] ?? {}) as JsonObject;
    if (((spec["finalizers"] as readonly string[] | undefined) ?? []).length > 0) return { is: "pending" };
    return writer.law.doomOf(live.object, doomContext);
  }
  const draft: Draft = { ...live.object };
  const metadata = ownMetadata(draft) as Draft;
  const finalizers = finalizersAfter(live.object, doomContext);
  delete metadata["finalizers"];
  if (finalizers.length > 0) metadata["finalizers"] = finalizers;
  metadata["deletionTimestamp"] = times.now();
  orderMetadata(draft);
  ownChild(draft, "status")["phase"] = "Terminating";
  return { is: "mark", draft, thenRemove: false };
}

/** A Status, or the object where the type and the profile say so; what is still there is always shown as it is. */
function answerTo(writer: Writer, resource: ServedResource, { object, removed }: Deleted): JsonObject {
  const { deleteAnswers } = writer.context.profile;
  if (!removed || (deleteAnswers === "by-type" && resource.strategy.returnsDeleted)) return object;
  const { name = "", uid = "" } = metadataOf(object);
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    details: {
      name,
      ...(resource.group === "" ? {} : { group: resource.group }),
      kind: resource.row.resource,
      uid,
    },
  };
}
