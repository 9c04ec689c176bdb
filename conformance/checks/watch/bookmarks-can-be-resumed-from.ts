import fc from "fast-check";
import { anyWriters, wholeLife } from "../../arbitraries/programs.ts";
import { isJsonObject, type Json, type JsonObject, type WatchEvent } from "../../client/types.ts";
import { Unseen, type Violation } from "../../client/findings.ts";
import { logOf } from "../../model/history.ts";
import { judgeSameEvents } from "../../model/projection.ts";
import { judgeEnvelopes } from "../../model/stream-law.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { performAll } from "../../runner/perform.ts";
import { ownLog } from "../../runner/story.ts";

/**
 * Property: a bookmark's version is one to go on from: a watch from it delivers exactly what the watch that carried it
 * delivered next, and nothing from before.
 * Method: known servers send a bookmark shortly before a watch reaches its timeout, so the watch is given a short one.
 * A server may send none at all; then they are unsupported.
 */
export const bookmarksCanBeResumedFrom = defineCheck({
  id: "bookmarks-can-be-resumed-from",
  area: "watch",
  property: "A bookmark bears a real version that covers all that came before it.",
  requirements: ["bookmarks.covers", "bookmarks.version", "bookmarks.bare"],
  features: ["configmaps", "watch"],
  cost: "slow",
  input: fc.record({
    before: anyWriters({ writersMax: 2, stepsMax: 7, cuts: false }),
    after: anyWriters({ writersMax: 1, stepsMax: 7, cuts: false }),
  }),
  examples: [{ before: [wholeLife], after: [wholeLife] }],
  async run(attempt, { before, after }) {
    const collection = await attempt.target.collection("configmaps");
    const { resourceVersion } = await collection.readList();
    const asked = { allowWatchBookmarks: true, timeoutSeconds: bookmarkSeconds };
    const watch = await attempt.openWatch(collection, { ...asked, resourceVersion });
    await performAll(collection, before);
    await attempt.fence(collection); // a change of our own: a bookmark of an idle watch says nothing
    await watch.until(() => watch.events.some(isBookmark), (bookmarkSeconds + 5) * 1000);
    await performAll(collection, after);
    await watch.untilEnded((bookmarkSeconds + 5) * 1000);
    watch.close();

    attempt.holds("bookmarks.version", judgeEnvelopes(watch.events, true));
    const places = watch.events.flatMap((event, index) => (isBookmark(event) ? [index] : []));
    if (places.length === 0) {
      throw new Unseen(`bookmarks that come within ${bookmarkSeconds} s`); // none is promised
    }
    const last = await attempt.fence(collection);
    for (const place of places) {
      const bookmark = (watch.events[place] as WatchEvent).object;
      const version = judgeVersion(bookmark);
      attempt.holds("bookmarks.version", version.violation);
      const fields = populatedFields(bookmark);
      attempt.holdsOrDeviates(
        "bookmark-has-empty-fields",
        "bookmarks.bare",
        fields.length === 0 && onlyVersion(bookmark)
          ? undefined
          : { expected: "resourceVersion alone", actual: JSON.stringify(bookmark) },
        fields.length === 0 && !onlyVersion(bookmark),
      );
      // What the first watch delivered after the bookmark may lack its end; the fence makes both lists comparable.
      const resumed = await attempt.openWatch(collection, { resourceVersion: version.value });
      const later = ownLog(attempt, collection, await attempt.untilFence(resumed, last));
      resumed.close();
      const next = ownLog(attempt, collection, watch.events.slice(place + 1));
      attempt.holds("bookmarks.covers", judgeSameEvents(next, later.slice(0, next.length)));
      // A fence that the first watch did not come to see came after the bookmark, and must come again.
      const earlier = logOf(watch.events.slice(0, place));
      const again = later.find((event) =>
        earlier.some((old) => old.uid === event.uid && old.version === event.version),
      );
      attempt.expect(
        "bookmarks.covers",
        again === undefined,
        "nothing that came before the bookmark",
        `${again?.type} ${again?.key} at ${again?.version}`,
      );
    }
  },
});

const bookmarkSeconds = 5;

function isBookmark(event: WatchEvent): boolean {
  return event.type === "BOOKMARK";
}

function judgeVersion(bookmark: JsonObject): { value: string; violation: Violation | undefined } {
  const metadata = bookmark["metadata"];
  const value = isJsonObject(metadata) ? metadata["resourceVersion"] : undefined;
  if (typeof value === "string" && value !== "" && value !== "0") return { value, violation: undefined };
  const violation = {
    expected: "a bookmark with a version to watch from",
    actual: JSON.stringify(bookmark).slice(0, 300),
  };
  return { value: "", violation };
}

/** Kind and apiVersion name the type; anything else must be empty, annotations too: this is no streaming list. */
function populatedFields(bookmark: JsonObject): string[] {
  const { kind, apiVersion, metadata, ...rest } = bookmark;
  if (kind !== "ConfigMap" || apiVersion !== "v1") return ["kind"];
  const { resourceVersion: _version, ...others } = (metadata ?? {}) as JsonObject;
  return Object.entries({ ...rest, ...others }).flatMap(([name, value]) => (isEmpty(value) ? [] : [name]));
}

function isEmpty(value: Json | undefined): boolean {
  if (value === undefined || value === null || value === "" || value === 0 || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return typeof value === "object" && Object.values(value).every(isEmpty);
}

function onlyVersion(bookmark: JsonObject): boolean {
  const { kind: _kind, apiVersion: _apiVersion, metadata, ...rest } = bookmark;
  const names = isJsonObject(metadata) ? Object.keys(metadata) : [];
  return Object.keys(rest).length === 0 && names.length === 1 && names[0] === "resourceVersion";
}
