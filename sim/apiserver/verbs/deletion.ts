/**
 * What a deletion makes of an object, as pure functions: grace, finalizers for dependents, marks.
 * Source: document 1, States and transitions; the facts, section 4, Delete, D18 and D19.
 */
import { formatTime } from "../../../wire/time.ts";
import { type ApiError, conflict } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { durationSeconds, incremented } from "../../objects/int64.ts";
import type { Strategy } from "../../objects/strategy.ts";
import { orderMetadata } from "../../objects/system-fields.ts";
import { type Draft, metadataOf, ownMetadata } from "../../contract/objects.ts";
import type { DeleteOptions } from "./options.ts";
import { type Times, unixSeconds } from "../../contract/times.ts";

export type Doom =
  /** Nothing holds it: the key goes at once. */
  | { readonly is: "remove" }
  /** It is already on its way, and this request does not change that. */
  | { readonly is: "pending" }
  /** The object is written with its marks; then it stays, or goes in the same request. */
  | { readonly is: "mark"; readonly draft: Draft; readonly thenRemove: boolean };

export interface DoomContext {
  readonly strategy: Strategy;
  readonly options: DeleteOptions;
  readonly times: Times;
  /** See `Profile`. */
  readonly gracefulDeletionTime: "request" | "end";
}

/** What happens to `live`. Does not look at preconditions: see `preconditionFailure`. */
export function doomOf(live: JsonObject, context: DoomContext): Doom {
  const draft: Draft = { ...live };
  const grace = beginGrace(draft, context);
  if (grace.is === "pending") return { is: "pending" };
  const finalizers = finalizersAfter(live, context);
  const metadata = ownMetadata(draft);
  if (finalizers.length === 0) delete metadata.finalizers;
  else metadata.finalizers = finalizers;
  if (grace.is === "graceful") {
    orderMetadata(draft);
    return { is: "mark", draft, thenRemove: finalizers.length === 0 && grace.seconds === 0 };
  }
  if (finalizers.length === 0) return { is: "remove" };
  markAsDeleting(draft, context.times);
  orderMetadata(draft);
  return { is: "mark", draft, thenRemove: false };
}

/** The 409 for a precondition that `live` does not meet. Here the real server names the kind, not the resource. */
export function preconditionFailure(
  live: JsonObject,
  options: DeleteOptions,
  strategy: Strategy,
  dialectGroup: string,
): ApiError | undefined {
  const { uid = "", resourceVersion = "", name = "" } = metadataOf(live);
  const subject = { group: dialectGroup, resource: strategy.kind };
  if (options.uid !== undefined && options.uid !== uid) {
    return conflict(
      subject,
      name,
      `the UID in the precondition (${options.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
    );
  }
  if (options.resourceVersion !== undefined && options.resourceVersion !== resourceVersion) {
    return conflict(
      subject,
      name,
      `the ResourceVersion in the precondition (${options.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`,
    );
  }
  return undefined;
}

/** An object that lost its last finalizer while it was being deleted, and has no grace left, goes. */
export function removesItself(after: JsonObject | Draft, before: JsonObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadataOf(before);
  if (deletionTimestamp === undefined || (deletionGracePeriodSeconds ?? 0) !== 0) return false;
  return (metadataOf(after).finalizers ?? []).length === 0;
}

type Grace =
  | { readonly is: "none" }
  | { readonly is: "pending" }
  | { readonly is: "graceful"; readonly seconds: number };

const noGrace: Grace = { is: "none" };
const pendingGrace: Grace = { is: "pending" };

/** Sets or shortens the grace period of a type that has one. */
function beginGrace(draft: Draft, context: DoomContext): Grace {
  const { strategy, options, times } = context;
  const isEnd = context.gracefulDeletionTime === "end";
  if (!strategy.graceful) return noGrace;
  const metadata = ownMetadata(draft);
  const asked = negativeAsOne(options.gracePeriodSeconds);
  if (metadata.deletionTimestamp !== undefined) {
    const current = metadata.deletionGracePeriodSeconds;
    if (current === undefined) return noGrace;
    // A grace period can only be shortened.
    if (asked === undefined || asked >= current) return pendingGrace;
    const first = unixSeconds(metadata.deletionTimestamp) - durationSeconds(current);
    const shortened = first + durationSeconds(asked);
    if (isEnd) metadata.deletionTimestamp = formatTime(Math.max(shortened, times.nowSeconds()));
    metadata.deletionGracePeriodSeconds = asked;
    return { is: "graceful", seconds: asked };
  }
  const seconds = gracePeriodOf(draft, asked);
  metadata.deletionTimestamp = formatTime(times.nowSeconds() + (isEnd && seconds > 0 ? durationSeconds(seconds) : 0));
  metadata.deletionGracePeriodSeconds = seconds;
  if ((metadata.generation ?? 0) > 0) metadata.generation = incremented(metadata.generation as number);
  return { is: "graceful", seconds };
}

/** The seconds a pod gets: none when no node runs it or when it has ended. */
function gracePeriodOf(pod: Draft, asked: number | undefined): number {
  const spec = (pod["spec"] ?? {}) as JsonObject;
  const status = (pod["status"] ?? {}) as JsonObject;
  if ((spec["nodeName"] ?? "") === "") return 0;
  if (status["phase"] === "Succeeded" || status["phase"] === "Failed") return 0;
  return negativeAsOne(asked ?? (spec["terminationGracePeriodSeconds"] as number | undefined)) ?? 0;
}

/** The real server takes any negative period for one second. */
function negativeAsOne(seconds: number | undefined): number | undefined {
  return seconds !== undefined && seconds < 0 ? 1 : seconds;
}

function markAsDeleting(draft: Draft, times: Times): void {
  const metadata = ownMetadata(draft);
  if (metadata.deletionGracePeriodSeconds === undefined && (metadata.generation ?? 0) > 0) {
    metadata.generation = incremented(metadata.generation as number);
  }
  const since = metadata.deletionTimestamp;
  if (since === undefined || unixSeconds(since) > times.nowSeconds()) metadata.deletionTimestamp = times.now();
  metadata.deletionGracePeriodSeconds = 0;
}

const orphanFinalizer = "orphan";
const foregroundFinalizer = "foregroundDeletion";

/** The finalizers that the request leaves: those for dependents are put in or taken out by its policy. */
export function finalizersAfter(live: JsonObject, context: DoomContext): readonly string[] {
  const { strategy, options } = context;
  const { finalizers = [] } = metadataOf(live);
  if (strategy.propagation === "unsupported") return finalizers;
  const wanted = wantedFinalizer(finalizers, strategy, options);
  const others = finalizers.filter((finalizer) => finalizer !== orphanFinalizer && finalizer !== foregroundFinalizer);
  if (wanted === undefined) return others.length === finalizers.length ? finalizers : others;
  if (finalizers.includes(wanted) && finalizers.length === others.length + 1) return finalizers;
  // Whatever was asked before: the last policy wins, and its actor has to be done once more.
  return [...others, wanted];
}

function wantedFinalizer(
  finalizers: readonly string[],
  strategy: Strategy,
  options: DeleteOptions,
): string | undefined {
  if (options.orphanDependents !== undefined) return options.orphanDependents ? orphanFinalizer : undefined;
  if (options.propagation === "Orphan") return orphanFinalizer;
  if (options.propagation === "Foreground") return foregroundFinalizer;
  if (options.propagation === "Background") return undefined;
  for (const finalizer of finalizers) {
    if (finalizer === orphanFinalizer || finalizer === foregroundFinalizer) return finalizer;
  }
  return strategy.propagation === "Orphan" ? orphanFinalizer : undefined;
}
