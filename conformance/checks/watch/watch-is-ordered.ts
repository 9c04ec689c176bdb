import { anyWriters } from "../../arbitraries/programs.ts";
import type { WatchStream } from "../../client/watch-stream.ts";
import { everything, judgeStreamAgainstLog } from "../../model/projection.ts";
import { judgeRealTimeOrder } from "../../model/reliable.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { ownLog, tellStory } from "../../runner/story.ts";

/**
 * Property: a write that was answered before another was sent comes first, and two watches tell one order.
 * Versions are opaque, so order is known only from what the writers saw and from the streams themselves.
 */
export const watchIsOrdered = defineCheck({
  id: "watch-is-ordered",
  area: "watch",
  property: "Events come in the order of the writes, the same on every stream.",
  requirements: ["watch.ordered"],
  features: ["configmaps", "watch"],
  input: anyWriters({ writersMax: 3, stepsMax: 6, cuts: true }),
  async run(attempt, writers) {
    let second: WatchStream | undefined;
    const story = await tellStory(attempt, writers, {
      async meanwhile(collection, before) {
        second = await attempt.openWatch(collection, { resourceVersion: before.resourceVersion });
      },
    });
    const { collection, base, log, writes, fence } = story;
    attempt.holds("watch.ordered", judgeRealTimeOrder(log, writes));
    const other = ownLog(attempt, collection, await attempt.untilFence(second as WatchStream, fence));
    attempt.holds("watch.ordered", judgeStreamAgainstLog(base, log, { state: base }, everything, other));
  },
});
