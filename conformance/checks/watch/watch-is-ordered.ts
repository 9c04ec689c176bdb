import { anyWriters } from "../../arbitraries/programs.ts";
import type { WatchStream } from "../../client/watch-stream.ts";
import { everything, judgeStreamAgainstLog } from "../../model/projection.ts";
import { judgeRealTimeOrder } from "../../model/reliable.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { ownLog, tellStory } from "../../runner/story.ts";

/**
 * Property: a write that was answered before another was sent comes first, and two watches tell one order.
 * Versions are opaque, so order is known only from what the writers saw and from the streams themselves. One more
 * watch begins where the others did when all has happened: what is past is told from elsewhere than what happens.
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
    const { before, collection, base, log, writes, fence } = story;
    attempt.holds("watch.ordered", judgeRealTimeOrder(log, writes));
    const past = await attempt.openWatch(collection, { resourceVersion: before.resourceVersion });
    for (const stream of [second as WatchStream, past]) {
      const told = ownLog(attempt, collection, await attempt.untilFence(stream, fence));
      attempt.holds("watch.ordered", judgeStreamAgainstLog(base, log, { state: base }, everything, told));
      stream.close();
    }
  },
});
