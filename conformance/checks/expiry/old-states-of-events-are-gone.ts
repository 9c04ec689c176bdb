import { eventOf, eventsGroupVersion, reportAbout } from "../../arbitraries/events.ts";
import type { Answer } from "../../client/exchange.ts";
import { type Collection, listOf, objectOf } from "../../client/collection.ts";
import { Inconclusive } from "../../client/findings.ts";
import { isFailureStatus, shownAnswer, shownStatus } from "../../client/status-document.ts";
import { type ApiList, type ApiObject, isApiObject, type WatchEvent } from "../../client/types.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineAgedCheck } from "../../runner/define-check.ts";
import { pollUntil } from "../../runner/poll.ts";

/**
 * What was once the state of the events of a namespace is answered as it was, and 410 once it is forgotten: to a list at
 * exactly its version, to the next page of a list, and to a watch, which otherwise tells what has happened since.
 */
export const oldStatesOfEventsAreGone = defineAgedCheck({
  id: "old-states-of-events-are-gone",
  area: "expiry",
  property: "An old state of events is shown as it was, or answered 410.",
  requirements: ["events.errors"],
  features: ["events", "namespaces", "watch"],
  async capture(attempt) {
    const groupVersion = eventsGroupVersion(attempt.profile.dialect);
    const namespace = await attempt.target.namespace();
    const events = await attempt.target.collection("events", "", `/apis/${groupVersion}`);
    const create = async (name: string) =>
      objectOf(await events.create(eventOf(groupVersion, name, reportAbout(namespace))));
    for (const name of ["a", "b", "c"]) await create(name);
    const page = await events.readList({ limit: 1 });
    const before = await events.readList();
    await events.delete("b");
    await create("d");
    return { events, before, token: page.continueToken };
  },
  async settle(attempt, { events, before, token }, deadlineMillis) {
    const { resourceVersion } = before;
    const whole = namesOf(before);
    const gone = await pollUntil(attempt, deadlineMillis, async () => {
      const answer = await events.list({ resourceVersion, resourceVersionMatch: "Exact" });
      if (answer.status !== 200) return answer;
      says(attempt, namesOf(listOf(answer)) === whole, `${whole} at version ${resourceVersion}`, answer);
      return undefined;
    });
    if (gone === undefined) {
      throw new Inconclusive(`version ${resourceVersion} of events was still there when the time allowed was over`);
    }
    judgeGone(attempt, gone);
    if (token !== undefined) {
      const next = await events.list({ limit: 500, continue: token });
      const rest = next.status === 200 ? namesOf(listOf(next)) : undefined;
      if (rest === undefined) judgeGone(attempt, next);
      else says(attempt, whole.endsWith(rest), `the rest of ${whole}, or 410`, next);
    }
    await judgeWatch(attempt, events, resourceVersion);
  },
});

const namesOf = ({ items }: ApiList): string => items.map(({ metadata }) => metadata.name).join();

function says(attempt: Attempt, holds: boolean, expected: string, answer: Answer): void {
  attempt.expect("events.errors", holds, expected, shownAnswer(answer));
}

function judgeGone(attempt: Attempt, answer: Answer): void {
  const isTold =
    shownStatus(answer) === "410 Expired" || shownStatus(answer) === "410 Gone" || shownStatus(answer) === "410";
  says(attempt, isTold && isFailureStatus(answer), "a Status 410 for a state that is forgotten", answer);
}

/** A history may last longer than states do. What is told of it is whole. */
async function judgeWatch(attempt: Attempt, events: Collection, resourceVersion: string): Promise<void> {
  const watch = await attempt.answeredWatch(() => events.watch({ resourceVersion, timeoutSeconds: 2 }));
  await watch.untilEnded(10_000);
  watch.close();
  if (watch.status === 410) return;
  attempt.expect("events.errors", watch.status === 200, "a watch of events, or 410", String(watch.status));
  const told = watch.events.filter(({ type }) => type !== "BOOKMARK");
  if (told.length === 0) return; // it ended before it had said a word
  const story = told.map(({ type, object }) => `${type} ${nameOf(object)}`).join(", ");
  const isGone = told.length === 1 && told[0]?.type === "ERROR" && told[0].object["code"] === 410;
  const isWhole = "DELETED b, ADDED d".startsWith(story);
  attempt.expect("events.errors", isGone || isWhole, "410 alone, or DELETED b, ADDED d", story);
}

function nameOf(object: WatchEvent["object"]): string {
  return isApiObject(object) ? (object as ApiObject).metadata.name : JSON.stringify(object["code"] ?? "");
}
