import { append } from "../../../wire/lists.ts";
import fc from "fast-check";
import { configMap } from "../../arbitraries/config-maps.ts";
import { anyWriters } from "../../arbitraries/programs.ts";
import type { Query } from "../../client/client.ts";
import { type Collection, objectOf } from "../../client/collection.ts";
import { versionOf } from "../../client/types.ts";
import type { WatchStream } from "../../client/watch-stream.ts";
import { Inconclusive } from "../../client/findings.ts";
import { judgeReplay } from "../../model/replay.ts";
import { isEndMark, judgeEndMark, judgeMoment, placeKnownAt, placeOfVersion } from "../../model/streaming.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { ownLog, tellStory } from "../../runner/story.ts";

/**
 * Property: what a streaming list has told when it says that it is whole is the state of one moment: without a version,
 * one that shows all that was acknowledged when it was asked for; with one, a moment that has reached that version.
 * Without leave for bookmarks the same comes, and no bookmark.
 * Method: the lists are opened while writers write, right after a write that nobody reads back. The moments are those of
 * a watch of all changes, so that versions are compared for equality alone.
 */
export const streamingListsShowOneMoment = defineCheck({
  id: "streaming-lists-show-one-moment",
  area: "watch",
  property:
    "A streaming list shows a moment that is as new as was asked for, and says so only to whom bookmarks are allowed.",
  requirements: ["streaming.consistent", "streaming.at-least", "streaming.bookmark-allowed"],
  features: ["configmaps", "watch", "streaming-lists"],
  input: fc.record({
    writers: anyWriters({ writersMax: 3, stepsMax: 5, cuts: false }),
    // Empty: no leave. The documents know no other word for it than its absence, and false says the same.
    leave: fc.constantFrom<Query>({}, { allowWatchBookmarks: false }),
  }),
  async run(attempt, { writers, leave }) {
    const mark = attempt.profile.dialect.initialEventsEnd;
    let version = "";
    const opened: WatchStream[] = [];
    const story = await tellStory(attempt, writers, {
      async meanwhile(collection) {
        version = versionOf(objectOf(await collection.create(configMap("fresh"))));
        const open = (query: Query) => openStreaming(attempt, collection, query);
        const allowed = { allowWatchBookmarks: true };
        append(opened, await Promise.all([open(allowed), open({ ...allowed, resourceVersion: version }), open(leave)]));
      },
    });
    const { collection, base, log: history, fence, writes } = story;
    const [unset, at, silent] = opened as [WatchStream, WatchStream, WatchStream];
    const fresh = placeOfVersion(history, version);
    const known = placeKnownAt(history, writes, unset.exchange.began);
    for (const [requirement, watch, placeMin] of [
      ["streaming.consistent", unset, Math.max(fresh, known)],
      ["streaming.at-least", at, fresh],
    ] as const) {
      const end = await endOf(watch, mark);
      const told = ownLog(attempt, collection, watch.events.slice(0, end));
      attempt.holds(requirement, judgeMoment(base, history, placeMin, told));
      attempt.holds("streaming.bookmark-allowed", judgeEndMark(await eventsUntil(attempt, watch, fence), mark, true));
    }
    const events = await eventsUntil(attempt, silent, fence);
    attempt.holds("streaming.bookmark-allowed", judgeEndMark(events, mark, false));
    const after = await collection.readList();
    const own = attempt.target.own(collection, after.items).filter((item) => item.metadata.uid !== fence.metadata.uid);
    attempt.holds("streaming.bookmark-allowed", judgeReplay([], ownLog(attempt, collection, events), own));
  },
});

function openStreaming(attempt: Attempt, collection: Collection, query: Query): Promise<WatchStream> {
  return attempt.openWatch(collection, { sendInitialEvents: true, resourceVersionMatch: "NotOlderThan", ...query });
}

/** The place of the mark. That it comes at all is another requirement's, and no time is promised for it here. */
async function endOf(watch: WatchStream, mark: string): Promise<number> {
  const place = () => watch.events.findIndex((event) => isEndMark(event, mark));
  if (await watch.until(() => place() >= 0)) return place();
  throw new Inconclusive(`no end of the initial events within 10000 ms on GET ${watch.exchange.request.path}`);
}

async function eventsUntil(attempt: Attempt, watch: WatchStream, fence: Parameters<Attempt["untilFence"]>[1]) {
  const events = await attempt.untilFence(watch, fence);
  watch.close();
  return events;
}
