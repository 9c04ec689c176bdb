/** What must hold within one watch stream, whatever was written. */
import { isJsonObject, type JsonObject, type WatchEvent } from "../client/types.ts";
import type { Violation } from "../client/findings.ts";
import { describeEvent, type LogEvent, logEvent, sameContent } from "./history.ts";

/** Only well-formed events of known types: nothing malformed, no error, bookmarks only when asked for. */
export function judgeEnvelopes(events: readonly WatchEvent[], bookmarksAsked: boolean): Violation | undefined {
  for (const [index, event] of events.entries()) {
    const isBookmark = event.type === "BOOKMARK";
    if (isBookmark && bookmarksAsked && isJsonObject(event.object)) continue;
    if (logEvent(event) !== undefined) continue;
    return {
      expected: isBookmark ? "no BOOKMARK, for none was asked for" : "ADDED, MODIFIED or DELETED with an object",
      actual: `event ${index + 1} is ${event.type}: ${JSON.stringify(event.object).slice(0, 300)}`,
    };
  }
  return undefined;
}

/** No state of an object is delivered twice: each (uid, version) at most once. */
export function judgeUnique(log: readonly LogEvent[]): Violation | undefined {
  const seen = new Map<string, LogEvent>();
  for (const event of log) {
    const state = `${event.uid} ${event.version}`;
    const earlier = seen.get(state);
    if (earlier !== undefined) {
      return {
        expected: `each state once: after ${describeEvent(earlier)}, a new version`,
        actual: `${describeEvent(event)} again`,
      };
    }
    seen.set(state, event);
  }
  return undefined;
}

/**
 * The life of each key: ADDED only when absent, MODIFIED and DELETED only when present and of the same uid; a uid that
 * was deleted never comes back. `present` maps the keys that exist when the stream begins to their uids. Through a selector
 * DELETED may say as well that an object is no longer selected, and that one may come back.
 */
export function judgeLifeCycle(
  log: readonly LogEvent[],
  present: ReadonlyMap<string, string> = new Map(),
  shows: "all" | "selected" = "all",
): Violation | undefined {
  const living = new Map(present);
  const dead = new Set<string>();
  for (const event of log) {
    const uid = living.get(event.key);
    const lawful = event.type === "ADDED" ? uid === undefined && !dead.has(event.uid) : uid === event.uid;
    if (!lawful) {
      const state = uid === undefined ? `${event.key} is absent` : `${event.key} exists with uid ${uid}`;
      return { expected: lawfulNext(uid, dead.has(event.uid)), actual: `${describeEvent(event)} while ${state}` };
    }
    if (event.type === "DELETED") {
      living.delete(event.key);
      if (shows === "all") dead.add(event.uid);
    } else {
      living.set(event.key, event.uid);
    }
  }
  return undefined;
}

function lawfulNext(uid: string | undefined, wasDeleted: boolean): string {
  if (uid !== undefined) return `MODIFIED or DELETED of uid ${uid}`;
  return wasDeleted ? "no event of a uid that was deleted" : "ADDED, for the object is absent";
}

/** Once an object is being deleted it stays so; its creation time never changes. */
export function judgeFates(log: readonly LogEvent[]): Violation | undefined {
  const last = new Map<string, LogEvent>();
  for (const event of log) {
    const before = last.get(event.uid)?.object.metadata;
    const now = event.object.metadata;
    if (before !== undefined && before.creationTimestamp !== now.creationTimestamp) {
      return {
        expected: `creationTimestamp ${before.creationTimestamp} for the whole life of uid ${event.uid}`,
        actual: `${now.creationTimestamp} in ${describeEvent(event)}`,
      };
    }
    if (before?.deletionTimestamp && !now.deletionTimestamp && event.type !== "DELETED") {
      return {
        expected: `deletionTimestamp stays once it is set (${before.deletionTimestamp})`,
        actual: `none in ${describeEvent(event)}`,
      };
    }
    last.set(event.uid, event);
  }
  return undefined;
}

/** DELETED carries a version of its own: that of the deletion, not of an earlier state. */
export function judgeDeletedVersions(log: readonly LogEvent[]): Violation | undefined {
  const versions = new Map<string, LogEvent>();
  for (const event of log) {
    const earlier = versions.get(event.version);
    if (event.type === "DELETED" && earlier !== undefined) {
      return {
        expected: "a DELETED event with the version of the deletion",
        actual: `${describeEvent(event)}, the version of the earlier ${describeEvent(earlier)}`,
      };
    }
    versions.set(event.version, event);
  }
  return undefined;
}

/** DELETED shows the object as it was last; what the deletion itself writes into the metadata may differ. */
export function judgeDeletedStates(log: readonly LogEvent[]): Violation | undefined {
  const last = new Map<string, LogEvent>();
  for (const event of log) {
    const before = last.get(event.uid);
    if (event.type === "DELETED" && before !== undefined && !sameContent(lasting(before), lasting(event))) {
      return {
        expected: `a DELETED event that shows the last state: ${JSON.stringify(before.object).slice(0, 600)}`,
        actual: JSON.stringify(event.object).slice(0, 600),
      };
    }
    last.set(event.uid, event);
  }
  return undefined;
}

const writtenByDeletion: readonly string[] = [
  "resourceVersion",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "finalizers",
  "generation",
];

function lasting({ object }: LogEvent): JsonObject {
  const entries = Object.entries(object.metadata).filter(([name]) => !writtenByDeletion.includes(name));
  return { ...object, metadata: Object.fromEntries(entries) };
}

/** The object of every change is of the kind that was asked for, and says so: nothing else on a stream tells it. */
export function judgeKinds(
  log: readonly LogEvent[],
  wanted: { readonly apiVersion: string; readonly kind: string },
): Violation | undefined {
  for (const event of log) {
    const { apiVersion, kind } = event.object;
    if (apiVersion === wanted.apiVersion && kind === wanted.kind) continue;
    return {
      expected: `${wanted.kind} of ${wanted.apiVersion} in ${describeEvent(event)}`,
      actual: `${String(kind)} of ${String(apiVersion)}`,
    };
  }
  return undefined;
}
