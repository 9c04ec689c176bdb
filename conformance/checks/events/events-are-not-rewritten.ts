import fc from "fast-check";
import { eventOf, eventsGroupVersion, type Report, reportAbout } from "../../arbitraries/events.ts";
import { objectOf } from "../../client/collection.ts";
import { shownAnswer } from "../../client/status-document.ts";
import { differingField, reportOf } from "../../model/event-rules.ts";
import { defineCheck } from "../../runner/define-check.ts";

const changes: readonly (readonly [field: string, value: Report[string]])[] = [
  ["note", "something else"],
  ["reason", "Changed"],
  ["type", "Warning"],
  ["action", "Unbinding"],
  ["eventTime", "2026-01-01T00:00:00.000002Z"],
  ["regarding", { apiVersion: "v1", kind: "Pod", name: "q" }],
  ["related", { apiVersion: "v1", kind: "Node", name: "n" }],
  ["reportingController", "example.com/other"],
  ["reportingInstance", "other-1"],
];

/**
 * Property: of an event only its series and its metadata change: a reporter counts on, and nobody rewrites what was reported.
 * Method: random updates, each by PUT or by patch; a model of the event says what each comes to.
 */
export const eventsAreNotRewritten = defineCheck({
  id: "events-are-not-rewritten",
  area: "events",
  property: "An event's series counts on, and what it reports stays.",
  requirements: ["events.immutable", "events.series-update", "events.update", "events.patch"],
  features: ["events", "namespaces"],
  input: fc.array(
    fc.record({
      by: fc.constantFrom("put", "merge"),
      change: fc.option(fc.nat(changes.length - 1)), // null: the series counts on
      count: fc.integer({ min: 2, max: 9 }),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  examples: [
    [
      { by: "put", change: null, count: 2 },
      { by: "merge", change: null, count: 3 },
      { by: "put", change: 0, count: 2 },
      { by: "merge", change: 1, count: 2 },
    ],
  ],
  async run(attempt, updates) {
    const groupVersion = eventsGroupVersion(attempt.profile.dialect);
    const events = await attempt.target.collection("events", "", `/apis/${groupVersion}`);
    let known = reportAbout(await attempt.target.namespace());
    objectOf(await events.create(eventOf(groupVersion, "e", known)), "events.update");
    for (const { by, change, count } of updates) {
      const [field, value] =
        change === null
          ? (["series", { count, lastObservedTime: "2026-01-01T00:00:09.000003Z" }] as const)
          : (changes[change] as (typeof changes)[number]);
      const wanted = { ...known, [field]: value };
      const answer =
        by === "put"
          ? await events.put("e", eventOf(groupVersion, "e", wanted))
          : await events.patch("e", "merge", { [field]: value });
      if (field === "series") {
        const requirement = by === "put" ? "events.update" : "events.patch";
        objectOf(answer, requirement);
        attempt.holds(requirement, undefined);
        known = wanted;
      } else {
        attempt.expect("events.immutable", answer.status === 422, `422 for another ${field}`, shownAnswer(answer));
      }
      const said = reportOf(objectOf(await events.get("e")), "own");
      const differing = differingField(reportOf(known, "own"), said);
      attempt.expect(
        field === "series" ? "events.series-update" : "events.immutable",
        differing === undefined,
        `${differing} ${JSON.stringify(known[differing ?? ""])} after an update of ${field}`,
        JSON.stringify(said[differing ?? ""]),
      );
    }
  },
});
