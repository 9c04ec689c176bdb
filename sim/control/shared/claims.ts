/**
 * Whom an object controls: what its selector chooses and nobody controls is taken on, what the selector no longer
 * chooses is let go. Source: the published controllers' reference managers.
 */
import type { LabelSelector } from "../../../wire/selectors.ts";
import { bodyOf, controllerOf } from "./informers.ts";
import { controllerReference, type KindRow, pathTo } from "./controller.ts";
import { call, isGood, type Steps } from "./steps.ts";
import type { Stored } from "./stored.ts";

export interface ClaimOptions<Kind extends Stored> {
  readonly owner: Stored;
  readonly ownerRow: KindRow;
  /** What it controls, and what nobody does in its namespace. */
  readonly candidates: readonly Kind[];
  readonly row: KindRow;
  readonly selector: LabelSelector;
  /** Set on what is taken on. */
  readonly finalizer?: string;
}

const contentType = "application/strategic-merge-patch+json";

/** Undefined when something could not be written: to be tried again. */
export function* claim<Kind extends Stored>(options: ClaimOptions<Kind>): Steps<readonly Kind[] | undefined> {
  const { owner, candidates, selector } = options;
  const claimed: Kind[] = [];
  let mayAdopt: boolean | undefined;
  for (const candidate of candidates) {
    const controller = controllerOf(candidate);
    if (controller !== undefined && controller.uid !== owner.metadata.uid) continue;
    const isChosen = selector.matches(candidate.metadata.labels);
    if (controller !== undefined) {
      if (isChosen) claimed.push(candidate);
      else if (owner.metadata.deletionTimestamp === undefined && !(yield* release(options, candidate)))
        return undefined;
      continue;
    }
    if (!isChosen || owner.metadata.deletionTimestamp !== undefined) continue;
    if (candidate.metadata.deletionTimestamp !== undefined) continue;
    mayAdopt ??= yield* isStillThere(options);
    if (!mayAdopt) return undefined;
    const adopted = yield* adopt(options, candidate);
    if (adopted === "failed") return undefined;
    if (adopted !== "gone") claimed.push(adopted);
  }
  return claimed;
}

/** The cache may be behind: nobody is adopted by what is gone or going. */
function* isStillThere({ owner, ownerRow }: { owner: Stored; ownerRow: KindRow }): Steps<boolean> {
  const { status, object } = yield* call({ method: "GET", path: pathTo(ownerRow, owner) });
  const fresh = object as unknown as Stored | undefined;
  return status === 200 && fresh?.metadata.uid === owner.metadata.uid && fresh.metadata.deletionTimestamp === undefined;
}

function* adopt<Kind extends Stored>(
  { owner, ownerRow, row, finalizer }: ClaimOptions<Kind>,
  orphan: Kind,
): Steps<Kind | "gone" | "failed"> {
  const { uid } = orphan.metadata;
  const finalizers = finalizer === undefined ? {} : { finalizers: [finalizer] };
  const metadata = { uid, ownerReferences: [controllerReference(ownerRow, owner)], ...finalizers };
  const body = bodyOf({ metadata });
  const answer = yield* call({ method: "PATCH", path: pathTo(row, orphan), contentType, body });
  if (isGood(answer)) return answer.object as unknown as Kind;
  return answer.status === 404 ? "gone" : "failed";
}

function* release<Kind extends Stored>(
  { owner, row }: ClaimOptions<Kind>,
  { metadata: { uid, name, namespace = "" } }: Kind,
): Steps<boolean> {
  const ownerReferences = [{ $patch: "delete", uid: owner.metadata.uid }];
  const body = bodyOf({ metadata: { uid, ownerReferences } });
  const path = pathTo(row, { metadata: { name, namespace, uid } });
  const answer = yield* call({ method: "PATCH", path, contentType, body });
  // Gone, or another one of the same name by now: let go of in either way.
  return isGood(answer) || answer.status === 404 || answer.status === 422;
}
