/**
 * The writes of garbage collection. Each names the object by its uid, so that another of the same name is safe; an
 * object that has gone is as good as a write that was done.
 * Source: the published garbage collector's operations and patches.
 */
import { patchMediaTypes } from "../../../wire/media-types.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { metadataOf, type OwnerReference } from "../../contract/objects.ts";
import type { ControlClient } from "../../client/control-client.ts";
import type { Outcome } from "../../client/work-queue.ts";

type Done = (outcome: Outcome) => void;

export class OwnedObjects {
  private readonly client: ControlClient;

  constructor(client: ControlClient) {
    this.client = client;
  }

  /** As it was read: an object that has changed since must be looked at again. */
  delete(path: string, live: JsonObject, propagationPolicy: string, done: Done): void {
    const { uid = "", resourceVersion = "" } = metadataOf(live);
    const preconditions = { uid, resourceVersion };
    const body = { kind: "DeleteOptions", apiVersion: "v1", preconditions, propagationPolicy };
    this.client.process.trace("garbage.delete", path, propagationPolicy);
    this.client.call({ method: "DELETE", path, body }, ({ status }) => done(outcomeOf(status)));
  }

  removeOwners(path: string, uid: string, owners: readonly string[], done: Done): void {
    const ownerReferences = owners.map((owner) => ({ $patch: "delete", uid: owner }));
    this.client.process.trace("garbage.free", path, owners.length);
    const gone = new Set(owners);
    this.patchOwners(path, uid, ownerReferences, done, (references) =>
      references.filter((each) => !gone.has(each.uid)),
    );
  }

  /** Nobody waits for this object any more. */
  unblockOwners(path: string, live: JsonObject, done: Done): void {
    const { uid = "", ownerReferences = [] } = metadataOf(live);
    const blocked = ownerReferences.filter(({ blockOwnerDeletion }) => blockOwnerDeletion === true);
    if (blocked.length === 0) {
      done("done");
      return;
    }
    const patch = blocked.map((owner) => ({ uid: owner.uid, blockOwnerDeletion: false }));
    this.client.process.trace("garbage.unblock", path, blocked.length);
    this.patchOwners(path, uid, patch, done, (references) =>
      references.map((each) => ({ ...each, blockOwnerDeletion: false })),
    );
  }

  /** As it was read: an object that has changed since must be looked at again. */
  removeFinalizer(path: string, live: JsonObject, finalizer: string, done: Done): void {
    const { finalizers = [], resourceVersion = "", uid = "" } = metadataOf(live);
    if (!finalizers.includes(finalizer)) {
      done("done");
      return;
    }
    const left = finalizers.filter((each) => each !== finalizer);
    this.client.process.trace("garbage.let-go", path, finalizer);
    this.patch(path, patchMediaTypes.merge, { resourceVersion, uid, finalizers: left }, (status) =>
      done(outcomeOf(status)),
    );
  }

  /** By a strategic patch, or where the type has none by a merge patch of `changed` references. */
  private patchOwners(
    path: string,
    uid: string,
    ownerReferences: readonly JsonObject[],
    done: Done,
    changed: (references: readonly OwnerReference[]) => readonly OwnerReference[],
  ): void {
    this.patch(path, patchMediaTypes.strategic, { uid, ownerReferences }, (status) => {
      if (status !== 415) {
        done(outcomeOf(status));
        return;
      }
      this.read(path, uid, done, (live) => {
        const { ownerReferences: present = [], resourceVersion = "" } = metadataOf(live);
        const metadata = { resourceVersion, uid, ownerReferences: changed(present) as unknown as JsonObject[] };
        this.patch(path, patchMediaTypes.merge, metadata, (answer) => done(outcomeOf(answer)));
      });
    });
  }

  private patch(path: string, contentType: string, metadata: JsonObject, done: (status: number) => void): void {
    this.client.call({ method: "PATCH", path, body: { metadata }, contentType }, ({ status }) => done(status));
  }

  /** `found` gets the object; without it there is nothing to do. */
  read(path: string, uid: string, done: Done, found: (live: JsonObject) => void): void {
    this.client.get(path, ({ status, object }) => {
      if (status === 200 && object !== undefined && metadataOf(object).uid === uid) found(object);
      else done(status === 200 ? "done" : outcomeOf(status));
    });
  }
}

function outcomeOf(status: number): Outcome {
  return (status >= 200 && status < 300) || status === 404 ? "done" : "again";
}
