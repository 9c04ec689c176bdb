import fc from "fast-check";
import type { Answer } from "../../client/exchange.ts";
import { type ApiObject, isApiObject } from "../../client/types.ts";
import { versionOf } from "../../client/types.ts";
import { atLatestVersion } from "../../runner/at-latest-version.ts";
import { defineCheck } from "../../runner/define-check.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { createPlacedPod } from "../../runner/pods.ts";

/**
 * Property: further deletions of a pod whose deletion is under way only bring its end nearer, never past the request
 * itself; no value of grace makes it undeletable; and preconditions that hold never conflict with the deletion's own
 * steps.
 */
export const graceOnlyShortens = defineCheck({
  id: "grace-only-shortens",
  area: "deletion",
  property: "Further deletions of a pod shorten its grace, and the last of them ends it.",
  requirements: [
    "deletion.grace-asked",
    "deletion.grace-never-longer",
    "deletion.grace-not-past",
    "deletion.grace-negative",
    "deletion.preconditions-hold",
  ],
  features: ["pods", "configmaps"],
  cost: "waiting",
  input: fc.record({
    ownGrace: fc.constantFrom(5, 30, 120),
    graces: fc.array(fc.constantFrom<(number | undefined)[]>(undefined, -1, 1, 2, 10, 60, 300), {
      minLength: 1,
      maxLength: 4,
    }),
    pauseMillis: fc.constantFrom(0, 0, 0, 1100), // each is waited for in real time
    precondition: fc.boolean(),
    inQuery: fc.boolean(),
  }),
  examples: [
    { ownGrace: 30, graces: [-1], pauseMillis: 0, precondition: false, inQuery: false },
    { ownGrace: 30, graces: [60, 10], pauseMillis: 1100, precondition: true, inQuery: false },
    { ownGrace: 30, graces: [60, 10], pauseMillis: 0, precondition: false, inQuery: true },
    { ownGrace: 30, graces: [undefined, undefined, undefined], pauseMillis: 1100, precondition: false, inQuery: false },
  ],
  async run(attempt, { ownGrace, graces, pauseMillis, precondition, inQuery: drawnInQuery }) {
    const inQuery = drawnInQuery && !precondition; // where there is a body, nobody promises to look at the query
    const pods = await attempt.target.collection("pods");
    const markers = await attempt.target.collection("configmaps");
    let pod = await createPlacedPod(attempt, pods, "a", ownGrace);
    const conditionsOn = (seen: ApiObject) =>
      precondition ? { preconditions: { resourceVersion: versionOf(seen) } } : {};
    let end: number | undefined;
    for (const [index, grace] of graces.entries()) {
      if (index > 0 && pauseMillis > 0) await attempt.client.pause(pauseMillis);
      const now = await attempt.fence(markers); // its creationTimestamp is the server's time, before the request
      const asked = grace === undefined ? {} : { gracePeriodSeconds: grace };
      const query = inQuery ? asked : {};
      const optionsFor = (seen: ApiObject) => ({ ...(inQuery ? {} : asked), ...conditionsOn(seen) });
      const { answer, object } = await atLatestVersion(pods, pod, (seen) =>
        pods.delete("a", inQuery ? undefined : optionsFor(seen), { query }),
      );
      const options = optionsFor(object);
      attempt.expect(
        "deletion.preconditions-hold",
        answer.status < 300,
        `${JSON.stringify({ ...query, ...options })} accepted`,
        shown(answer),
      );
      const read = await pods.get("a");
      if (read.status === 404) break; // a server, or a kubelet's stand-in, may end it by itself
      pod = read.json as ApiObject;
      const stamp = Date.parse(String(pod.metadata.deletionTimestamp));
      const called = `after ${JSON.stringify({ ...query, ...options })}`;
      judgeGiven(attempt, index, grace ?? ownGrace, pod, called);
      const nowMillis = Date.parse(String(now.metadata.creationTimestamp));
      // Once the old end has come, the end of a shorter grace may be the present, or be left in the past.
      const leewayMillis = attempt.clockLeewayMillis;
      let latest = end === undefined ? Number.POSITIVE_INFINITY : Math.max(end, nowMillis + 1000) + leewayMillis;
      if (stamp > latest) {
        // Or the request was long on its way: the present is before what is written next.
        const next = await attempt.fence(markers);
        latest = Math.max(latest, Date.parse(String(next.metadata.creationTimestamp)) + 1000 + leewayMillis);
      }
      attempt.expect(
        "deletion.grace-never-longer",
        stamp <= latest, // not so for a time that is none
        `an end not after ${describe(end)} ${called}`,
        describe(stamp),
      );
      attempt.expect(
        "deletion.grace-not-past",
        stamp === end || stamp >= nowMillis - leewayMillis,
        `an end not before ${now.metadata.creationTimestamp} ${called}`,
        describe(stamp),
      );
      end = stamp;
    }
    const read = await pods.get("a");
    if (isApiObject(read.json) && read.status === 200) pod = read.json;
    const { answer: last } = await atLatestVersion(pods, pod, (seen) =>
      pods.delete("a", { gracePeriodSeconds: 0, ...conditionsOn(seen) }),
    );
    const requirement = graces.includes(-1) ? "deletion.grace-negative" : "deletion.preconditions-hold";
    attempt.expect(
      requirement,
      last.status < 300 || last.status === 404,
      "the deletion without grace accepted",
      shown(last),
    );
    const gone = await pods.get("a");
    attempt.expect(requirement, gone.status === 404, "404 after a deletion without grace", shown(gone));
  },
});

/** The first deletion sets the grace. Somebody else may have ended the pod meanwhile, and leaves it a second at most. */
function judgeGiven(attempt: Attempt, index: number, asked: number, pod: ApiObject, called: string): void {
  if (index > 0 || asked <= 0) return;
  const given = Number(pod.metadata.deletionGracePeriodSeconds);
  const isKept = given === asked || given <= 1;
  attempt.expect("deletion.grace-asked", isKept, `deletionGracePeriodSeconds ${asked} ${called}`, String(given));
}

function shown(answer: Answer): string {
  return `${answer.status} ${answer.text.slice(0, 300)}`;
}

function describe(millis: number | undefined): string {
  return millis === undefined || Number.isNaN(millis) ? "no time" : new Date(millis).toISOString();
}
