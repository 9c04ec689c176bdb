import fc from "fast-check";
import { anyWriters, wholeLife } from "../../arbitraries/programs.ts";
import type { ApiObject } from "../../client/types.ts";
import type { WatchStream } from "../../client/watch-stream.ts";
import type { Violation } from "../../client/findings.ts";
import { describeEvent, type LogEvent } from "../../model/history.ts";
import { type Filter, judgeSameEvents, project } from "../../model/projection.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { ownLog, tellStory } from "../../runner/story.ts";

/** Selectors that let the fence through, with what they mean. */
const selectors: readonly { query: Record<string, string>; matches: Filter }[] = [
  { query: { labelSelector: "team=red" }, matches: (object) => teamOf(object) === "red" },
  { query: { labelSelector: "team!=blue" }, matches: (object) => teamOf(object) !== "blue" },
  { query: { labelSelector: "team in (red,green)" }, matches: (object) => teamOf(object) === "red" },
  { query: { labelSelector: "team" }, matches: (object) => teamOf(object) !== undefined },
  { query: { fieldSelector: "metadata.name!=a" }, matches: (object) => object.metadata.name !== "a" },
  {
    query: { labelSelector: "team=red", fieldSelector: "metadata.name!=aa" },
    matches: (object) => teamOf(object) === "red" && object.metadata.name !== "aa",
  },
];

function teamOf(object: ApiObject): string | undefined {
  return object.metadata.labels?.["team"];
}

/**
 * Property: a filtered watch is the full history as the filter shows it: objects appear and vanish as they start and
 * stop to match, at the versions of the changes that made them. So does one that begins when all of it is past.
 */
export const watchFiltersTheHistory = defineCheck({
  id: "watch-filters-the-history",
  area: "watch",
  property: "A watch with a selector is what the selector shows of the history.",
  requirements: ["watch.transitions", "watch.transition-version", "watch.filtered"],
  features: ["configmaps", "watch"],
  input: fc.record({
    writers: anyWriters({ writersMax: 2, stepsMax: 8, cuts: false }),
    selector: fc.nat(selectors.length - 1),
  }),
  examples: selectors.map((_, selector) => ({ writers: [wholeLife], selector })),
  async run(attempt, { writers, selector }) {
    const { query, matches } = selectors[selector] as (typeof selectors)[number];
    let live: WatchStream | undefined;
    const story = await tellStory(attempt, writers, {
      fenceLabels: { team: "red" },
      async meanwhile(collection, before) {
        live = await attempt.openWatch(collection, { ...query, resourceVersion: before.resourceVersion });
      },
    });
    const { before, collection, fence } = story;
    const expected = project(story.base, story.log, matches);
    const past = await attempt.openWatch(collection, { ...query, resourceVersion: before.resourceVersion });
    for (const watch of [live as WatchStream, past]) {
      const stream = ownLog(attempt, collection, await attempt.untilFence(watch, fence));
      attempt.holds("watch.filtered", judgeMatching(stream, matches));
      attempt.holds("watch.transitions", judgeSameEvents(expected.map(unversioned), stream.map(unversioned)));
      attempt.holds("watch.transition-version", judgeSameEvents(expected, stream));
      watch.close();
    }
  },
});

/** The documents promise the filter, not the words for coming and going: what is shown as present matches. */
function judgeMatching(stream: readonly LogEvent[], matches: Filter): Violation | undefined {
  const stray = stream.find((event) => event.type !== "DELETED" && !matches(event.object));
  return stray === undefined ? undefined : { expected: "only objects that match", actual: describeEvent(stray) };
}

function unversioned(event: LogEvent): LogEvent {
  return { ...event, version: "any" };
}
