/** What the version of a collection says: of which moment the list is, whatever versions its items have. */
import { type ApiList, versionOf } from "../client/types.ts";
import type { Violation } from "../client/findings.ts";
import { describeEvent, type LogEvent } from "./history.ts";
import { judgeSameState, stateOf } from "./replay.ts";
import { judgeLifeCycle } from "./stream-law.ts";

/** One thing after another, by one client. */
export type Happening =
  /** A write that was answered as done. `version`: the object's; undefined for a deletion, which has one and need not say it. */
  | { readonly did: "write"; readonly version: string | undefined }
  /** `fresh`: a list of the most recent state. `what`: which objects were asked for; lists of the same are set side by side. */
  | { readonly did: "list"; readonly list: ApiList; readonly fresh: boolean; readonly what: string };

/**
 * Two lists of the same that have one version are one state; and a fresh list has no version that was known before the
 * last change, for it was built after it.
 */
export function judgeListVersions(happenings: readonly Happening[]): Violation | undefined {
  const known = new Set<string>();
  let knownBeforeChange = new Set<string>();
  const lists = new Map<string, ApiList>();
  for (const happening of happenings) {
    if (happening.did === "write") {
      const { version } = happening;
      if (version !== undefined && known.has(version)) continue; // it changed nothing
      knownBeforeChange = new Set(known);
      if (version !== undefined) known.add(version);
      continue;
    }
    const { list, what } = happening;
    const { resourceVersion } = list;
    const earlier = lists.get(`${what} ${resourceVersion}`);
    const named = { expected: `the earlier list of ${what} at ${resourceVersion}`, actual: "this one" };
    const parted = earlier && judgeSameState(stateOf(earlier.items), stateOf(list.items), named);
    if (parted !== undefined) return parted;
    if (happening.fresh && knownBeforeChange.has(resourceVersion)) {
      return {
        expected: `a version of its own for a list of ${what} that was built after a change`,
        actual: `${resourceVersion}, which was known before that change`,
      };
    }
    lists.set(`${what} ${resourceVersion}`, list);
    for (const version of [resourceVersion, ...list.items.map(versionOf)]) known.add(version);
  }
  return undefined;
}

/** What a watch from the list's version tells goes on from that list: nothing of what it shows comes again. */
export function judgeGoesOn(
  list: ApiList,
  log: readonly LogEvent[],
  shows: "all" | "selected" = "all",
): Violation | undefined {
  const shown = new Set(list.items.map((item) => `${item.metadata.uid} ${versionOf(item)}`));
  const again = log.find(({ uid, version }) => shown.has(`${uid} ${version}`));
  if (again !== undefined) {
    return {
      expected: `nothing that the list at ${list.resourceVersion} shows, in a watch from there`,
      actual: describeEvent(again),
    };
  }
  const living = new Map([...stateOf(list.items)].map(([key, { metadata }]) => [key, metadata.uid ?? ""]));
  return judgeLifeCycle(log, living, shows);
}
