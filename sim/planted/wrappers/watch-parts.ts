/** What gets between a watch and its reader. */
import { keyOf } from "../../apiserver/reads/selection.ts";
import type { WatchEventType } from "../../apiserver/reads/types.ts";
import type { WatchPlan } from "../../apiserver/reads/watch-plan.ts";
import { atRevision, changeSeen } from "../../apiserver/reads/watcher.ts";
import type { JsonObject, Payload } from "../../contract/http-message.ts";
import { metadataOf } from "../../contract/objects.ts";
import { sourceWith } from "./read-parts.ts";

/** What a watch is about to tell. */
export interface Told {
  readonly type: WatchEventType;
  readonly object: JsonObject;
  /** Of the state that the watch begins with. */
  readonly isInitial: boolean;
}

/** The watch with each event as `change` has it; undefined: it is not told. */
export function telling(plan: WatchPlan, change: (told: Told) => Told | undefined): WatchPlan {
  const { request, sink } = plan;
  const { encoder } = request;
  let unreadBytes = 0;
  const payloadOf = (told: Told): Payload => {
    const changed = change(told);
    if (changed === undefined) return untold;
    const { type, object, isInitial } = changed;
    return (isInitial ? encoder.initial?.(object) : undefined) ?? encoder.event(type, object);
  };
  return {
    ...plan,
    request: {
      ...request,
      encoder: {
        ...(encoder.emptyList === undefined ? {} : { emptyList: encoder.emptyList }),
        event: (type, object) => payloadOf({ type, object, isInitial: false }),
        initial: (object) => payloadOf({ type: "ADDED", object, isInitial: true }),
      },
    },
    sink: {
      open: () => sink.open(),
      event(payload) {
        if (payload !== untold) unreadBytes = sink.event(payload);
        return unreadBytes;
      },
      whenTaken:
        sink.whenTaken === undefined
          ? undefined
          : (resume) =>
              sink.whenTaken?.(() => {
                unreadBytes = 0;
                resume();
              }),
      close: () => sink.close(),
      failed: (error) => sink.failed(error),
    },
  };
}

const untold: Payload = { object: undefined, contentType: "", bytes: () => new Uint8Array(0) };

/** What was stored when the object got the version that it is told at, and just before; undefined where nobody knows any more. */
export function around(
  plan: WatchPlan,
  object: JsonObject,
): { readonly now?: JsonObject; readonly before?: JsonObject } {
  const { target, context } = plan;
  const { namespace = "", name = "", resourceVersion } = metadataOf(object);
  const key = keyOf(target, namespace, name);
  const at = (revision: number): JsonObject | undefined => {
    const found = context.store.get(key, revision);
    return typeof found === "object" ? (found.value as JsonObject) : undefined;
  };
  const revision = Number(resourceVersion);
  const [now, before] = [at(revision), at(revision - 1)];
  return { ...(now === undefined ? {} : { now }), ...(before === undefined ? {} : { before }) };
}

/** After the state that the watch begins with, the last changes before it are told again. */
export function replayed(plan: WatchPlan, most: number): WatchPlan {
  const { selection, source, sink, request } = plan;
  let isStateTold = false;
  const tellAgain = (revision: number): void => {
    for (const event of source.eventsAfter(Math.max(source.oldestStart(), revision - most))) {
      if (event.revision > revision) return;
      if (selection.single ? event.key !== selection.start : !event.key.startsWith(selection.start)) continue;
      const type = changeSeen(event, selection.matches);
      if (type === undefined) continue;
      const object = (type === "DELETED" ? event.previous : event.value) as JsonObject;
      sink.event(request.encoder.event(type, type === "DELETED" ? atRevision(object, event.revision) : object));
    }
  };
  const watch = telling(plan, (told) => {
    isStateTold ||= told.isInitial;
    return told;
  });
  return {
    ...watch,
    source: sourceWith(source, {
      eventsAfter(revision, max) {
        if (isStateTold) tellAgain(revision);
        isStateTold = false;
        return source.eventsAfter(revision, max);
      },
    }),
  };
}
