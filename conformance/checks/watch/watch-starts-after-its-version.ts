import fc from "fast-check";
import { anyWriters, wholeLife } from "../../arbitraries/programs.ts";
import { describeEvent } from "../../model/history.ts";
import { everything, judgeStreamAgainstLog } from "../../model/projection.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { ownLog, tellStory } from "../../runner/story.ts";

/** Property: a watch from any version that the server gave out, in an answer or an event, delivers what came after it. */
export const watchStartsAfterItsVersion = defineCheck({
  id: "watch-starts-after-its-version",
  area: "watch",
  property: "A watch from a version delivers the changes after it and not the one that made it.",
  requirements: ["watch.after-version"],
  features: ["configmaps", "watch"],
  input: fc.record({
    writers: anyWriters({ writersMax: 2, stepsMax: 7, cuts: false }),
    picks: fc.array(fc.nat(), { minLength: 1, maxLength: 4 }),
  }),
  examples: [{ writers: [wholeLife], picks: [0, 2, 4, 6] }],
  async run(attempt, { writers, picks }) {
    const { collection, base, log, fence } = await tellStory(attempt, writers);
    for (const pick of picks) {
      const from = log.length === 0 ? undefined : log[pick % log.length];
      const after = from?.version ?? fence.metadata.resourceVersion ?? "";
      const watch = await attempt.openWatch(collection, { resourceVersion: after });
      // A second fence: the first may itself be the version that the watch starts from.
      const stream = ownLog(attempt, collection, await attempt.untilFence(watch, await attempt.fence(collection)));
      watch.close();
      const own = stream.filter((event) => !event.object.metadata.name.startsWith("zz-fence-"));
      if (from === undefined) {
        const actual = own.map(describeEvent).join(", ");
        attempt.expect("watch.after-version", own.length === 0, "no event from before the version", actual);
      } else {
        attempt.holds("watch.after-version", judgeStreamAgainstLog(base, log, { after }, everything, own));
      }
    }
  },
});
