/**
 * DELETE on a collection: what a list with the same selectors would show is deleted, one object after another.
 * Source: document 1, verbs; the facts, section 4, D20.
 */
import type { Json, JsonObject } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import { knownBytesOf } from "../../objects/digest.ts";
import type { ReadVerbs } from "./read-verbs.ts";
import { offerOf } from "../answers/negotiate.ts";
import { respondObject } from "../answers/respond.ts";
import type { Run } from "../requests/run.ts";
import type { ServedResource } from "../catalogue/served-resource.ts";
import { decodeDeleteOptions } from "./body.ts";
import { deleteNamed, warnOfOrphans } from "./delete.ts";
import { deleteOptions, ignoreStoreReadErrorName, invalidOptions } from "./options.ts";
import type { Writer } from "./writer.ts";

export function deleteCollection(writer: Writer, reads: ReadVerbs, run: Run, resource: ServedResource): void {
  const { context } = writer;
  context.negotiator.negotiate(run.request.headers["accept"], offerOf(run));
  const listOptions = { ...reads.optionsOf(run), watch: false };
  const options = deleteOptions(context, run.query, decodeDeleteOptions(context, run));
  if (options.ignoreStoreReadError) throw invalidOptions(context, "DeleteOptions", [oneAtATime]);
  warnOfOrphans(run, resource, options);

  reads.listThen(run, resource, listOptions, (list) => {
    inTurn(
      writer,
      run,
      (list["items"] ?? []) as readonly JsonObject[],
      (item, done) => {
        const { namespace = "", name = "" } = metadataOf(item);
        deleteNamed(writer, run, resource, { namespace, name, options }, () => done());
      },
      () => respondObject(context, run, 200, answer(writer, resource, list)),
    );
  });
}

/** What breaks a cluster is not done to whole collections. */
const oneAtATime = {
  reason: "FieldValueInvalid",
  message: "Invalid value: true: is not allowed with DELETECOLLECTION, try again after removing the option",
  field: ignoreStoreReadErrorName,
};

/**
 * Deleted in one turn before others have theirs; a deletion that a namespace's quotas are looked through for counts more, and so
 * does that of a large object, which is written and digested once more.
 */
const turnItemsMax = 200;
const quotasPerItem = 100;
const bytesPerItem = 10_000;
/** As much is waited for one write that a disk has before it is acknowledged. */
const itemsPerJournaled = 20;

/**
 * Calls `work` on one item after another, each when the one before is done; a long list neither grows the stack nor keeps
 * others waiting.
 */
function inTurn<Item extends object>(
  { context, quotaNamespaces }: Writer,
  run: Run,
  items: readonly Item[],
  work: (item: Item, done: () => void) => void,
  finished: () => void,
): void {
  let at = 0;
  let looping = false;
  const drain = (): void => {
    looping = true;
    const writing = context.store.isJournaled === true ? itemsPerJournaled : 1;
    const weight = writing + quotaNamespaces.countOf(run.resourcePlace.namespace) / quotasPerItem;
    for (let left = turnItemsMax; at < items.length; ) {
      if (left <= 0) {
        looping = false;
        const next = (): void => {
          run.unpark("executing");
          run.stage(drain);
        };
        run.letOthersIn();
        run.park("waiting", context.process.clock.after(1, next));
        return;
      }
      let done = false;
      const item = items[at++] as Item;
      left -= weight + (knownBytesOf(item) ?? 0) / bytesPerItem;
      work(item, () => {
        done = true;
        if (!looping) drain();
      });
      if (done) continue;
      looping = false;
      return;
    }
    finished();
  };
  drain();
}

/** The list of what was deleted, or a Status. */
function answer(writer: Writer, resource: ServedResource, list: JsonObject): JsonObject {
  if (writer.context.profile.deleteCollectionAnswers === "list") return list;
  const details: Record<string, Json> = { kind: resource.row.resource };
  if (resource.group !== "") details["group"] = resource.group;
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details };
}
