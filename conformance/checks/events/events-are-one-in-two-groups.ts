import fc from "fast-check";
import { anyMicroTime, eventOf, eventsGroupVersion, reportAbout } from "../../arbitraries/events.ts";
import { objectOf } from "../../client/collection.ts";
import { shownAnswer } from "../../client/status-document.ts";
import type { ApiObject, JsonObject } from "../../client/types.ts";
import { differingField, reportOf } from "../../model/event-rules.ts";
import type { Attempt } from "../../runner/attempt.ts";
import { defineCheck } from "../../runner/define-check.ts";

/**
 * Property: an event is one object under two names of its type. Whichever group it was created in, it is read in both: the
 * same uid, the same version, and every field under its group's name.
 */
export const eventsAreOneInTwoGroups = defineCheck({
  id: "events-are-one-in-two-groups",
  area: "events",
  property: "An event is the same object in the core group and in its own.",
  requirements: ["events.one-store"],
  features: ["events", "namespaces"],
  input: fc.record({
    createdIn: fc.constantFrom("own", "core"),
    note: fc.stringMatching(/^[a-z ]{0,20}$/),
    eventTime: anyMicroTime,
    count: fc.nat(5),
    series: fc.boolean(),
    deletedIn: fc.constantFrom("own", "core"),
  }),
  async run(attempt, { createdIn, note, eventTime, count, series, deletedIn }) {
    const groupVersion = eventsGroupVersion(attempt.profile.dialect);
    const namespace = await attempt.target.namespace();
    const own = await attempt.target.collection("events", "", `/apis/${groupVersion}`);
    const core = await attempt.target.collection("events");
    const repeated = series ? { series: { count: 2, lastObservedTime: eventTime } } : {};
    const sent: JsonObject =
      createdIn === "own"
        ? eventOf(groupVersion, "e", reportAbout(namespace, { note, eventTime, ...repeated }))
        : {
            apiVersion: "v1",
            kind: "Event",
            metadata: { name: "e" },
            involvedObject: { apiVersion: "v1", kind: "Pod", namespace, name: "p" },
            reason: "Scheduled",
            message: note,
            type: "Normal",
            source: { component: "touchstone", host: "n" },
            firstTimestamp: "2026-01-01T00:00:00Z",
            lastTimestamp: "2026-01-01T00:00:05Z",
            count,
          };
    objectOf(await (createdIn === "own" ? own : core).create(sent), "events.one-store");
    const inOwn = objectOf(await own.get("e"), "events.one-store");
    const inCore = objectOf(await core.get("e"), "events.one-store");
    for (const field of ["uid", "resourceVersion"] as const) {
      const [a, b] = [inOwn.metadata[field], inCore.metadata[field]];
      attempt.expect(
        "events.one-store",
        a === b,
        `${field} ${String(a)} in both groups`,
        `${String(b)} in the core group`,
      );
    }
    judgeSaysTheSame(attempt, reportOf(sent, createdIn), inOwn, "own");
    judgeSaysTheSame(attempt, reportOf(sent, createdIn), inCore, "core");
    const [one, other] = deletedIn === "own" ? [own, core] : [core, own];
    await one.delete("e");
    const gone = await other.get("e");
    attempt.expect("events.one-store", gone.status === 404, "gone in both groups", shownAnswer(gone));
  },
});

function judgeSaysTheSame(attempt: Attempt, sent: JsonObject, read: ApiObject, form: "own" | "core"): void {
  const said = reportOf(read, form);
  const differing = differingField(sent, said);
  attempt.expect(
    "events.one-store",
    differing === undefined,
    `${differing} ${JSON.stringify(sent[differing ?? ""])} in ${String(read["apiVersion"])}`,
    JSON.stringify(said[differing ?? ""]),
  );
}
