/**
 * Watches. Where one starts follows from resourceVersion and sendInitialEvents:
 *
 * | sendInitialEvents | rv unset                     | rv = 0                  | rv = n                     |
 * | unset             | present state, then changes; of the store or of the cache by profile | any state, then changes | changes after n |
 * | true              | state as new as the store is now, bookmark, changes | any state, bookmark, changes | state as new as n, bookmark, changes |
 * | false             | changes from now             | changes from the cache's now | changes after n       |
 *
 * A version that has yet to come is silence until it has come, but for `true`, which waits some seconds for it.
 * Source: document 1, Watch and Watch semantics; the facts, section 2, D4, D6 and D8.
 */
import type { Cancel } from "../../kernel/types.ts";
import type { JsonObject } from "../../contract/http-message.ts";
import { ApiError, expired, internalError } from "../../contract/errors.ts";
import { tooLarge } from "./get.ts";
import { unreadableList } from "../../contract/unreadable.ts";
import type { ReadSeams } from "./seams.ts";
import { select } from "./selection.ts";
import type { ReadContext, ReadTarget, WatchRequest, WatchSink } from "./types.ts";
import { badCachedVersion, parseVersion, VERSION_WAIT_MICROS } from "./versions.ts";
import type { WatchPlan } from "./watch-plan.ts";
import { Watcher } from "./watcher.ts";

const nothing: Cancel = () => {};

export const tooOldForStore = "The resourceVersion for the provided watch is too old.";

export function startWatch(
  context: ReadContext,
  target: ReadTarget,
  request: WatchRequest,
  sink: WatchSink,
  seams?: ReadSeams,
): Cancel {
  try {
    const selection = select(target, request);
    const { resourceVersion } = request.options;
    const version = parseVersion(resourceVersion);
    if (version === undefined) throw badCachedVersion(context.profile, resourceVersion);
    const source = context.frontEnd.source(target.prefix, target.cached);
    const plan: WatchPlan = { context, target, request, sink, selection, source, version };
    return seams === undefined ? begin(plan) : seams.watch(plan, begin);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    sink.failed(error);
    return nothing;
  }
}

function begin(plan: WatchPlan): Cancel {
  const { context, request, source, version } = plan;
  const { store, profile } = context;
  const { sendInitialEvents, resourceVersion } = request.options;
  const unset = resourceVersion === "";
  if (sendInitialEvents === true) return beginWhenFresh(plan, unset ? store.revision : version);
  if (version > 0) return beginAfter(plan, version);
  if (sendInitialEvents === false) return beginAfter(plan, unset ? store.revision : source.applied);
  if (unset && profile.watchUnset === "most-recent") return beginWithStore(plan);
  return beginWithState(plan, false);
}

/** The streaming list: the state is at least at `revision`. */
function beginWhenFresh(plan: WatchPlan, revision: number): Cancel {
  const { source } = plan;
  let cancelWatch = nothing;
  const cancelWait = source.whenApplied(revision, VERSION_WAIT_MICROS, (reached) => {
    try {
      cancelWatch = reached
        ? beginWithState(plan, true)
        : refuse(plan, tooLarge(source, revision, plan.request.options.resourceVersion));
    } catch (error) {
      plan.context.process.caught("watch", error);
      fail(plan, internalError("an exception in the server ended this watch"));
    }
  });
  return () => {
    cancelWait();
    cancelWatch();
  };
}

function beginWithState(plan: WatchPlan, marked: boolean): Cancel {
  const { source, selection } = plan;
  const problem = source.cached ? undefined : unreadProblem(plan);
  if (problem !== undefined) return fail(plan, problem);
  return open(plan, source.applied, source.objects(selection.start, selection.end), marked);
}

/** A consistent read of the store; what the cache has yet to hear of it is not told twice. */
function beginWithStore(plan: WatchPlan): Cancel {
  const { store } = plan.context;
  const { start, end } = plan.selection;
  const problem = unreadProblem(plan);
  if (problem !== undefined) return fail(plan, problem);
  // A cache that is up to date has the same, and shares it.
  if (plan.source.applied === store.revision) return open(plan, store.revision, plan.source.objects(start, end), false);
  const range = store.range(start, end, { count: false });
  const items = typeof range === "string" ? [] : range.items.map(({ value }) => value as JsonObject);
  return open(plan, store.revision, items, false);
}

function unreadProblem({ context, selection, target }: WatchPlan): ApiError | undefined {
  const { store, unreadable, profile } = context;
  const keys = unreadable.within(store, selection.start, selection.end);
  return keys.length === 0 ? undefined : unreadableList(target.name, keys, profile.featureGates);
}

function fail({ sink }: WatchPlan, error: ApiError): Cancel {
  sink.failed(error);
  return nothing;
}

function beginAfter(plan: WatchPlan, version: number): Cancel {
  const { source } = plan;
  const oldest = source.oldestStart();
  if (version < oldest) {
    const gone = source.cached ? `too old resource version: ${version} (${oldest})` : tooOldForStore;
    return refuse(plan, expired(gone));
  }
  return open(plan, version, [], false);
}

/** An error found after the request itself was found good: an HTTP answer, or an event that ends the stream. */
function refuse({ context, request, sink }: WatchPlan, error: ApiError): Cancel {
  if (context.profile.watchTooOld === "response") {
    sink.failed(error);
  } else {
    sink.open();
    sink.event(request.encoder.event("ERROR", error.status));
    sink.close();
  }
  return nothing;
}

function open(plan: WatchPlan, startRevision: number, initial: readonly JsonObject[], marked: boolean): Cancel {
  const watcher = new Watcher(plan, startRevision);
  watcher.start(initial, marked);
  return () => watcher.end();
}
