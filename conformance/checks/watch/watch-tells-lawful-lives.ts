import { anyWriters, wholeLife } from "../../arbitraries/programs.ts";
import {
  judgeDeletedStates,
  judgeDeletedVersions,
  judgeEnvelopes,
  judgeFates,
  judgeKinds,
  judgeLifeCycle,
  judgeUnique,
} from "../../model/stream-law.ts";
import { defineCheck } from "../../runner/define-check.ts";
import { tellStory } from "../../runner/story.ts";

/**
 * Property: within one stream every object lives one lawful life (added, modified, deleted, never back with the same
 * uid), no state comes twice, a deletion has a version of its own and shows what was last, and each event shows an
 * object of the kind.
 */
export const watchTellsLawfulLives = defineCheck({
  id: "watch-tells-lawful-lives",
  area: "watch",
  property: "Events of a stream make lawful lives, each state once.",
  requirements: [
    "watch.stream",
    "watch.unique",
    "watch.types",
    "watch.deleted",
    "bookmarks.asked",
    "objects.creation-time",
    "objects.uid",
  ],
  features: ["configmaps", "watch"],
  input: anyWriters({ writersMax: 3, stepsMax: 7, cuts: false }),
  examples: [[wholeLife]],
  async run(attempt, writers) {
    const { events, log, base, mediaType } = await tellStory(attempt, writers);
    attempt.expect("watch.stream", mediaType === "application/json", "a stream of application/json", mediaType);
    attempt.holds("bookmarks.asked", judgeEnvelopes(events, false));
    const living = new Map([...base].map(([key, object]) => [key, object.metadata.uid ?? ""]));
    attempt.holds("watch.stream", judgeKinds(log, { apiVersion: "v1", kind: "ConfigMap" }));
    attempt.holds("watch.deleted", judgeDeletedVersions(log));
    attempt.holds("watch.deleted", judgeDeletedStates(log));
    attempt.holds("watch.unique", judgeUnique(log));
    attempt.holds("watch.types", judgeLifeCycle(log, living));
    attempt.holds("objects.creation-time", judgeFates(log));
    const uids = log.filter((event) => event.type === "ADDED").map((event) => event.uid);
    const twice = uids.find((uid, index) => uid === "" || uids.indexOf(uid) !== index);
    attempt.expect(
      "objects.uid",
      twice === undefined,
      "a uid of its own for every object",
      `${JSON.stringify(twice)} twice or empty`,
    );
  },
});
