/**
 * The deletion of what cannot be read: neither its finalizers nor preconditions can be looked at, so none count.
 * Only an unreadable object may be deleted so, and only by those who hold a verb of their own.
 * Source: document 1, States and transitions and Force-delete rules, Authentication 3; the published server.
 */
import { refreshQuotas } from "./resource-quota.ts";
import type { Attributes, Decision } from "../access/authorize.ts";
import { type ApiError, forbidden, invalid } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { respondObject } from "../answers/respond.ts";
import type { Run } from "../requests/run.ts";
import { type ServedResource, storageKey } from "../catalogue/served-resource.ts";
import { admitted } from "./steps.ts";
import type { Writer } from "./writer.ts";

const unsafeDeleteVerb = "unsafe-delete-ignore-read-errors";

/** Throws 422 for an object that can be read or is not there, 403 for a lack of the verb. */
export function deleteUnreadable(writer: Writer, run: Run, resource: ServedResource): void {
  const { context } = writer;
  const { namespace, name } = run.resourcePlace;
  const key = storageKey(resource, namespace, name);
  const found = context.store.get(key);
  if (typeof found !== "object" || !context.unreadable.has(key)) throw notCorrupt(resource, name);
  const options = { dryRun: false };
  const review = { operation: "DELETE", namespace, name, object: undefined, oldObject: undefined, options } as const;
  const remove = (): void => {
    // Nobody writes what cannot be read; somebody else may have deleted it meanwhile.
    const revision = context.store.delete(key, found.modRevision);
    if (revision === undefined) throw notCorrupt(resource, name);
    context.process.trace("write", key, revision, "");
    refreshQuotas(writer, namespace, resource, name);
    respondObject(context, run, 200, goneStatus(resource, name));
  };
  requireUnsafeVerb(writer, run, resource, () => admitted(writer, run, review, remove));
}

function requireUnsafeVerb({ context }: Writer, run: Run, resource: ServedResource, proceed: () => void): void {
  const { namespace, name } = run.resourcePlace;
  const asked: Attributes = {
    is: "resource",
    verb: unsafeDeleteVerb,
    resource: resource.name,
    version: resource.row.version,
    subresource: "",
    namespace,
    name,
  };
  run.await<Decision>(
    (done) => context.authorizer(run.user, asked, done),
    ({ allowed, reason }) => {
      if (!allowed)
        throw forbidden(resource.name, name, `not permitted to do "${unsafeDeleteVerb}", reason: ${reason}`);
      proceed();
    },
  );
}

/** There is no object to take a uid from, and the real server names the kind here. */
function goneStatus({ row }: ServedResource, name: string): JsonObject {
  const details = { name, kind: row.kind };
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details, code: 200 };
}

/** The 422 for an object that an ordinary deletion would do for. */
export function notCorrupt(resource: ServedResource, name: string): ApiError {
  return invalid(resource.row.resource, resource.group, name, [
    {
      reason: "FieldValueInvalid",
      message:
        "Invalid value: true: is exclusively used to delete corrupt object(s), try again by removing this option",
      field: "ignoreStoreReadErrorWithClusterBreakingPotential",
    },
  ]);
}
