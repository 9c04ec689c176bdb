import fc from "fast-check";
import { anyWriters, wholeLife } from "../../arbitraries/programs.ts";
import type { WatchStream } from "../../client/watch-stream.ts";
import { judgeSameEvents } from "../../model/projection.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { ownLog, ResumingWatch, tellStory } from "../../runner/story.ts";

/**
 * Property: a watch that is cut again and again, and resumed from the version last seen, tells what an uncut one tells.
 * Method: one connection ends after each event or two, so that every kind of event is a version to resume from.
 */
export const watchResumesExactly = defineCheck({
  id: "watch-resumes-exactly",
  area: "watch",
  property: "A watch resumed from the last version seen misses nothing and repeats nothing.",
  requirements: ["watch.resumable"],
  features: ["configmaps", "watch"],
  input: fc.record({
    writers: anyWriters({ writersMax: 2, stepsMax: 7, cuts: false }),
    cuts: fc.array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 8 }),
    selected: fc.boolean(),
  }),
  examples: [true, false].map((selected) => ({ writers: [wholeLife], cuts: [1, 1, 1, 1, 1, 1, 1], selected })),
  async run(attempt, { writers, cuts, selected }) {
    const query = selected ? { labelSelector: "team=red" } : {};
    let resuming: ResumingWatch | undefined;
    let uncut: WatchStream | undefined;
    const story = await tellStory(attempt, writers, {
      fenceLabels: { team: "red" },
      async meanwhile(collection, before) {
        uncut = await attempt.openWatch(collection, { ...query, resourceVersion: before.resourceVersion });
        resuming = new ResumingWatch(attempt, collection, query, before.resourceVersion);
        for (const cut of cuts.slice(0, 2)) await resuming.connectFor(cut, 50);
      },
    });
    const watch = resuming as ResumingWatch;
    // The writers are done: what is left is read in small pieces, then to the end.
    for (const cut of cuts.slice(2)) await watch.connectFor(cut, 20);
    const fenceSeen = () => watch.events.some((event) => isFence(event.object, story.fence.metadata.uid));
    if (!fenceSeen()) await watch.connectUntil(story.fence);
    const upToFence = watch.events.slice(0, fenceIndex(watch, story.fence.metadata.uid));
    const whole = await attempt.untilFence(uncut as WatchStream, story.fence);
    const [expected, actual] = [whole, upToFence].map((events) => ownLog(attempt, story.collection, events));
    if (watch.latest !== undefined) attempt.isShownBy(watch.latest);
    attempt.holds("watch.resumable", judgeSameEvents(expected ?? [], actual ?? []));
  },
});

function fenceIndex(watch: ResumingWatch, uid: string | undefined): number {
  const index = watch.events.findIndex((event) => isFence(event.object, uid));
  return index < 0 ? watch.events.length : index;
}

function isFence(object: { readonly [key: string]: unknown }, uid: string | undefined): boolean {
  return (object["metadata"] as { uid?: string } | undefined)?.uid === uid;
}
