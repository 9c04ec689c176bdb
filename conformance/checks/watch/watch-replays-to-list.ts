import { anyWriters } from "../../arbitraries/programs.ts";
import { judgeReplay } from "../../model/replay.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { tellStory } from "../../runner/story.ts";

/**
 * Property: a list, plus every event watched from it, equals a later list.
 * No answer is lost here: a write without one could still take effect between the fence and the later list.
 */
export const watchReplaysToList = defineCheck({
  id: "watch-replays-to-list",
  area: "watch",
  property: "A list and the events after it make a later list.",
  requirements: ["watch.replays-to-list"],
  features: ["configmaps", "watch"],
  input: anyWriters({ writersMax: 3, stepsMax: 6, cuts: false }),
  async run(attempt, writers) {
    const { collection, before, log, fence } = await tellStory(attempt, writers);
    const after = await collection.readList();
    const own = (items: typeof after.items) =>
      attempt.target.own(collection, items).filter((item) => item.metadata.uid !== fence.metadata.uid);
    attempt.holds("watch.replays-to-list", judgeReplay(own(before.items), log, own(after.items)));
  },
});
