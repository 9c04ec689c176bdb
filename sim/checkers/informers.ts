/** What must hold of informers at a moment of a run. Each judge is pure: it looks, and touches nothing. */
import type { Verdict } from "../../reports/schema/verdict.ts";
import type { Informer, WatchRecord } from "../client/informer.ts";

/** An informer and its name. */
export interface NamedInformer {
  readonly name: string;
  readonly informer: Pick<Informer, "objects" | "path" | "watches">;
}

const failed = (expected: string, actual: string): Verdict => ({ status: "failed", expected, actual });
const passed: Verdict = { status: "passed", runs: 1 };

/** What happened to the store of a run, from its beginning. */
export interface StoreHistory {
  /** Every change, in order of revision. */
  readonly changes: readonly { readonly key: string; readonly revision: number }[];
  /** From `atMicros` on, the store keeps nothing below `revision`. */
  readonly compactions: readonly { readonly atMicros: number; readonly revision: number }[];
}

/**
 * A watch from a version that the store has dropped is told 410, unless the server still had every change since
 * then in its cache. Versions are compared as numbers here: a checker of the simulation may know what a client may not.
 */
export function expiredWatchesAreGone(informers: readonly NamedInformer[], history: StoreHistory): Verdict {
  let told = 0;
  for (const { name, informer } of informers) {
    for (const watch of informer.watches) {
      const from = Number(watch.fromVersion);
      const dropped = history.compactions.findLast(
        ({ atMicros, revision }) => atMicros < watch.startedMicros && from < revision,
      );
      if (dropped === undefined) continue;
      if (watch.outcome === "gone") told++;
      const gap = gapIn(watch, informer.path, history);
      if (gap !== undefined) {
        return failed(
          `${name} is told 410: it watches from version ${from}, and those below ${dropped.revision} are compacted`,
          `the watch is served, without the change of version ${gap}`,
        );
      }
    }
  }
  return told > 0 ? passed : { status: "inconclusive", why: "no watch was told that its version is not retained" };
}

/** Each served watch had every change of its collection since its version, once, in order, up to its last event. */
export function watchesAreReliable(informers: readonly NamedInformer[], history: StoreHistory): Verdict {
  let seen = 0;
  for (const { name, informer } of informers) {
    for (const watch of informer.watches) {
      seen += watch.events.length;
      const gap = gapIn(watch, informer.path, history);
      if (gap !== undefined)
        return failed(
          `${name}'s watch from version ${watch.fromVersion} has the change of version ${gap}`,
          "it has later events and not that one",
        );
    }
  }
  return seen > 0 ? passed : { status: "inconclusive", why: "no watch had an event" };
}

/** The first change that a watch passed over, as its later events or bookmarks show. */
function gapIn(watch: WatchRecord, path: string, { changes }: StoreHistory): number | undefined {
  const from = Number(watch.fromVersion);
  const last = Number(watch.events.at(-1)?.version ?? from);
  const got = new Set(watch.events.filter(({ type }) => type !== "BOOKMARK").map(({ version }) => Number(version)));
  const prefix = storagePrefix(path);
  const missed = changes.find(
    ({ key, revision }) => key.startsWith(prefix) && revision > from && revision <= last && !got.has(revision),
  );
  return missed?.revision;
}

/** `/api/v1/namespaces/default/configmaps` → `/registry/configmaps/default/`. */
function storagePrefix(path: string): string {
  const [, namespace = "", resource = ""] = /namespaces\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
  return `/registry/${resource}/${namespace}/`;
}

/** The versions of the events of each watch rise; a bookmark may repeat the last. */
export function watchesAreOrdered(informers: readonly NamedInformer[]): Verdict {
  let seen = 0;
  for (const { name, informer } of informers) {
    for (const { fromVersion, events } of informer.watches) {
      let last = Number(fromVersion);
      for (const { type, version } of events) {
        seen++;
        const rises = type === "BOOKMARK" ? Number(version) >= last : Number(version) > last;
        if (!rises)
          return failed(
            `each event that ${name} gets is newer than the one before`,
            `version ${version} came after ${last}`,
          );
        last = Number(version);
      }
    }
  }
  return seen > 0 ? passed : { status: "inconclusive", why: "no watch had an event" };
}
